//! Evidence: every check is a row, and only the latest iteration of a task stands.

use crate::support::{Book, Life, check, happy, program, review, tasks, with_checks};
use remand_kernel::event::{Event, Outcome, Report, Start, Usage};
use remand_kernel::evidence::{self, RowPhase, Ruled, Size, Tier};
use remand_kernel::finding::Severity;
use remand_ledger::fact::{Artifact, Check, Note, NoteKind, Reuse};
use remand_ledger::query::CheckFilter;
use remand_ledger::{Blob, BlobId, Facts};

fn after(task: &str, name: &str, passed: bool, iteration: u32) -> Check {
    Check { iteration, ..check(Some(task), RowPhase::After, name, passed) }
}

/// A run whose plan has these tasks, with facts at its events.
fn feature_with(book: &mut Book, facts: Vec<Facts>) -> Life {
    let mut facts = facts.into_iter();
    let mut life = Life::new("r1", program("feature"));
    for event in happy("feature", 2) {
        let planned = life.state.lists.iter().any(|list| !list.is_empty());
        let facts = if planned { facts.next().unwrap_or_default() } else { Facts::default() };
        life.feed(&mut book.ledger, event, facts).unwrap();
    }
    assert!(facts.next().is_none(), "the run is too short for these facts");
    life
}

// EP-16
#[test]
fn every_check_is_a_row_with_all_that_is_known_of_it() {
    let mut book = Book::new();
    let output = Blob::of(b"the whole output".to_vec());
    let mut life = Life::new("r1", program("quick"));
    life.start(&mut book.ledger, Start::default());
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
    let event = life.says("ready");
    let mut ready = life.ready(event, with_checks(vec![row.clone()]));
    ready.blobs.push(output.clone());
    book.ledger.append(&[ready.entry()]).unwrap();
    let read = book.reader().checks(&life.run, CheckFilter::default()).unwrap();
    let [stored] = &read[..] else { panic!("{read:?}") };
    let again = Check {
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
    assert_eq!(again, row);
    assert_eq!((stored.seq, stored.at.0, stored.superseded), (2, life.at, false));
    assert_eq!(book.reader().blob(output.id).unwrap(), b"the whole output");
}

// CORE-13
#[test]
fn a_result_is_found_by_its_key_in_any_run_until_it_is_withdrawn() {
    let mut book = Book::new();
    let key = BlobId::of(b"tree, command, tool, environment");
    let told = |book: &mut Book, run: &str, reuse: Reuse| {
        let mut life = Life::new(run, program("quick"));
        life.start(&mut book.ledger, Start::default());
        let row = Check { reuse: Some(reuse), ..check(None, RowPhase::Baseline, "cargo-test", true) };
        let event = life.says("ready");
        let ready = life.ready(event, with_checks(vec![row]));
        book.ledger.append(&[ready.entry()]).unwrap();
        life.run
    };
    let first = told(&mut book, "r1", Reuse::Kept { key });
    let found = book.reader().result(key).unwrap().expect("a result");
    assert_eq!((&found.run, found.name.as_str(), found.origin.is_some()), (&first, "cargo-test", false));
    let taken = Reuse::Taken { run: found.run.clone(), seq: found.seq, at: found.at };
    let second = told(&mut book, "r2", taken);
    let rows = book.reader().checks(&second, CheckFilter::default()).unwrap();
    let origin = rows[0].origin.clone().expect("an origin");
    assert_eq!((origin.run, origin.seq, origin.at), (first, found.seq, found.at));
    assert_eq!(book.reader().passes("cargo-test", Some("cargo cargo-test"), 5).unwrap().len(), 1);
    told(&mut book, "r3", Reuse::Withdrawn { key });
    assert_eq!(book.reader().result(key).unwrap(), None);
    assert_eq!(remand_ledger::audit(&book.reader(), None, |_| {}).unwrap().problems, []);
}

// EP-18
#[test]
fn a_higher_iteration_supersedes_the_after_rows_of_its_task_only() {
    let mut book = Book::new();
    let life = feature_with(
        &mut book,
        vec![
            with_checks(vec![check(None, RowPhase::Baseline, "build", true)]),
            with_checks(vec![after("t1", "build", false, 1), after("t2", "build", true, 1)]),
            with_checks(vec![after("t1", "build", true, 2), after("t1", "test", true, 2)]),
            // Late news of an iteration that is over.
            with_checks(vec![after("t1", "lint", false, 1)]),
        ],
    );
    let reader = book.reader();
    let rows =
        reader.checks(&life.run, CheckFilter { task: Some("t1"), phase: Some(RowPhase::After) }).unwrap();
    let standing: Vec<(&str, u32, bool)> =
        rows.iter().map(|row| (row.name.as_str(), row.iteration, row.superseded)).collect();
    assert_eq!(standing, [("build", 1, true), ("build", 2, false), ("test", 2, false), ("lint", 1, true)]);

    let gate = reader.gate_checks(&life.run, "t1").unwrap();
    let names: Vec<&str> = gate.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["build", "build", "test"], "the baseline of the run, and what stands of the task");
    let rows: Vec<evidence::Row> = gate.iter().map(|row| row.evidence()).collect();
    assert_eq!(evidence::rule(&rows, Size::Standard), Ruled::Passed);
    let other: Vec<evidence::Row> =
        reader.gate_checks(&life.run, "t2").unwrap().iter().map(|row| row.evidence()).collect();
    assert!(matches!(evidence::rule(&other, Size::Standard), Ruled::Failed(_)), "one row is too few");
}

// EP-23
#[test]
fn a_summary_counts_what_passed_failed_and_regressed() {
    let mut book = Book::new();
    let life = feature_with(
        &mut book,
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
    let summaries = book.reader().task_summaries(&life.run).unwrap();
    let counted: Vec<(&str, u64, u64, u64, Option<u32>)> = summaries
        .iter()
        .map(|task| (task.task.as_str(), task.passed, task.failed, task.regressions, task.iteration))
        .collect();
    assert_eq!(counted, [("t1", 2, 0, 0, Some(2)), ("t2", 0, 2, 1, Some(1))]);
    assert_eq!(summaries[1].needs, ["t1"]);
    assert_eq!(summaries[0].files, ["src/t1.rs"]);
    let totals = book.reader().totals(&life.run).unwrap();
    assert_eq!((totals.passed_checks, totals.failed_checks, totals.superseded_checks), (2, 2, 2));
    assert_eq!(totals.dispatches, life.state.used.dispatches);
}

#[test]
fn a_task_that_a_new_plan_does_not_have_is_kept_as_unlisted() {
    let mut book = Book::new();
    let mut life = Life::new("r1", program("feature"));
    life.start(&mut book.ledger, Start { lists: vec![("tasks".to_string(), tasks(3))], ..Start::default() });
    for event in happy("feature", 1).into_iter().skip(1) {
        life.feed(&mut book.ledger, event, Facts::default()).unwrap();
    }
    let summaries = book.reader().task_summaries(&life.run).unwrap();
    let listed: Vec<(&str, bool)> = summaries.iter().map(|task| (task.task.as_str(), task.listed)).collect();
    assert_eq!(listed, [("t1", true), ("t2", false), ("t3", false)]);
}

#[test]
fn artifacts_are_numbered_by_name_and_part() {
    let mut book = Book::new();
    let mut life = Life::new("r1", program("quick"));
    life.start(&mut book.ledger, Start::default());
    let texts =
        [("plan", "", "one"), ("plan", "", "two"), ("research", "impact", "three"), ("plan", "t1", "four")];
    for (name, part, text) in texts {
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
        let pause = if life.state.paused {
            Event::Resumed { by: "ada".to_string() }
        } else {
            Event::Paused { by: "ada".to_string() }
        };
        let mut ready = life.ready(pause, facts);
        ready.blobs.push(blob);
        book.ledger.append(&[ready.entry()]).unwrap();
    }
    let reader = book.reader();
    let latest = reader.artifacts(&life.run).unwrap();
    let latest: Vec<(&str, &str, u32)> =
        latest.iter().map(|row| (row.name.as_str(), row.part.as_str(), row.version)).collect();
    assert_eq!(latest, [("plan", "", 2), ("plan", "t1", 1), ("research", "impact", 1)]);
    let versions = reader.artifact_versions(&life.run, "plan").unwrap();
    assert_eq!(versions.len(), 3);
    assert_eq!(reader.blob(versions[0].blob).unwrap(), b"one");
    let second = reader.artifact_with(&life.run, "plan", versions[1].digest).unwrap().expect("there");
    assert_eq!(reader.blob(second.blob).unwrap(), b"two");
    assert!(reader.artifact_with(&life.run, "spec", versions[1].digest).unwrap().is_none());
}

// EP-22
#[test]
fn later_runs_see_the_lessons_of_earlier_ones() {
    let mut book = Book::new();
    for (run, text) in [("r1", "the tests need a database"), ("r2", "formatting is checked by CI")] {
        let mut life = Life::new(run, program("quick"));
        life.start(&mut book.ledger, Start::default());
        let note = |kind: NoteKind, text: &str| Note {
            kind,
            text: text.to_string(),
            files: vec!["src/lib.rs".to_string()],
            blob: None,
        };
        let notes = vec![note(NoteKind::Lesson, text), note(NoteKind::Degradation, "one model only")];
        let facts = Facts { notes, ..Facts::default() };
        let event = life.says("ready");
        life.feed(&mut book.ledger, event, facts).unwrap();
    }
    let reader = book.reader();
    let texts = |most: u32| -> Vec<String> {
        reader.notes_of_kind(NoteKind::Lesson, most).unwrap().into_iter().map(|note| note.text).collect()
    };
    assert_eq!(texts(10), ["formatting is checked by CI", "the tests need a database"]);
    assert_eq!(texts(1), ["formatting is checked by CI"]);
    let own = reader.notes(&remand_ledger::RunId("r1".to_string())).unwrap();
    assert_eq!(own.len(), 2);
    assert_eq!(own[0].files, ["src/lib.rs"]);
}

#[test]
fn findings_follow_what_becomes_of_them() {
    let mut book = Book::new();
    let life = book.live("r1", program("feature"), &crate::support::stormy());
    let rows = book.reader().findings(&life.run).unwrap();
    assert_eq!(rows.len(), life.state.findings.len());
    for (row, filed) in rows.iter().zip(&life.state.findings) {
        assert_eq!(row.claim, filed.finding.claim);
        assert_eq!(row.status, filed.status);
        assert_eq!(row.count, filed.count);
        let sent_to = filed.sent_to.map(|phase| program("feature").phase(phase).name.clone());
        assert_eq!(row.sent_to, sent_to);
        assert_eq!(row.known, life.state.known.contains(&row.position));
    }
    assert!(rows.iter().any(|row| row.status == remand_kernel::state::FiledStatus::Settled));
    assert!(rows.iter().any(|row| row.sent_to.as_deref() == Some("design")));
}

#[test]
fn a_review_row_without_a_task_belongs_to_the_run() {
    let mut book = Book::new();
    let mut life = Life::new("r1", program("quick"));
    life.start(&mut book.ledger, Start::default());
    let rows = vec![
        Check { task: None, ..review("code", "security", 1, "approve", None) },
        check(None, RowPhase::Baseline, "build", true),
    ];
    let event = life.says("ready");
    let event = match event {
        Event::Ended { id, .. } => Event::Ended {
            id,
            outcome: Outcome::Said(Box::new(Report::saying("ready"))),
            usage: Usage::default(),
        },
        other => other,
    };
    life.feed(&mut book.ledger, event, with_checks(rows)).unwrap();
    let raw = book.raw();
    let mut statement = raw.prepare("SELECT task_id, phase FROM anvil_checks ORDER BY id").unwrap();
    let read: Vec<(String, String)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let own = |phase: &str| ("csv-export".to_string(), phase.to_string());
    assert_eq!(read, [own("review"), own("baseline")], "a run without tasks is its own task");
}
