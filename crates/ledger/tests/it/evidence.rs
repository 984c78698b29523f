//! Evidence: every check is a row, and only the latest iteration of a task counts.

use crate::support::{TestLedger, TestRun, check, happy_path, program, review, tasks, with_checks};
use remand_kernel::event::{Event, Outcome, Report, Start, Usage};
use remand_kernel::evidence::{self, GateResult, RowPhase, TaskSize, Tier};
use remand_kernel::finding::Severity;
use remand_ledger::fact::{Artifact, Check, Decision, Note, NoteKind, Reuse};
use remand_ledger::proof::{ChangeProof, MutantFate, ProvenTest, TestOrigin, TestProof, TriedMutant};
use remand_ledger::query::CheckFilter;
use remand_ledger::{Blob, BlobId, Facts, RunId};

fn after(task: &str, name: &str, passed: bool, iteration: u32) -> Check {
    Check { iteration, ..check(Some(task), RowPhase::After, name, passed) }
}

/// A feature run. Each event after the plan has the next of these facts.
fn feature_with(test: &mut TestLedger, facts: Vec<Facts>) -> TestRun {
    let mut facts = facts.into_iter();
    let mut test_run = TestRun::new("r1", program("feature"));
    for event in happy_path("feature", 2) {
        let planned = test_run.state.lists.iter().any(|list| !list.is_empty());
        let facts = if planned { facts.next().unwrap_or_default() } else { Facts::default() };
        test_run.feed(&mut test.ledger, event, facts).unwrap();
    }
    assert!(facts.next().is_none(), "the run is too short for these facts");
    test_run
}

// EP-16
#[test]
fn every_check_is_a_row_with_all_its_columns() {
    let mut test = TestLedger::new();
    let output = Blob::of(b"the whole output".to_vec());
    let mut test_run = TestRun::new("r1", program("quick"));
    test_run.start(&mut test.ledger, Start::default());
    let row = Check {
        output: Some(output.id),
        tier: Some(Tier::Three),
        collected: Some(12),
        reason: "because".to_string(),
        severity: Some(Severity::Critical),
        verdict: Some("needs-revision".to_string()),
        round: 2,
        ..check(Some("t1"), RowPhase::Review, "review-code-security", false)
    };
    let event = test_run.end_event("ready");
    let mut prepared = test_run.prepare(event, with_checks(vec![row.clone()]));
    prepared.blobs.push(output.clone());
    test.ledger.append(&[prepared.entry()]).unwrap();
    let read = test.reader().checks(&test_run.run, CheckFilter::default()).unwrap();
    let [stored] = &read[..] else { panic!("{read:?}") };
    let read_back = Check {
        task: stored.task.clone(),
        phase: stored.phase,
        name: stored.name.clone(),
        tool: stored.tool.clone(),
        command: stored.command.clone(),
        exit_code: stored.exit_code,
        snippet: stored.snippet.clone(),
        output: stored.output,
        passed: stored.passed,
        verdict: stored.verdict.clone(),
        severity: stored.severity,
        round: stored.round,
        tier: stored.tier,
        iteration: stored.iteration,
        collected: stored.collected,
        duration_ms: stored.duration_ms,
        reason: stored.reason.clone(),
        tests: stored.tests,
        reuse: None,
    };
    assert_eq!(read_back, row);
    assert_eq!((stored.seq, stored.at.0, stored.superseded), (2, test_run.at, false));
    assert_eq!(test.reader().blob(output.id).unwrap(), b"the whole output");
}

// CORE-13
#[test]
fn a_result_is_found_by_its_key_in_any_run_until_it_is_withdrawn() {
    let mut test = TestLedger::new();
    let key = BlobId::of(b"tree, command, tool, environment");
    let append_check = |test: &mut TestLedger, run: &str, reuse: Reuse| {
        let mut test_run = TestRun::new(run, program("quick"));
        test_run.start(&mut test.ledger, Start::default());
        let row = Check { reuse: Some(reuse), ..check(None, RowPhase::Baseline, "cargo-test", true) };
        let event = test_run.end_event("ready");
        let prepared = test_run.prepare(event, with_checks(vec![row]));
        test.ledger.append(&[prepared.entry()]).unwrap();
        test_run.run
    };
    let first = append_check(&mut test, "r1", Reuse::Kept { key });
    let found = test.reader().result(key).unwrap().expect("a result");
    assert_eq!((&found.run, found.name.as_str(), found.origin.is_some()), (&first, "cargo-test", false));
    let reused = Reuse::Taken { run: found.run.clone(), seq: found.seq, at: found.at };
    let second = append_check(&mut test, "r2", reused);
    let rows = test.reader().checks(&second, CheckFilter::default()).unwrap();
    let origin = rows[0].origin.clone().expect("an origin");
    assert_eq!((origin.run, origin.seq, origin.at), (first, found.seq, found.at));
    assert_eq!(test.reader().passes("cargo-test", Some("cargo cargo-test"), 5).unwrap().len(), 1);
    append_check(&mut test, "r3", Reuse::Withdrawn { key });
    assert_eq!(test.reader().result(key).unwrap(), None);
    assert_eq!(remand_ledger::audit(&test.reader(), None, |_| {}).unwrap().problems, []);
}

// EP-18
#[test]
fn a_higher_iteration_supersedes_the_after_rows_of_its_task_only() {
    let mut test = TestLedger::new();
    let test_run = feature_with(
        &mut test,
        vec![
            with_checks(vec![check(None, RowPhase::Baseline, "build", true)]),
            with_checks(vec![after("t1", "build", false, 1), after("t2", "build", true, 1)]),
            with_checks(vec![after("t1", "build", true, 2), after("t1", "test", true, 2)]),
            // A late row of an earlier iteration.
            with_checks(vec![after("t1", "lint", false, 1)]),
        ],
    );
    let reader = test.reader();
    let rows =
        reader.checks(&test_run.run, CheckFilter { task: Some("t1"), phase: Some(RowPhase::After) }).unwrap();
    let found: Vec<(&str, u32, bool)> =
        rows.iter().map(|row| (row.name.as_str(), row.iteration, row.superseded)).collect();
    assert_eq!(found, [("build", 1, true), ("build", 2, false), ("test", 2, false), ("lint", 1, true)]);

    let gate = reader.gate_checks(&test_run.run, "t1").unwrap();
    let names: Vec<&str> = gate.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(
        names,
        ["build", "build", "test"],
        "the baseline of the run, and the rows of the task that are not superseded"
    );
    let rows: Vec<evidence::EvidenceRow> = gate.iter().map(|row| row.evidence()).collect();
    assert_eq!(evidence::rule(&rows, TaskSize::Standard, evidence::GateDemand::Proof), GateResult::Passed);
    let other: Vec<evidence::EvidenceRow> =
        reader.gate_checks(&test_run.run, "t2").unwrap().iter().map(|row| row.evidence()).collect();
    assert!(
        matches!(
            evidence::rule(&other, TaskSize::Standard, evidence::GateDemand::Proof),
            GateResult::Failed(_)
        ),
        "one row is too few"
    );
}

// EP-23
#[test]
fn a_task_summary_counts_passed_failed_and_regressed_checks() {
    let mut test = TestLedger::new();
    let test_run = feature_with(
        &mut test,
        vec![
            with_checks(vec![
                check(None, RowPhase::Baseline, "build", true),
                check(None, RowPhase::Baseline, "lint", false),
            ]),
            with_checks(vec![
                after("t1", "build", true, 1),
                after("t1", "lint", false, 1),
                after("t2", "build", false, 1),
                after("t2", "test", false, 1),
            ]),
            with_checks(vec![after("t1", "build", true, 2), after("t1", "test", true, 2)]),
        ],
    );
    let summaries = test.reader().task_summaries(&test_run.run).unwrap();
    let counts: Vec<(&str, u64, u64, u64, Option<u32>)> = summaries
        .iter()
        .map(|task| (task.task.as_str(), task.passed, task.failed, task.regressions, task.iteration))
        .collect();
    assert_eq!(counts, [("t1", 2, 0, 0, Some(2)), ("t2", 0, 2, 1, Some(1))]);
    assert_eq!(summaries[1].needs, ["t1"]);
    assert_eq!(summaries[0].files, ["src/t1.rs"]);
    let totals = test.reader().totals(&test_run.run).unwrap();
    assert_eq!((totals.passed_checks, totals.failed_checks, totals.superseded_checks), (2, 2, 2));
    assert_eq!(totals.dispatches, test_run.state.used.dispatches);
}

#[test]
fn a_task_that_a_new_plan_drops_is_kept_as_unlisted() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("feature"));
    test_run
        .start(&mut test.ledger, Start { lists: vec![("tasks".to_string(), tasks(3))], ..Start::default() });
    for event in happy_path("feature", 1).into_iter().skip(1) {
        test_run.feed(&mut test.ledger, event, Facts::default()).unwrap();
    }
    let summaries = test.reader().task_summaries(&test_run.run).unwrap();
    let listed: Vec<(&str, bool)> = summaries.iter().map(|task| (task.task.as_str(), task.listed)).collect();
    assert_eq!(listed, [("t1", true), ("t2", false), ("t3", false)]);
}

#[test]
fn artifacts_are_numbered_by_name_and_part() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    test_run.start(&mut test.ledger, Start::default());
    let versions =
        [("plan", "", "one"), ("plan", "", "two"), ("research", "impact", "three"), ("plan", "t1", "four")];
    for (name, part, text) in versions {
        let blob = Blob::of(text.as_bytes().to_vec());
        let artifact = Artifact {
            name: name.to_string(),
            part: part.to_string(),
            digest: blob.id.digest(),
            blob: blob.id,
            by: "planner".to_string(),
            format: "md".to_string(),
        };
        let facts = Facts { artifacts: vec![artifact], ..Facts::default() };
        let pause = if test_run.state.paused {
            Event::Resumed { by: "ada".to_string() }
        } else {
            Event::Paused { by: "ada".to_string() }
        };
        let mut prepared = test_run.prepare(pause, facts);
        prepared.blobs.push(blob);
        test.ledger.append(&[prepared.entry()]).unwrap();
    }
    let reader = test.reader();
    let latest = reader.artifacts(&test_run.run).unwrap();
    let latest: Vec<(&str, &str, u32)> =
        latest.iter().map(|row| (row.name.as_str(), row.part.as_str(), row.version)).collect();
    assert_eq!(latest, [("plan", "", 2), ("plan", "t1", 1), ("research", "impact", 1)]);
    let versions = reader.artifact_versions(&test_run.run, "plan").unwrap();
    assert_eq!(versions.len(), 3);
    assert_eq!(reader.blob(versions[0].blob).unwrap(), b"one");
    let second =
        reader.artifact_by_digest(&test_run.run, "plan", versions[1].digest).unwrap().expect("present");
    assert_eq!(reader.blob(second.blob).unwrap(), b"two");
    assert!(reader.artifact_by_digest(&test_run.run, "spec", versions[1].digest).unwrap().is_none());
}

// EP-22, HO-10
#[test]
fn later_runs_see_the_decisions_about_their_files_and_the_latest_version_of_each() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    test_run.start(&mut test.ledger, Start::default());
    let note = |id: &str, title: &str, file: &str| Note {
        files: vec![file.to_string()],
        decision: Some(Decision { id: id.to_string(), title: title.to_string(), ..Decision::default() }),
        ..Note::new(NoteKind::Decision, title)
    };
    let notes = vec![
        note("D-1", "check on read", "src/session.rs"),
        note("D-2", "no cache", "src/cache.rs"),
        note("D-1", "check on read and write", "src/session.rs"),
        Note::new(NoteKind::Decision, "committed"),
    ];
    let event = test_run.end_event("ready");
    test_run.feed(&mut test.ledger, event, Facts { notes, ..Facts::default() }).unwrap();
    let reader = test.reader();
    let newest = |run: &str, files: &[&str], max: usize| -> Vec<String> {
        let files = files.iter().map(ToString::to_string).collect();
        let rows = reader.earlier_decisions(&RunId(run.to_string()), &files, max).unwrap();
        rows.into_iter().map(|row| row.decision.unwrap().title).collect()
    };
    let titles = |run: &str, file: &str| newest(run, &[file], 10);
    assert_eq!(titles("r2", "src/session.rs"), ["check on read and write"]);
    assert_eq!(titles("r2", "src/cache.rs"), ["no cache"]);
    assert!(titles("r2", "src/other.rs").is_empty() && titles("r1", "src/cache.rs").is_empty());
    assert_eq!(newest("r2", &[], 10), ["check on read and write", "no cache"]);
    assert_eq!(newest("r2", &[], 1), ["check on read and write"]);
    assert!(newest("r1", &[], 10).is_empty());
}

// EP-22
#[test]
fn later_runs_see_the_lessons_of_earlier_ones() {
    let mut test = TestLedger::new();
    for (run, text) in [("r1", "the tests need a database"), ("r2", "formatting is checked by CI")] {
        let mut test_run = TestRun::new(run, program("quick"));
        test_run.start(&mut test.ledger, Start::default());
        let note = |kind: NoteKind, text: &str| Note {
            files: vec!["src/lib.rs".to_string()],
            ..Note::new(kind, text)
        };
        let notes = vec![note(NoteKind::Lesson, text), note(NoteKind::Degradation, "one model only")];
        let facts = Facts { notes, ..Facts::default() };
        let event = test_run.end_event("ready");
        test_run.feed(&mut test.ledger, event, facts).unwrap();
    }
    let reader = test.reader();
    let texts = |max: u32| -> Vec<String> {
        reader.notes_of_kind(NoteKind::Lesson, max).unwrap().into_iter().map(|note| note.text).collect()
    };
    assert_eq!(texts(10), ["formatting is checked by CI", "the tests need a database"]);
    assert_eq!(texts(1), ["formatting is checked by CI"]);
    let notes = reader.notes(&RunId("r1".to_string())).unwrap();
    assert_eq!(notes.len(), 2);
    assert_eq!(notes[0].files, ["src/lib.rs"]);
}

// TE-03, TE-04
#[test]
fn what_shows_that_tests_can_fail_is_kept_as_rows() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    test_run.start(&mut test.ledger, Start::default());
    let proven = ProvenTest {
        check: "pytest".to_string(),
        test: "test_fee.py::test_heavy".to_string(),
        origin: TestOrigin::New,
        proof: TestProof::KillsMutant,
        detail: "`<` became `<=` in `fee`, line 3".to_string(),
    };
    let mutant = TriedMutant {
        identity: "m-1".to_string(),
        file: "fee.py".to_string(),
        line: 3,
        function: "fee".to_string(),
        kind: "boundary".to_string(),
        alteration: "`<` became `<=`".to_string(),
        fate: MutantFate::Killed,
        detail: proven.test.clone(),
    };
    let survivor = TriedMutant { fate: MutantFate::Survived, detail: String::new(), ..mutant.clone() };
    let proof = ChangeProof {
        iteration: 2,
        tests: vec![proven.clone()],
        mutants: vec![mutant.clone(), survivor.clone()],
        ..ChangeProof::default()
    };
    let event = test_run.end_event("ready");
    test_run.feed(&mut test.ledger, event, Facts { proof: Some(proof), ..Facts::default() }).unwrap();
    let (reader, run) = (test.reader(), RunId("r1".to_string()));
    let tests = reader.test_proofs(&run).unwrap();
    assert_eq!(tests.iter().map(|row| (&row.proven, row.iteration)).collect::<Vec<_>>(), [(&proven, 2)]);
    let mutants: Vec<TriedMutant> = reader.mutants(&run).unwrap().into_iter().map(|row| row.mutant).collect();
    assert_eq!(mutants, [mutant, survivor]);
    assert!(reader.mutants(&RunId("r2".to_string())).unwrap().is_empty());
}

#[test]
fn finding_rows_show_the_status_of_their_findings() {
    let mut test = TestLedger::new();
    let test_run = test.append_run("r1", program("feature"), &crate::support::rough_path());
    let rows = test.reader().findings(&test_run.run).unwrap();
    assert_eq!(rows.len(), test_run.state.findings.len());
    for (row, filed) in rows.iter().zip(&test_run.state.findings) {
        assert_eq!(row.claim, filed.finding.claim);
        assert_eq!(row.status, filed.status);
        assert_eq!(row.count, filed.count);
        let sent_to = filed.sent_to.map(|phase| program("feature").phase(phase).name.clone());
        assert_eq!(row.sent_to, sent_to);
        assert_eq!(row.known, test_run.state.known.contains(&row.position));
    }
    assert!(rows.iter().any(|row| row.status == remand_kernel::state::FiledStatus::Settled));
    assert!(rows.iter().any(|row| row.sent_to.as_deref() == Some("design")));
}

#[test]
fn a_review_row_without_a_task_belongs_to_the_run() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    test_run.start(&mut test.ledger, Start::default());
    let rows = vec![
        Check { task: None, ..review("code", "security", 1, "approve", None) },
        check(None, RowPhase::Baseline, "build", true),
    ];
    let event = test_run.end_event("ready");
    let event = match event {
        Event::Ended { id, .. } => Event::Ended {
            id,
            outcome: Outcome::Said(Box::new(Report::saying("ready"))),
            usage: Usage::default(),
        },
        other => other,
    };
    test_run.feed(&mut test.ledger, event, with_checks(rows)).unwrap();
    let raw = test.raw();
    let mut statement = raw.prepare("SELECT task_id, phase FROM anvil_checks ORDER BY id").unwrap();
    let read: Vec<(String, String)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let row = |phase: &str| ("csv-export".to_string(), phase.to_string());
    assert_eq!(read, [row("review"), row("baseline")], "a run without tasks counts as a task");
}
