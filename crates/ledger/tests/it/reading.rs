//! Reading: runs by name, rulings, dispatches with telemetry, costs, defects, many waiting runs.

use crate::support::{
    SHIPPED, TestLedger, TestRun, finding, happy_path, interactive, program, rough_path, walk,
};
use remand_kernel::event::{Event, Limits, Outcome, Report, Start, Usage};
use remand_kernel::finding::{Finding, Location};
use remand_kernel::signal::Failure;
use remand_kernel::state::FiledStatus;
use remand_ledger::fact::{Telemetry, TokenCounts};
use remand_ledger::query::{CostBy, CostRow, DefectResolution, DispatchStatus, RunStage};
use remand_ledger::{Blob, Facts, LedgerError, Millis, Reader, RunId};
use remand_workflow::walk::{WalkStep, Walker};

#[test]
fn runs_are_listed_newest_first_and_found_by_parts_of_their_id() {
    let mut test = TestLedger::new();
    for (index, name) in ["20260101-aa11", "20260102-bb22", "20260102-cc11"].iter().enumerate() {
        let mut test_run = TestRun::new(name, program("quick"));
        test_run.at += 1_000_000 * index as i64;
        test_run.start(&mut test.ledger, Start::default());
    }
    let reader = test.reader();
    let ids: Vec<String> = reader.runs().unwrap().into_iter().map(|row| row.run.0).collect();
    assert_eq!(ids, ["20260102-cc11", "20260102-bb22", "20260101-aa11"]);
    let find = |name: &str| reader.run(name).map(|row| row.run.0);
    assert_eq!(find("20260101-aa11").unwrap(), "20260101-aa11");
    assert_eq!(find("20260101").unwrap(), "20260101-aa11");
    assert_eq!(find("bb22").unwrap(), "20260102-bb22");
    assert_eq!(find("latest").unwrap(), "20260102-cc11");
    let error = find("20260102").expect_err("two runs match");
    assert_eq!(error.to_string(), "`20260102` matches several runs: 20260102-bb22, 20260102-cc11");
    assert!(matches!(find("11"), Err(LedgerError::AmbiguousRun { .. })));
    for absent in ["", "%", "2026010_", "0102"] {
        assert!(matches!(find(absent), Err(LedgerError::NoSuchRun { .. })), "{absent}");
    }
    assert!(matches!(TestLedger::new().reader().run("latest"), Err(LedgerError::NoSuchRun { .. })));
}

#[test]
fn a_run_shows_its_inputs_and_its_position() {
    let mut test = TestLedger::new();
    let limits = Limits { money: Some(5_000_000), dispatches: Some(40), ..Limits::default() };
    let events = walk(program("feature"), Start { limits, ..Start::default() }, 2, |walker| {
        walker.until("implement").expect("reached");
    });
    let test_run = test.append_run("r1", program("feature"), &events);
    let run = test.reader().run("r1").unwrap();
    assert_eq!((run.workflow.as_str(), run.subject.as_str()), ("feature", "request"));
    assert_eq!(run.request, "Export invoices as CSV.");
    assert_eq!((run.slug.as_str(), run.branch.as_str()), ("csv-export", "remand/csv-export"));
    assert_eq!(
        (run.mode.as_str(), run.base.as_str(), run.version.as_str()),
        ("autonomous", "0123abcd", "0.1.0")
    );
    assert_eq!((run.stage, run.place.as_str()), (RunStage::Running, "t1/implement"));
    assert_eq!(run.seq, events.len() as u64);
    assert_eq!((run.limits.money, run.limits.dispatches), (Some(5_000_000), Some(40)));
    assert_eq!((run.limits.tokens, run.limits.time), (None, None));
    assert_eq!(run.used.dispatches, test_run.state.used.dispatches);
    assert_eq!(run.confidence, "high");
    assert!(run.created_at < run.updated_at);
    assert!(test.reader().runs_under_way().unwrap().len() == 1);
}

#[test]
fn every_shipped_workflow_ends_in_the_ledger() {
    let mut test = TestLedger::new();
    for name in SHIPPED {
        let test_run = test.append_run(name, program(name), &happy_path(name, 2));
        let row = test.reader().run(name).unwrap();
        assert!(row.stage.is_finished(), "{name}: {}", row.outcome());
        assert_eq!(row.place, "");
        let reader = test.reader();
        let dispatches = reader.dispatches(&test_run.run).unwrap();
        assert_eq!(dispatches.len() as u64, test_run.state.used.dispatches, "{name}");
        assert!(dispatches.iter().all(|row| row.status != DispatchStatus::Running), "{name}");
        let operations = reader.operations(&test_run.run).unwrap();
        assert!(operations.iter().all(|row| row.completed_at.is_some() && row.result.is_some()), "{name}");
    }
    assert!(test.reader().runs_under_way().unwrap().is_empty());
}

// CORE-03
#[test]
fn rulings_are_read_as_the_kernel_shows_them() {
    let mut test = TestLedger::new();
    let events = rough_path();
    let mut test_run = TestRun::new("r1", program("feature"));
    let mut lines = Vec::new();
    for event in events {
        let prepared = test_run.prepare(event, Facts::default());
        let seq = test.ledger.append(&[prepared.entry()]).unwrap()[0];
        for ruling in &prepared.step.rulings {
            lines.push((seq, remand_kernel::view::ruling(program("feature"), &test_run.state, ruling)));
        }
    }
    let rows = test.reader().rulings(&test_run.run, 0).unwrap();
    let read: Vec<_> = rows.iter().map(|row| (row.seq, row.ruling.clone())).collect();
    assert_eq!(read, lines);
    let remand = rows.iter().find(|row| row.ruling.action == "remand design").expect("sent back");
    assert_eq!(remand.ruling.budgets[0].budget, "design-revision");
    assert_eq!((remand.ruling.budgets[0].before, remand.ruling.budgets[0].after), (1, 0));
    let later = test.reader().rulings(&test_run.run, remand.seq).unwrap();
    assert!(later.iter().all(|row| row.seq > remand.seq) && later.len() < rows.len());
}

// CORE-03
#[test]
fn the_chain_from_request_to_commit_reads_line_by_line() {
    let mut test = TestLedger::new();
    let test_run = test.append_run("r1", program("quick"), &happy_path("quick", 1));
    let reader = test.reader();
    let mut lines = vec![reader.run("r1").unwrap().request];
    lines.extend(reader.rulings(&test_run.run, 0).unwrap().iter().map(|row| row.ruling.line()));
    insta::assert_snapshot!(lines.join("\n"), @r"
    Export invoices as CSV.
    setup: ready → next (baseline)
    baseline: recorded → next (implement)
    implement: done → next (verify)
    verify: passed → next (review)
    review: approve → next (commit)
    commit: committed → done
    ");
}

// EP-26
#[test]
fn a_dispatch_is_running_until_it_ends_with_its_telemetry() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("feature"));
    test_run.start(&mut test.ledger, Start::default());
    let event = test_run.end_event("ready");
    test_run.feed(&mut test.ledger, event, Facts::default()).unwrap();
    let reader = test.reader();
    let running = reader.dispatches(&test_run.run).unwrap();
    assert_eq!(running.len(), 4, "the researchers");
    assert!(running.iter().all(|row| row.status == DispatchStatus::Running && row.tokens.is_none()));
    assert_eq!((running[0].phase.as_str(), running[0].role.as_str()), ("research", "researcher"));
    assert_eq!(running[0].item.as_deref(), Some("architecture"));
    assert_eq!(running[0].started_at.0, test_run.at);

    let (prompt, output) = (Blob::of(b"the prompt".to_vec()), Blob::of(b"the output".to_vec()));
    let result = Blob::of(b"the result".to_vec());
    let spent = TokenCounts { input: 500, output: 100, cached: 250, stored: 50 };
    let telemetry = Telemetry {
        started_at: Millis(test_run.at + 10),
        ended_at: Millis(test_run.at + 900),
        driver: "rehearsal".to_string(),
        model: Some("model-a".to_string()),
        session: Some("s-1".to_string()),
        status: "DONE".to_string(),
        summary: "two modules matter".to_string(),
        prompt: Some(prompt.id),
        output: Some(output.id),
        exit_code: Some(0),
        result: Some(result.id),
        answer: None,
        before: Some("tree-1".to_string()),
        after: Some("tree-2".to_string()),
        tokens: Some(spent),
        price: Some("model-*".to_string()),
        brief: [("Material".to_string(), 120)].into(),
        contacts: None,
    };
    let command = test_run.open[0].id().expect("an id").to_string();
    let event = test_run.end_event("done");
    let issued_at = test_run.at;
    let mut prepared = test_run.prepare(event, Facts { telemetry: Some(telemetry), ..Facts::default() });
    prepared.blobs.extend([prompt.clone(), output.clone(), result.clone()]);
    test.ledger.append(&[prepared.entry()]).unwrap();
    let row = reader.dispatch(&test_run.run, &command).unwrap().expect("present");
    assert_eq!((row.started_at.0, row.completed_at.map(|at| at.0)), (issued_at + 10, Some(issued_at + 900)));
    assert_eq!((row.status, row.retries, row.attempt), (DispatchStatus::Done, 0, 1));
    assert_eq!((row.tokens, row.money, row.time), (Some(900), Some(1200), Some(5000)));
    assert_eq!((row.spent, spent.total()), (Some(spent), 900));
    assert_eq!(row.price.as_deref(), Some("model-*"));
    assert_eq!((row.model.as_deref(), row.driver.as_deref()), (Some("model-a"), Some("rehearsal")));
    assert_eq!((row.session.as_deref(), row.exit_code), (Some("s-1"), Some(0)));
    assert_eq!((row.prompt, row.output, row.result), (Some(prompt.id), Some(output.id), Some(result.id)));
    assert_eq!((row.before.as_deref(), row.after.as_deref()), (Some("tree-1"), Some("tree-2")));
    assert_eq!((row.says.as_deref(), row.summary.as_deref()), (Some("done"), Some("two modules matter")));

    let event = test_run.fail_event(Failure::Timeout, 0);
    let failed = test_run.open[0].id().expect("an id").to_string();
    test_run.feed(&mut test.ledger, event, Facts::default()).unwrap();
    let row = reader.dispatch(&test_run.run, &failed).unwrap().expect("present");
    assert_eq!((row.status, row.failure.as_deref()), (DispatchStatus::Error, Some("timeout")));
    assert_eq!((row.money, row.spent), (None, None), "the cost is unknown");
    assert_eq!((row.tokens, row.time), (None, Some(0)), "the tokens are unknown too");
    let rows = reader.dispatches(&test_run.run).unwrap();
    let again = rows.last().expect("dispatched again");
    assert_eq!((again.retries, again.attempt, again.status), (1, 2, DispatchStatus::Running));
}

// CORE-11 EP-26
#[test]
fn costs_are_grouped_and_count_dispatches_with_unknown_values() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("feature"));
    test_run.start(&mut test.ledger, Start::default());
    let event = test_run.end_event("ready");
    test_run.feed(&mut test.ledger, event, Facts::default()).unwrap();
    let kinds = TokenCounts { input: 500, output: 100, cached: 250, stored: 50 };
    let facts = |model: &str, tokens, price: Option<&str>| Facts {
        telemetry: Some(Telemetry {
            driver: "codex".to_string(),
            model: Some(model.to_string()),
            status: "DONE".to_string(),
            tokens,
            price: price.map(str::to_string),
            ..Telemetry::default()
        }),
        ..Facts::default()
    };
    for facts in [facts("a", Some(kinds), None), facts("b", Some(kinds), Some("b")), facts("b", None, None)] {
        let event = test_run.end_event("done");
        test_run.feed(&mut test.ledger, event, facts).unwrap();
    }
    let event = test_run.fail_event(Failure::Timeout, 0);
    test_run.feed(&mut test.ledger, event, Facts::default()).unwrap();

    let reader = test.reader();
    let by_model = reader.costs(Some(&test_run.run), CostBy::Model).unwrap();
    let names: Vec<Option<&str>> = by_model.iter().map(|row| row.name.as_deref()).collect();
    assert_eq!(names, [Some("b"), Some("a"), None]);
    let b = &by_model[0];
    assert_eq!((b.dispatches, b.reported_money, b.computed_money, b.unpriced), (2, 1200, 1200, 0));
    assert_eq!((b.tokens, b.kinds, b.without_kinds, b.unmetered), (1800, kinds, 1, 0));
    let unknown_model = &by_model[2];
    assert_eq!(
        (unknown_model.dispatches, unknown_model.running, unknown_model.unmetered, unknown_model.unpriced),
        (2, 1, 1, 1)
    );

    for by in [CostBy::Role, CostBy::Agent, CostBy::Phase, CostBy::Run] {
        for run in [Some(&test_run.run), None] {
            let rows = reader.costs(run, by).unwrap();
            assert_eq!(CostRow::total(&rows), CostRow::total(&by_model), "{by:?}");
        }
    }
    let roles = reader.costs(None, CostBy::Role).unwrap();
    assert_eq!(roles.iter().filter_map(|row| row.name.as_deref()).collect::<Vec<_>>(), ["researcher"]);
    let other = reader.costs(Some(&RunId("r2".to_string())), CostBy::Run).unwrap();
    assert!(other.is_empty());
}

#[test]
fn every_verdict_except_the_first_gives_the_status_needs_revision() {
    let mut test = TestLedger::new();
    let test_run = test.append_run("r1", program("feature"), &rough_path());
    let rows = test.reader().dispatches(&test_run.run).unwrap();
    let reviews: Vec<DispatchStatus> = rows
        .iter()
        .filter(|row| row.phase == "design-review" && row.visit == 1)
        .map(|row| row.status)
        .collect();
    assert!(reviews.contains(&DispatchStatus::NeedsRevision), "{reviews:?}");
}

// CORE-17
#[test]
fn a_result_after_a_cancel_adds_only_its_cost() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("feature"));
    test_run.start(&mut test.ledger, Start::default());
    let event = test_run.end_event("ready");
    test_run.feed(&mut test.ledger, event, Facts::default()).unwrap();
    let id = test_run.open[0].id().expect("an id");
    test_run.feed(&mut test.ledger, Event::Cancelled { by: "ada".to_string() }, Facts::default()).unwrap();
    let reader = test.reader();
    let cancelled = reader.dispatch(&test_run.run, &id.to_string()).unwrap().expect("present");
    assert_eq!((cancelled.status, cancelled.failure.as_deref()), (DispatchStatus::Error, Some("cancelled")));

    let outcome = Outcome::Said(Box::new(Report::saying("done")));
    let usage = Usage { money: Some(7), tokens: Some(70), time: 700, ..Usage::default() };
    test_run.feed(&mut test.ledger, Event::Ended { id, outcome, usage }, Facts::default()).unwrap();
    let late = reader.dispatch(&test_run.run, &id.to_string()).unwrap().expect("present");
    assert_eq!((late.tokens, late.money), (Some(70), Some(7)));
    assert_eq!((late.status, late.failure, late.says), (cancelled.status, cancelled.failure, None));
    assert_eq!(late.completed_at, cancelled.completed_at);
}

#[test]
fn a_reader_notices_that_another_connection_wrote() {
    let mut test = TestLedger::new();
    let reader = test.reader();
    let before = reader.data_version().unwrap();
    assert_eq!(reader.data_version().unwrap(), before);
    test.append_run("r1", program("quick"), &happy_path("quick", 1));
    assert_ne!(reader.data_version().unwrap(), before);
}

#[test]
fn a_thousand_waiting_runs_are_listed_with_their_gates() {
    let mut test = TestLedger::new();
    let events = walk(program("feature"), interactive(), 1, |walker| {
        walker.until("approve-research").expect("reached");
    });
    let mut prepared = Vec::new();
    for number in 0..1000 {
        let mut test_run = TestRun::new(&format!("r{number:04}"), program("feature"));
        prepared.extend(events.iter().map(|event| test_run.prepare(event.clone(), Facts::default())));
    }
    for batch in prepared.chunks(1000) {
        let entries: Vec<_> = batch.iter().map(|prepared| prepared.entry()).collect();
        test.ledger.append(&entries).unwrap();
    }
    let reader = test.reader();
    let runs = reader.runs().unwrap();
    assert_eq!(runs.len(), 1000);
    assert!(runs.iter().all(|row| row.stage == RunStage::Waiting && row.place == "approve-research"));
    assert_eq!(reader.open_gates().unwrap().len(), 1000);
}

// PF-09
#[test]
fn a_defect_that_its_reviewer_does_not_report_again_is_corrected() {
    let report = |walker: &mut Walker<'static>, finding: Finding| {
        walker.until("code-review").expect("reached");
        let injected_by = vec!["code".to_string()];
        let findings = vec![Finding { injected_by, ..finding }];
        walker.happen(&WalkStep { findings, ..WalkStep::new("code-review", "fail") }).expect("reviewed");
    };
    let mut test = TestLedger::new();
    let events = walk(program("tsp"), Start::default(), 1, |walker| {
        report(walker, finding("F1", "the export loses digits"));
        let elsewhere = Location { file: "src/date.rs".to_string(), symbol: "parse".to_string(), line: 7 };
        let dates = Finding { place: elsewhere, ..finding("F2", "dates are read as local ones") };
        report(walker, dates.clone());
        report(walker, Finding { id: "F3".to_string(), ..dates });
        walker.until("code-review").expect("reached");
    });
    let test_run = test.append_run("20260102-aa11", program("tsp"), &events);
    let defects = test.reader().defects(&test_run.run).unwrap();
    let resolutions: Vec<_> = defects.iter().map(|defect| (defect.id.as_str(), defect.resolution)).collect();
    assert_eq!(
        resolutions,
        [
            ("F1", DefectResolution::Corrected),
            ("F2", DefectResolution::ReportedAgain),
            ("F3", DefectResolution::Open)
        ]
    );
    let dispatches =
        |index: usize| defects[index].attempts.iter().map(|attempts| attempts.dispatches).sum::<u32>();
    assert_eq!(
        dispatches(0),
        dispatches(1),
        "work after the finding was omitted does not belong to its correction"
    );
    let states: Vec<_> = test_run.state.findings.iter().map(|filed| filed.status).collect();
    assert_eq!(
        states,
        [FiledStatus::Open, FiledStatus::Superseded, FiledStatus::Open],
        "it may be reported again"
    );
}

// CORE-09
#[test]
fn the_latest_run_is_the_last_in_the_journal_whatever_the_clock_says() {
    let mut test = TestLedger::new();
    for (name, at) in [("r1", 3_000), ("r3", 2_000), ("r2", 1_000)] {
        let mut test_run = TestRun::new(name, program("quick"));
        test_run.at = at;
        test_run.start(&mut test.ledger, Start::default());
    }
    let names = |reader: &Reader| -> Vec<String> {
        reader.runs().unwrap().into_iter().map(|row| row.run.0).collect()
    };
    let reader = test.reader();
    assert_eq!(names(&reader), ["r2", "r3", "r1"]);
    assert_eq!(reader.run("latest").unwrap().run.0, "r2");
    test.ledger.rebuild().unwrap();
    assert_eq!(names(&reader), ["r2", "r3", "r1"]);
}
