//! Findings that come back, changes that are undone, results that are reused, and the one list of signals.

use crate::support::{Run, Setup, finding, happening, issue, minor, quick, task, ticket};
use remand_kernel::change::{Change, Digest, FileChange, Hunk};
use remand_kernel::finding::{Category, Finding, FindingKind, Location, Severity};
use remand_kernel::signal::{Failure, IMPLICIT};
use remand_kernel::state::FiledStatus;
use remand_workflow::walk::WalkStep;

const NEVER_ENDS: &str = "the retry loop never ends when the server answers with an empty body";

// CORE-12
#[test]
fn the_same_claim_about_the_same_location_is_the_same_finding() {
    let mut run = at_review();
    rejects(&mut run, vec![finding("F1", NEVER_ENDS)]);
    rejects(
        &mut run,
        vec![finding("F2", "when the server answers with an empty body, the retry loop never ends")],
    );
    assert_eq!(run.last(), "review: repeated → next (hand-over), with blockers: confidence low");
    assert!(run.why().contains("finding F2 was reported for the second time"), "{}", run.why());
}

// CORE-12
#[test]
fn the_same_claim_about_another_location_is_another_finding() {
    let mut run = at_review();
    rejects(&mut run, vec![finding("F1", NEVER_ENDS)]);
    let mut elsewhere = finding("F2", NEVER_ENDS);
    elsewhere.place = Location { file: "src/upload.rs".to_string(), symbol: "send".to_string(), line: 9 };
    rejects(&mut run, vec![elsewhere]);
    assert!(run.last().starts_with("review: needs-revision"), "{}", run.last());
}

// CORE-12
#[test]
fn the_same_claim_of_another_category_is_another_finding() {
    let mut run = at_review();
    rejects(&mut run, vec![finding("F1", NEVER_ENDS)]);
    rejects(&mut run, vec![Finding { category: Category::Performance, ..finding("F2", NEVER_ENDS) }]);
    assert!(run.last().starts_with("review: needs-revision"), "{}", run.last());
}

// CORE-12
#[test]
fn line_numbers_do_not_make_a_finding_new() {
    let mut run = at_review();
    rejects(&mut run, vec![finding("F1", NEVER_ENDS)]);
    let mut moved = finding("F2", NEVER_ENDS);
    moved.place.line = 480;
    rejects(&mut run, vec![moved]);
    assert!(run.last().starts_with("review: repeated"), "{}", run.last());
}

// CORE-12
#[test]
fn the_same_number_of_findings_is_not_a_repetition() {
    let mut run = at_review();
    rejects(
        &mut run,
        vec![finding("F1", NEVER_ENDS), finding("F2", "the header is parsed before its length is known")],
    );
    rejects(
        &mut run,
        vec![
            finding("F1", "the cache is shared between users of different tenants"),
            finding("F2", "dates before 1970 come out a day early"),
        ],
    );
    assert!(run.last().starts_with("review: needs-revision"), "{}", run.last());
}

// CORE-12
#[test]
fn a_finding_reported_again_without_a_change_in_between_is_not_counted() {
    let mut run = at_review();
    rejects(&mut run, vec![finding("F1", NEVER_ENDS)]);
    run.happens(WalkStep { unchanged: true, disputes: true, ..happening("implement", "done") });
    rejects(&mut run, vec![finding("F2", NEVER_ENDS)]);
    assert!(run.last().starts_with("review: needs-revision"), "{}", run.last());
}

// CORE-12, CORE-23
#[test]
fn a_finding_that_returns_after_its_work_was_accepted_is_new() {
    let mut run = Setup::of(issue()).tasks(vec![task("t1", &[]), task("t2", &["t1"])]).run();
    let flaw =
        |id: &str| vec![finding(id, "the plan does not say who closes the file handle after an error")];
    run.until("plan-review").finds("plan-review", "needs-work", flaw("F1"));
    run.until("split-review").finds(
        "split-review",
        "block",
        vec![finding("S1", "the tasks overlap in the parser")],
    );
    run.until("plan-review").finds("plan-review", "needs-work", flaw("F2"));
    assert!(run.last().starts_with("plan-review: needs-work → remand plan"), "{}", run.last());
}

// CORE-22
#[test]
fn a_change_that_undoes_the_previous_one_is_a_signal() {
    let mut run = at_review();
    let (old, new) = (["let delay = BASE;", "sleep(delay);"], ["let delay = jitter(BASE);", "park(delay);"]);
    let mut run = {
        rejects(&mut run, vec![finding("F1", NEVER_ENDS)]);
        run
    };
    changes(&mut run, 1, &old, &new);
    run.until("verify").finds("verify", "failed", vec![finding("C1", "two tests are red")]);
    changes(&mut run, 2, &new, &old);
    assert_eq!(run.last(), "implement: reversal → to hand-over, with blockers: confidence low");
}

// CORE-22
#[test]
fn a_change_of_other_lines_is_not_a_reversal() {
    let mut run = at_review();
    rejects(&mut run, vec![finding("F1", NEVER_ENDS)]);
    changes(&mut run, 1, &["let delay = BASE;"], &["let delay = jitter(BASE);", "park(delay);"]);
    run.until("verify").finds("verify", "failed", vec![finding("C1", "two tests are red")]);
    changes(&mut run, 2, &["let limit = 3;"], &["let limit = 4;", "let total = limit * delay;"]);
    assert_eq!(run.last(), "implement: done → next (verify)");
}

// CORE-23
#[test]
fn minor_findings_are_filed_as_follow_ups() {
    let mut run = at_review();
    run.finds("review", "needs-revision", vec![minor(finding("F1", "the comment is out of date"))]);
    assert_eq!(run.last(), "review: approve → next (commit)");
    assert_eq!(run.walker.state.findings[0].status, FiledStatus::FollowUp);
}

// CORE-23
#[test]
fn minor_findings_next_to_a_major_one_are_not_sent_back() {
    let mut run = at_review();
    rejects(&mut run, vec![minor(finding("F1", "the comment is out of date")), finding("F2", NEVER_ENDS)]);
    assert_eq!(run.commands(), "dispatch implementer for implement with 1 finding");
}

// CORE-23
#[test]
fn a_verdict_on_unchanged_code_is_still_valid() {
    let mut run = Setup::of(ticket()).run();
    run.until("impl-review").finds("impl-review", "changes-requested", vec![finding("F1", NEVER_ENDS)]);
    run.happens(WalkStep { unchanged: true, disputes: true, ..happening("implement", "done") });
    assert_eq!(run.commands(), "dispatch impl-reviewer for impl-review");
    assert!(
        run.rulings()
            .ends_with("write-tests: done → next (quality-gate)\nquality-gate: passed → next (impl-review)")
    );
    assert_eq!(run.why(), "its inputs are unchanged, and it has no findings to deal with");
}

// CORE-23
#[test]
fn a_verdict_is_void_when_the_code_it_was_about_changes() {
    let mut run = Setup::of(ticket()).run();
    run.until("impl-review").finds("impl-review", "changes-requested", vec![finding("F1", NEVER_ENDS)]);
    run.says("implement", "done");
    assert_eq!(run.commands(), "dispatch test-writer for write-tests");
    run.says("write-tests", "done");
    assert_eq!(run.commands(), "do checks");
}

// CORE-20
#[test]
fn one_finding_type_carries_everything_and_survives_serialization() {
    let finding = Finding {
        id: "F1".to_string(),
        severity: Severity::Critical,
        category: Category::Design,
        kind: Some(FindingKind::Plan),
        injected_by: vec!["planning".to_string()],
        task: Some("t1".to_string()),
        place: Location { file: "src/lib.rs".to_string(), symbol: "run".to_string(), line: 4 },
        claim: "claim".to_string(),
        evidence: "evidence".to_string(),
        impact: "impact".to_string(),
        recommendation: "recommendation".to_string(),
        patch: Some("patch".to_string()),
        repeats: Some("F0".to_string()),
    };
    let written = serde_json::to_value(&finding).expect("written");
    let keys: Vec<&str> = written.as_object().expect("a mapping").keys().map(String::as_str).collect();
    for key in [
        "id",
        "severity",
        "category",
        "kind",
        "injected_by",
        "place",
        "claim",
        "evidence",
        "impact",
        "recommendation",
        "patch",
        "repeats",
    ] {
        assert!(keys.contains(&key), "{key} is missing in {keys:?}");
    }
    assert_eq!(serde_json::from_value::<Finding>(written).expect("read"), finding);
}

// CORE-20
#[test]
fn severities_and_categories_are_those_of_the_one_scale() {
    let severities = [Severity::Minor, Severity::Major, Severity::Critical, Severity::Blocker];
    assert!(severities.is_sorted());
    let written = |value: serde_json::Value| value.as_str().map(str::to_string).unwrap_or_default();
    let categories = [
        Category::Security,
        Category::Correctness,
        Category::Performance,
        Category::Maintainability,
        Category::Design,
    ]
    .map(|category| written(serde_json::to_value(category).expect("written")));
    assert_eq!(categories, ["security", "correctness", "performance", "maintainability", "design"]);
}

// CORE-24
#[test]
fn there_is_one_list_of_failures() {
    let names = Failure::ALL.map(Failure::name);
    assert_eq!(
        names,
        [
            "malformed",
            "transient",
            "environment",
            "violation",
            "timeout",
            "crashed",
            "denied",
            "over-budget",
            "cancelled",
            "conflict",
            "unchanged",
        ]
    );
}

// CORE-24
#[test]
fn there_is_one_list_of_implicit_signals_and_every_program_begins_with_it() {
    let names: Vec<&str> = IMPLICIT.iter().map(|(name, _)| *name).collect();
    for name in ["no-result", "spent", "repeated", "reversal", "circle", "oscillation", "security-blocker"] {
        assert!(names.contains(&name), "{name}");
    }
    for program in [quick(), issue(), ticket()] {
        assert_eq!(program.signals[..names.len()], names);
    }
}

/// A run of `quick` at its review.
fn at_review() -> Run {
    let mut run = Setup::of(quick()).run();
    run.until("review");
    run
}

fn rejects(run: &mut Run, findings: Vec<Finding>) {
    run.until("review").finds("review", "needs-revision", findings);
}

fn changes(run: &mut Run, tree: u64, removed: &[&str], added: &[&str]) {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_string()).collect();
    let file = FileChange {
        path: "src/retry.rs".to_string(),
        hunks: vec![Hunk { removed: lines(removed), added: lines(added) }],
        generated: false,
    };
    run.until("implement").happens(WalkStep {
        change: Some(Change { tree: Digest(tree), files: vec![file], hypothesis: None, restored: false }),
        ..happening("implement", "done")
    });
}
