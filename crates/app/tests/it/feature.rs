//! `feature` from the request to the commit: its phases, its plan, its tasks, its reviews.

use crate::place::Place;
use crate::rehearsed::{
    Script, TRIVIAL, design, finding, implemented, plan, review, role, subtracting, task, verified,
};
use remand_kernel::evidence::RowPhase;
use remand_ledger::query::{CheckFilter, DispatchRow, DispatchStatus, RunStage};
use remand_ledger::{Reader, RunId};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn prompt(reader: &Reader, row: &DispatchRow) -> String {
    let blob = reader.blob(row.prompt.expect("a prompt")).expect("blob");
    String::from_utf8(blob).expect("text")
}

/// The text of the input with this file name that a dispatch got.
fn input(place: &Place, run: &RunId, row: &DispatchRow, name: &str) -> Option<String> {
    place.brief_part(run, &row.command, name)
}

/// Phases and tasks of the dispatches and operations, in the order they were issued.
fn order(reader: &Reader, run: &RunId) -> Vec<String> {
    let dispatches = reader.dispatches(run).expect("dispatches").into_iter();
    let operations = reader.operations(run).expect("operations").into_iter();
    let mut steps: Vec<(u64, String)> = dispatches.map(|row| (row.seq, row.phase)).collect();
    steps.extend(operations.map(|row| (row.seq, row.phase)));
    steps.sort();
    let mut names: Vec<String> = steps.into_iter().map(|(_, name)| name).collect();
    names.dedup();
    names
}

/// The results of these queries on a ledger file, one number each, from a plain SQLite.
fn run_queries(place: &Place, file: &str, queries: &[&str]) -> Vec<i64> {
    let ask = "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n\
               [print(db.execute(query).fetchone()[0]) for query in sys.argv[2:]]";
    let output = std::process::Command::new("python3")
        .args(["-c", ask, file])
        .args(queries)
        .current_dir(place.project())
        .output()
        .expect("python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| line.parse().expect("a number")).collect()
}

// EP-01 EP-05 EP-10 EP-11 EP-13 EP-14 EP-17 EP-26 EP-31 EP-32 EP-33 EP-34 EP-35
#[test]
fn a_request_goes_through_all_roles_to_one_commit() {
    let place = Place::new();
    let tasks = [
        task("task-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[]),
        task("task-2", &[("README.md", "green")], &["task-1"]),
    ];
    let script = Script::feature(&tasks).with(subtracting()).with(
        role("implementer")
            .task("task-2")
            .writes("README.md", "# sums\n\nadd and sub\n")
            .says(implemented("task-2")),
    );

    let shown = place.feature(&script, &[]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest(), place.reader());
    assert_eq!((run.confidence.as_str(), run.used.dispatches), ("high", 14 + 2 * 2));
    assert!(shown.err.contains("at most"), "the worst case is shown before the run: {}", shown.err);
    let expected = [
        "setup",
        "research",
        "spec",
        "design",
        "design-review",
        "plan",
        "baseline",
        "implement",
        "cascade",
        "verify",
        "merge",
        "implement",
        "cascade",
        "verify",
        "merge",
        "integrate",
        "code-review",
        "knowledge",
        "proposals",
        "bundle",
        "commit",
    ];
    assert_eq!(order(&reader, &run.run), expected);
    let dispatches = reader.dispatches(&run.run).expect("dispatches");
    let roles: BTreeSet<&str> = dispatches.iter().map(|row| row.role.as_str()).collect();
    let all = [
        "designer",
        "implementer",
        "knowledge",
        "planner",
        "researcher",
        "reviewer",
        "reviewer/design",
        "spec",
        "verifier",
    ];
    assert_eq!(roles.into_iter().collect::<Vec<_>>(), all, "the engine does the work of the ninth role");
    for row in &dispatches {
        assert_eq!(
            (row.status, row.retries, row.tokens, row.money),
            (DispatchStatus::Done, 0, Some(100), Some(10_000))
        );
        assert!(
            row.completed_at.is_some_and(|end| end >= row.started_at) && row.summary.is_some(),
            "{row:?}"
        );
    }

    // The second task started from the merged work of the first, and each task got only its sections.
    let implementers: Vec<_> = dispatches.iter().filter(|row| row.role == "implementer").collect();
    let context = input(&place, &run.run, implementers[0], "context.yaml").expect("context");
    assert!(context.contains("D-1") && context.contains("FR-1"), "{context}");
    assert!(!context.contains("D-2") && !context.contains("FR-2"), "{context}");
    assert!(input(&place, &run.run, implementers[0], "design.yaml").is_none());
    assert!(input(&place, &run.run, implementers[0], "task.yaml").is_some_and(|own| !own.contains("task-2")));
    let changed = place.git(&["diff", "--name-only", "work", &run.branch]);
    assert_eq!(changed, "README.md\nsums/sub.py\ntests/test_sub.py\n");
    assert_eq!(place.git(&["rev-list", "--count", &format!("work..{}", run.branch)]).trim(), "1");

    // The source's queries run unchanged on an export, and each task has baseline rows.
    let export = place.write_outside("export.db", "");
    std::fs::remove_file(&export).expect("removed");
    let exported = place.remand(&["evidence", &run.run.0, "--sqlite", &export]);
    assert_eq!(exported.code, 0, "{}", exported.err);
    let asked = run_queries(
        &place,
        &export,
        &[
            "SELECT count(*) FROM anvil_checks WHERE task_id = 'task-1' AND phase = 'baseline'",
            "SELECT count(*) FROM anvil_checks WHERE task_id = 'task-2' AND phase = 'baseline'",
            "SELECT count(*) FROM anvil_checks WHERE task_id = 'task-1' AND phase = 'after' AND passed = 1",
            "SELECT count(*) FROM anvil_checks WHERE phase = 'after' AND passed = 0",
            "SELECT count(*) FROM anvil_checks WHERE task_id = 'add-subtraction-to-the-sums-code-review' AND phase = 'review' AND verdict = 'approve' AND check_name LIKE 'review-code-%'",
            "SELECT count(*) FROM pipeline_telemetry WHERE status = 'DONE' AND retry_count = 0 AND completed_at >= started_at",
            "SELECT max(length(output_snippet)) <= 500 FROM anvil_checks",
        ],
    );
    assert!(asked[0] > 0 && asked[1] >= asked[0] && asked[2] >= 2, "{asked:?}");
    assert_eq!(asked[3..], [0, 3, 18, 1], "{asked:?}");
    for task in ["task-1", "task-2"] {
        let baseline = reader.gate_checks(&run.run, task).expect("checks");
        assert!(baseline.iter().any(|row| row.phase == RowPhase::Baseline));
    }
    let reviews =
        reader.checks(&run.run, CheckFilter { task: None, phase: Some(RowPhase::Review) }).expect("checks");
    let names: BTreeSet<&str> = reviews.iter().map(|row| row.name.as_str()).collect();
    for scope in ["design", "code"] {
        for focus in ["security", "architecture", "correctness"] {
            assert!(names.contains(format!("review-{scope}-{focus}").as_str()), "{names:?}");
        }
    }
    let code = reviews.iter().find(|row| row.name == "review-code-security").expect("a review");
    assert_eq!(code.task.as_deref(), Some("add-subtraction-to-the-sums-code-review"));
    assert_eq!((code.command.as_deref(), code.exit_code), (Some("adversarial-review"), None));
    // A criterion that the verifier judges met is a row of the review, never of the cascade.
    let judged: Vec<_> = reviews.iter().filter(|row| row.name == "criterion-AC-1").collect();
    assert_eq!(
        judged.iter().map(|row| (row.task.as_deref(), row.tier)).collect::<Vec<_>>(),
        [(Some("task-1"), None), (Some("task-2"), None),]
    );

    // Gates that were answered by default are recorded.
    let gates = reader.gates(&run.run).expect("gates");
    let auto: Vec<_> =
        gates.iter().map(|gate| (gate.phase.as_str(), gate.option.as_deref(), gate.auto)).collect();
    assert_eq!(auto, [("approve-research", Some("proceed"), true), ("approve-plan", Some("approve"), true)]);

    // Typed outputs are stored with a rendering.
    let artifacts = place.home().join("runs").join(&run.run.0).join("artifacts");
    for name in ["spec@1", "design@1", "plan@1", "research-impact@1"] {
        let rendered = std::fs::read_to_string(artifacts.join(format!("{name}.md"))).expect("a rendering");
        assert!(rendered.starts_with('#'), "{name}: {rendered}");
        assert!(artifacts.join(format!("{name}.yaml")).exists());
    }
    let design = std::fs::read_to_string(artifacts.join("design@1.md")).expect("a rendering");
    assert!(design.contains("D-1") && design.contains("One module a function"), "{design}");
}

// EP-10 EP-11 EP-06
#[test]
fn a_plan_without_a_risk_or_with_a_dangling_pointer_is_refused_with_the_locations() {
    let place = Place::configured(TRIVIAL);
    let files = [("sums/sub.py", "green"), ("tests/test_sub.py", "green")];
    let (mut unrated, mut lost) = (task("task-1", &files, &[]), task("task-1", &files, &[]));
    unrated["files"][1] = json!({"path": "tests/test_sub.py"});
    lost["relevant_context"] = json!(["design#payload.decisions[id='D-9']"]);
    let script = Script::subtraction()
        .with(role("planner").attempt(1).says(plan(&[unrated])))
        .with(role("planner").attempt(2).says(plan(&[lost])));

    let shown = place.feature(&script, &[]);

    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest().run, place.reader());
    let dispatches = reader.dispatches(&run).expect("dispatches");
    let planners: Vec<_> = dispatches.iter().filter(|row| row.role == "planner").collect();
    assert_eq!(planners.iter().map(|row| row.failure.as_deref()).collect::<Vec<_>>(), [Some("malformed"); 2]);
    let detail = planners[0].detail.as_deref().expect("a detail");
    assert!(detail.contains("payload.tasks[0].files[1].risk"), "{detail}");
    assert!(
        prompt(&reader, planners[1]).contains(detail),
        "the retry gets the error word for word: {detail}"
    );
    let detail = planners[1].detail.as_deref().expect("a detail");
    assert!(detail.contains("payload.tasks[0].relevant_context[0]") && detail.contains("D-9"), "{detail}");
    assert!(dispatches.iter().all(|row| row.role != "implementer"), "refused when the planner reports it");
}

// EP-14 EP-27
#[test]
fn parallel_tasks_are_merged_and_a_conflict_sends_the_later_one_back() {
    let place = Place::configured(TRIVIAL);
    let tasks = [task("left", &[("README.md", "green")], &[]), task("right", &[("README.md", "green")], &[])];
    let right = role("implementer").task("right");
    let script = Script::feature(&tasks)
        .with(role("implementer").task("left").writes("README.md", "# left\n").says(implemented("left")))
        .with(
            right
                .clone()
                .does(json!({"sleep": "1500ms"}))
                .writes("README.md", "# right\n")
                .says(implemented("right")),
        )
        .with(right.round(2).does(json!({"append": {"path": "README.md", "text": "right\n"}})).says(json!({
            "verdict": "done", "task": "right", "hypothesis": "Both lines fit below each other.",
            "changes": [{"file": "README.md", "what": "a line below the other"}],
        })));

    let shown = place.feature(&script, &[]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest(), place.reader());
    let merges: Vec<_> = reader
        .operations(&run.run)
        .expect("operations")
        .into_iter()
        .filter(|row| row.phase == "merge")
        .map(|row| (row.task.unwrap_or_default(), row.result.unwrap_or_default()))
        .collect();
    let merges: Vec<_> = merges.iter().map(|(task, result)| (task.as_str(), result.as_str())).collect();
    assert_eq!(merges, [("left", "merged"), ("right", "conflict"), ("right", "merged")]);
    assert_eq!(place.git(&["show", &format!("{}:README.md", run.branch)]), "# left\nright\n");
    let again = reader.dispatches(&run.run).expect("dispatches");
    let again = again
        .iter()
        .rfind(|row| row.task.as_deref() == Some("right") && row.role == "implementer")
        .expect("again");
    let earlier = input(&place, &run.run, again, "earlier-change.patch").expect("the change with a conflict");
    assert!(earlier.contains("+# right"), "{earlier}");
    let findings = input(&place, &run.run, again, "findings-to-answer.md").expect("the conflict");
    assert!(findings.contains("README.md"), "{findings}");
}

// EP-14
#[test]
fn code_without_a_test_is_pointed_out_to_the_reviewers() {
    let place = Place::configured(TRIVIAL);
    let script = Script::feature(&[task("task-1", &[("sums/sub.py", "green")], &[])]).with(
        role("implementer")
            .task("task-1")
            .writes("sums/sub.py", crate::rehearsed::SUB)
            .says(implemented("task-1")),
    );
    let shown = place.feature(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest().run, place.reader());
    let dispatches = reader.dispatches(&run).expect("dispatches");
    for row in dispatches.iter().filter(|row| row.phase == "code-review") {
        let evidence = input(&place, &run, row, "evidence.md").expect("evidence");
        assert!(evidence.contains("the change of task-1 touches no test"), "{evidence}");
    }
}

// EP-21 EP-09 CORE-20
#[test]
fn a_code_review_that_asks_for_a_revision_is_followed_by_fix_verification_and_another_round() {
    let place = Place::configured(TRIVIAL);
    let rejecting = |focus: &str| {
        let findings =
            [finding(&format!("{focus}-1"), "major", &format!("sub ignores its types, says {focus}"))];
        role("reviewer").phase("code-review").item(focus).round(1).says(review(
            "code",
            focus,
            "needs-revision",
            &findings,
        ))
    };
    let fixed = json!({
        "verdict": "done", "task": "task-1", "hypothesis": "Checking the types settles it.",
        "changes": [{"file": "sums/sub.py", "what": "types are checked"}],
    });
    let script = Script::subtraction().with(rejecting("security")).with(rejecting("architecture")).with(
        role("implementer")
            .task("task-1")
            .round(2)
            .writes("sums/sub.py", "def sub(a, b):\n    return int(a) - int(b)\n")
            .says(fixed),
    );

    let shown = place.feature(&script, &[]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest(), place.reader());
    let names = order(&reader, &run.run);
    let from = names.iter().position(|name| name == "code-review").expect("the first review");
    let after: Vec<&str> = names[from..].iter().map(String::as_str).collect();
    let expected = [
        "code-review",
        "implement",
        "cascade",
        "verify",
        "merge",
        "integrate",
        "code-review",
        "knowledge",
        "proposals",
        "bundle",
        "commit",
    ];
    assert_eq!(after, expected);
    let findings = reader.findings(&run.run).expect("findings");
    assert_eq!(findings.len(), 2);
    for row in &findings {
        assert!(
            !row.evidence.is_empty() && !row.impact.is_empty() && !row.recommendation.is_empty(),
            "{row:?}"
        );
        assert_eq!((row.place.file.as_str(), row.place.line), ("sums/sub.py", 1));
    }
    assert_eq!(
        place.git(&["show", &format!("{}:sums/sub.py", run.branch)]),
        "def sub(a, b):\n    return int(a) - int(b)\n"
    );
    let bundle = place.remand(&["evidence"]).out;
    let blast =
        bundle.split("## Blast radius").nth(1).expect("a section").split("\n## ").next().expect("text");
    for file in ["- `sums/sub.py`", "- `tests/test_sub.py`"] {
        assert!(blast.contains(file), "the second round touches one of two files: {blast}");
    }
}

// EP-33 EP-20 EP-23 EP-24
#[test]
fn a_criterion_that_is_not_met_fails_its_task_whatever_the_checks_say() {
    let place = Place::configured(TRIVIAL);
    let again = |round: u32, text: &str| {
        role("implementer").task("task-1").round(round).writes("sums/sub.py", text).says(json!({
            "verdict": "done", "task": "task-1", "hypothesis": format!("Try number {round} is another one."),
            "changes": [{"file": "sums/sub.py", "what": "another way"}],
        }))
    };
    let planned = |round: u32| {
        let mut again = task("task-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[]);
        again["description"] = json!(format!("Plan number {round} says more."));
        role("planner").round(round).says(plan(&[again]))
    };
    let script = Script::subtraction()
        .with(planned(2))
        .with(planned(3))
        .with(role("verifier").task("task-1").says(verified("task-1", "not met")))
        .with(again(2, "def sub(a, b):\n    return -(b - a)\n"))
        .with(again(3, "import operator\n\nsub = operator.sub\n"));

    let shown = place.feature(&script, &[]);

    assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest(), place.reader());
    assert_eq!(run.confidence, "low");
    let checks = reader.checks(&run.run, CheckFilter { task: Some("task-1"), phase: None }).expect("checks");
    assert!(
        checks.iter().filter(|row| row.tier.is_some()).all(|row| row.passed),
        "every check passed: {checks:?}"
    );
    let revert = checks.iter().find(|row| row.name == "revert-task-1").expect("the revert");
    assert!(!revert.passed);
    let verifiers = reader.dispatches(&run.run).expect("dispatches");
    assert_eq!(verifiers.iter().filter(|row| row.role == "verifier").count(), 3, "three iterations");
    assert!(shown.out.contains("the run changed nothing"), "its change was reverted: {}", shown.out);
    assert_eq!(place.git(&["branch", "--list", &run.branch]), "");
    assert_eq!(changed_lines(&place), 0, "none of it is in the result");
    let bundle = place.remand(&["evidence"]).out;
    assert!(bundle.contains("VER-1"), "{bundle}");
    assert!(bundle.contains("## Blast radius\n\nNo code was changed."), "{bundle}");
    let listed = place.remand(&["findings", "--open"]).out;
    let known =
        bundle.split("## Known issues").nth(1).expect("a section").split("\n## ").next().expect("text");
    assert_eq!(known.matches("VER-1").count(), listed.matches("VER-1").count(), "{known}{listed}");
    assert!(bundle.contains("| task-1 (reverted) |"), "{bundle}");
}

/// The changed lines of all runs, as `stats` reports them.
fn changed_lines(place: &Place) -> u64 {
    let shown = place.remand(&["stats", "--json"]);
    let stats: Value = serde_json::from_str(&shown.out).expect("JSON");
    stats["repositories"][0]["workflows"][0]["changed_lines"].as_u64().expect("a number")
}

// PF-10
#[test]
fn a_task_that_a_new_plan_dropped_does_not_count_for_the_size() {
    let place = Place::configured(TRIVIAL);
    let kept = task("task-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[]);
    let dropped = task("task-2", &[("README.md", "green")], &["task-1"]);
    let mut again = kept.clone();
    again["description"] = json!("Subtract, and nothing else.");
    let script = Script::feature(&[kept, dropped])
        .with(role("planner").round(2).says(plan(&[again])))
        .with(subtracting())
        .with(
            role("implementer")
                .task("task-2")
                .writes("README.md", "add\nand sub\n")
                .says(implemented("task-2")),
        )
        .with(role("verifier").task("task-2").says(verified("task-2", "not met")));
    let shown = place.feature(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let row = place.latest();
    let stat = place.git(&["diff", "--numstat", &row.base, &row.branch, "--", "sums", "tests", "README.md"]);
    let count =
        |line: &str| line.split('\t').take(2).filter_map(|part| part.parse::<u64>().ok()).sum::<u64>();
    assert_eq!(changed_lines(&place), stat.lines().map(count).sum::<u64>(), "{stat}");
}

// CORE-12
#[test]
fn the_same_change_is_recognized_whatever_others_have_merged_since() {
    let place = Place::configured(TRIVIAL);
    let tasks = [
        task("task-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[]),
        task("task-2", &[("README.md", "green")], &[]),
    ];
    let mut more = tasks.clone();
    more[0]["description"] = json!("Subtract, and mean it.");
    let script = Script::feature(&tasks)
        .with(subtracting())
        .with(
            role("implementer")
                .task("task-2")
                .writes("README.md", "add and sub\n")
                .says(implemented("task-2")),
        )
        .with(role("planner").round(2).says(plan(&more)))
        .with(role("verifier").task("task-1").says(verified("task-1", "not met")));

    let shown = place.feature(&script, &[]);

    let (run, reader) = (place.latest(), place.reader());
    let journal = reader.journal(&run.run, 0).expect("journal");
    let written: Vec<_> = journal
        .iter()
        .flat_map(|row| &row.facts.artifacts)
        .filter(|artifact| artifact.name == "code" && artifact.part == "task-1")
        .map(|artifact| artifact.digest)
        .collect();
    assert!(written.len() >= 2 && written.iter().all(|digest| *digest == written[0]), "{written:?}");
    let log = place.remand(&["log"]).out;
    assert!(log.contains("unchanged"), "{log}{}{}", shown.out, shown.err);
}

/// Two of three reviewers reject the design in both rounds, each with one finding.
fn rejected_design(script: Script) -> Script {
    let mut revised = design();
    revised["summary"] = json!("A module beside add, with a page about it.");
    let rejecting = |focus: &str, id: &str, claim: &str| {
        let findings = [finding(id, "major", claim)];
        role("reviewer/design").item(focus).says(review("design", focus, "needs-revision", &findings))
    };
    script
        .with(role("designer").round(2).says(revised))
        .with(rejecting("architecture", "A-1", "Nothing says what sub does with strings"))
        .with(rejecting("correctness", "C-1", "Nothing says what sub does with fractions"))
}

fn answering(mut planned: Value, answers: Value) -> Value {
    planned["constraints"] = answers;
    planned
}

// HO-05 EP-09 EP-32
#[test]
fn a_plan_that_meets_the_findings_of_an_exhausted_design_review_can_be_committed() {
    let place = Place::new();
    let files = [("sums/sub.py", "green"), ("tests/test_sub.py", "green")];
    let first = plan(&[task("task-1", &files, &[])]);
    let mut again = plan(&[task("task-1", &files, &[])]);
    again["tasks"][0]["description"] = json!("Fractions too.");
    let met = json!([{"id": "A-1", "met_by": ["task-1"]}, {"id": "C-1", "met_by": ["task-1"]}]);
    let one = json!([{"id": "A-1", "met_by": ["task-1"]}]);
    let script = rejected_design(Script::subtraction())
        .with(role("planner").round(1).attempt(1).says(first.clone()))
        .with(role("planner").round(1).says(answering(first, met.clone())))
        .with(role("planner").round(2).attempt(1).says(answering(again.clone(), one)))
        .with(role("planner").round(2).says(answering(again, met)))
        .with(role("verifier").task("task-1").round(1).says(verified("task-1", "not met")))
        .with(
            role("implementer")
                .task("task-1")
                .round(2)
                .writes("sums/sub.py", "def sub(a, b):\n    return +a - b\n")
                .says(implemented("task-1")),
        );

    let shown = place.feature(&script, &[]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    assert_eq!((run.stage.is_finished(), run.confidence.as_str()), (true, "medium"));
    let reader = place.reader();
    let rows = reader.dispatches(&run.run).expect("dispatches");
    let planners: Vec<_> = rows.iter().filter(|row| row.role == "planner").collect();
    let details: Vec<_> = planners.iter().map(|row| row.detail.clone().unwrap_or_default()).collect();
    assert_eq!(planners.len(), 4, "{details:?}");
    assert!(details[0].contains("none for A-1, C-1"), "{details:?}");
    assert!(details[2].contains("none for C-1"), "{details:?}");
    for row in planners {
        let findings = input(&place, &run.run, row, "findings-to-answer.md").expect("findings to answer");
        assert!(findings.contains("A-1") && findings.contains("what sub does with fractions"), "{findings}");
        assert_eq!(input(&place, &run.run, row, "known-issues.md"), None);
        let prompt = prompt(&reader, row);
        assert!(prompt.contains("constraints:  # (required)") && prompt.contains("- id: C-1"), "{prompt}");
    }
}

// HO-05 EP-09 EP-32
#[test]
fn a_plan_that_disputes_a_binding_finding_continues_and_is_handed_over() {
    let place = Place::new();
    let files = [("sums/sub.py", "green"), ("tests/test_sub.py", "green")];
    let answers = json!([
        {"id": "A-1", "met_by": ["task-1"]},
        {"id": "C-1", "disputed": "The request is about whole numbers."},
    ]);
    let planned = answering(plan(&[task("task-1", &files, &[])]), answers);
    let mut disputed = planned.clone();
    disputed["verdict"] = json!("disputed");
    let script = rejected_design(Script::subtraction())
        .with(role("planner").attempt(1).says(planned))
        .with(role("planner").says(disputed));

    let shown = place.feature(&script, &[]);

    assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    let run = place.latest();
    assert_eq!((run.stage, run.confidence.as_str()), (RunStage::LeftToYou, "low"));
    let rows = place.reader().dispatches(&run.run).expect("dispatches");
    let planners: Vec<_> = rows.iter().filter(|row| row.role == "planner").collect();
    let detail = planners[0].detail.clone().unwrap_or_default();
    assert!(detail.contains("payload.verdict: expected `disputed`"), "{detail}");
    let reviewer = rows.iter().find(|row| row.phase == "code-review").expect("a review");
    let known = input(&place, &run.run, reviewer, "known-issues.md").expect("known issues");
    assert!(known.contains("what sub does with fractions"), "{known}");
    let plan = input(&place, &run.run, reviewer, "plan.yaml").expect("the plan");
    assert!(plan.contains("The request is about whole numbers."), "{plan}");
}

// EP-04 EP-27 EP-32
#[test]
fn two_of_four_researchers_are_enough_and_cost_confidence() {
    let place = Place::configured(TRIVIAL);
    let silent = |focus: &str| role("researcher").item(focus).does(json!({"exit": 3}));
    let script = Script::subtraction().with(silent("impact")).with(silent("patterns"));

    let shown = place.feature(&script, &[]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest(), place.reader());
    assert_eq!(run.confidence, "medium");
    let dispatches = reader.dispatches(&run.run).expect("dispatches");
    let tried = |focus: &str| {
        dispatches.iter().filter(|row| row.item.as_deref() == Some(focus) && row.role == "researcher").count()
    };
    assert_eq!((tried("impact"), tried("patterns"), tried("architecture")), (2, 2, 1));
    let bundle = place.remand(&["evidence"]).out;
    let degradations = bundle.split("## Degradations").nth(1).expect("a section");
    assert!(degradations.trim_start().starts_with("- research: thin"), "{bundle}");
}

// EP-04
#[test]
fn one_of_four_researchers_is_a_failure() {
    let place = Place::configured(TRIVIAL);
    let silent = |focus: &str| role("researcher").item(focus).does(json!({"exit": 3}));
    let script =
        Script::subtraction().with(silent("impact")).with(silent("patterns")).with(silent("dependencies"));
    let shown = place.feature(&script, &[]);
    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest(), place.reader());
    assert_eq!(run.used.dispatches, 4 + 3);
    let rulings = reader.rulings(&run.run, 0).expect("rulings");
    let last = &rulings.last().expect("a ruling").ruling;
    assert_eq!((last.phase.as_str(), last.signal.as_str()), ("research", "no-result"));
    assert!(last.why.starts_with("three of four researchers failed"), "{last:?}");
}
