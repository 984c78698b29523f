//! What travels with the work: each entry of these scripts fails unless the agent was given the words that it needs.

use crate::issue_script::{self, finding as issue_finding, one_task, reviewed, split, subtraction};
use crate::place::Place;
use crate::rehearsed::{
    SUB, Script, TEST_SUB, assessment, design, finding, implemented, injected, plan, review, role, task,
    unit, verified,
};
use serde_json::{Value, json};

/// The design of round two: it keeps the decisions that no finding cites.
fn revised_design() -> Value {
    let mut revised = design();
    revised["summary"] = json!("A module beside add, which takes b from a.");
    revised["decisions"][0]["rationale"] = json!("The sign is decided here.");
    revised
}

const NEG: &str = "def neg(a):\n    return -a\n";

const TEST_NEG: &str = "import unittest\n\nfrom sums.neg import neg\n\n\nclass NegTest(unittest.TestCase):\n    \
                        def test_negates(self):\n        self.assertEqual(neg(1), -1)\n";

/// A task next to subtraction, with words that occur nowhere else.
fn negation() -> Value {
    let mut negation = task("task-2", &[("sums/neg.py", "green"), ("tests/test_neg.py", "green")], &[]);
    negation["title"] = json!("Negate one number");
    negation["acceptance_criteria"] =
        json!([{"id": "AC-2", "text": "neg(1) is minus one.", "test": "unit test"}]);
    negation
}

/// The entries of those who work on `task-2`, which passes.
fn negating(script: Script) -> Script {
    let made = json!({
        "verdict": "done", "task": "task-2", "hypothesis": "A sign is all it takes.",
        "changes": [{"file": "sums/neg.py", "what": "neg", "why": "AC-2"}],
    });
    let met = json!({
        "verdict": "met", "task": "task-2", "findings": [],
        "criteria": [{
            "criterion": "AC-2", "met": "met", "place": {"file": "sums/neg.py", "symbol": "neg", "line": 1},
            "reason": "the sign is there",
        }],
    });
    let work = role("implementer").task("task-2").writes("sums/neg.py", NEG);
    script
        .with(work.writes("tests/test_neg.py", TEST_NEG).says(made))
        .with(role("verifier").task("task-2").says(met))
}

/// Asserts that the last design and the last plan kept what no finding is about.
pub fn kept_what_passed(place: &Place) {
    let versions = |name: &str| -> Vec<Value> {
        let reader = place.reader();
        let rows = reader.artifact_versions(&place.latest().run, name).expect("versions");
        let text = |blob| String::from_utf8_lossy(&reader.blob(blob).expect("a blob")).into_owned();
        rows.into_iter().map(|row| remand_contract::parse(&text(row.blob)).expect("YAML")).collect()
    };
    let designs = versions("design");
    assert_eq!(designs.len(), 2, "{designs:?}");
    let decision = |design: &Value, id: &str| found(&design["payload"]["decisions"], id);
    assert_eq!(decision(&designs[1], "D-2"), decision(&designs[0], "D-2"));
    assert_ne!(decision(&designs[1], "D-1"), decision(&designs[0], "D-1"));
    let plans = versions("plan");
    assert_eq!(plans.len(), 2, "{plans:?}");
    let task = |plan: &Value, id: &str| found(&plan["payload"]["tasks"], id);
    assert_eq!(task(&plans[1], "task-2"), task(&plans[0], "task-2"));
    assert_ne!(task(&plans[1], "task-1"), task(&plans[0], "task-1"));
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    let made = rows.iter().filter(|row| row.role == "implementer" && row.task.as_deref() == Some("task-2"));
    assert_eq!(made.count(), 1, "nobody implements again what passed: {rows:?}");
}

fn found(list: &Value, id: &str) -> Value {
    let items = list.as_array().expect("a list");
    items.iter().find(|item| item["id"] == id).unwrap_or_else(|| panic!("no {id} in {list}")).clone()
}

/// A design that is sent back once, a task whose first version is refused by the verifier, and a task that passes.
pub fn feature() -> Script {
    let tasks =
        [task("task-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[]), negation()];
    let sign = finding("ARCH-1", "major", "The design does not say which is taken from which.");
    let reviewer = |item: &str, round: u32| role("reviewer/design").item(item).round(round);
    let work = |round: u32| {
        role("implementer")
            .task("task-1")
            .round(round)
            .writes("sums/sub.py", SUB)
            .writes("tests/test_sub.py", TEST_SUB)
    };
    let mut second = implemented("task-1");
    second["hypothesis"] = json!("The operands were the wrong way round.");
    second["changes"] = json!([{"file": "sums/sub.py", "what": "a comment", "why": "VER-1"}]);
    let mut replanned = plan(&tasks);
    replanned["summary"] = json!("The same task, once more.");
    replanned["tasks"][0]["title"] = json!("The work of task-1, with the operands in order");
    negating(Script::feature(&tasks))
        .with(reviewer("architecture", 1).says(review(
            "design",
            "architecture",
            "needs-revision",
            std::slice::from_ref(&sign),
        )))
        .with(reviewer("security", 1).says(review("design", "security", "needs-revision", &[sign])))
        // Its own design with the decision that no finding cites, the finding, and who said what.
        .with(
            role("designer")
                .round(2)
                .given(&[
                    "Plain integers",
                    "A module beside add.",
                    "The design does not say which is taken from which.",
                    "The design from correctness.",
                ])
                .says(revised_design()),
        )
        // Its own finding by id, and the difference since it judged.
        .with(
            reviewer("architecture", 2)
                .given(&[
                    "ARCH-1",
                    "The design does not say which is taken from which.",
                    "+    rationale: The sign is decided here.",
                    "Plain integers",
                ])
                .says(review("design", "architecture", "approve", &[])),
        )
        .with(work(1).given(&["sub(3, 2) is 1.", "One module a function"]).says(implemented("task-1")))
        // The criterion word for word, the task, and the report.
        .with(
            role("verifier")
                .task("task-1")
                .round(1)
                .given(&["sub(3, 2) is 1.", "The work of task-1", "Subtraction is like addition."])
                .says(verified("task-1", "not-met")),
        )
        // Its own plan, the evidence behind the verdict, and the words of those who tried.
        .with(
            role("planner")
                .round(2)
                .given(&[
                    "The work of task-1",
                    "What is to be done.",
                    "sub does not subtract",
                    "Subtraction is like addition.",
                    "as the code has it",
                    "task-2",
                    "Negate one number",
                    "neg(1) is minus one.",
                    "the sign is there",
                ])
                .says(replanned),
        )
        .with(
            work(2)
                .writes("sums/sub.py", &format!("# b is taken from a.\n{SUB}"))
                .given(&["sub does not subtract", "VER-1", "Subtraction is like addition.", "AC-1"])
                .says(second),
        )
        .with(
            role("verifier")
                .task("task-1")
                .round(2)
                .given(&[
                    "VER-1",
                    "sub does not subtract",
                    "The operands were the wrong way round.",
                    "# b is taken from a.",
                ])
                .says(verified("task-1", "met")),
        )
        .with(
            role("reviewer")
                .phase("code-review")
                .item("correctness")
                .round(1)
                .given(&[
                    "The work of task-1",
                    "One module a function",
                    "The operands were the wrong way round.",
                    "unittest",
                ])
                .says(review("code", "correctness", "approve", &[])),
        )
        .with(
            role("knowledge")
                .round(1)
                .given(&[
                    "add is one function",
                    "The sign is decided here.",
                    "The same task, once more.",
                    "The operands were the wrong way round.",
                    "The code from security.",
                    "# b is taken from a.",
                    "unittest",
                ])
                .says(json!({"verdict": "done", "summary": "Nothing new."})),
        )
}

/// A task that cannot be tested, signed off, and sent back by the final review to the maker.
pub fn issue() -> Script {
    let reason = json!({
        "verdict": "not-testable", "hypothesis": "Nothing can be observed from outside.", "changes": [],
        "open": ["The sums cannot be given from outside."],
        "findings": [issue_finding("T-1", "test", "sums/add.py", "No sum can be observed.")],
    });
    let agreed = json!({"verdict": "agreed", "summary": "There is no test worth its price.", "checked": ["all of it"]});
    let odd = issue_finding("F-1", "production", "sums/sub.py", "It is odd.");
    one_task()
        .with(role("plan/split").says(split(&[subtraction()], false)))
        .with(role("test").says(reason))
        .with(
            role("check/sign-off")
                .round(1)
                .given(&[
                    "Nothing can be observed from outside.",
                    "The sums cannot be given from outside.",
                    "No sum can be observed.",
                ])
                .says(agreed),
        )
        .with(
            role("make")
                .round(1)
                .given(&["There is no test worth its price.", "Nothing can be observed from outside."])
                .writes("sums/sub.py", SUB)
                .says(issue_script::made("Take b from a.")),
        )
        .with(role("check/code").round(1).given(&["Take b from a."]).says(reviewed("needs-work", &[odd])))
        .with(
            role("make")
                .round(2)
                .given(&["It is odd.", "Line 1 of it.", "Take b from a."])
                .writes("sums/sub.py", &format!("# Sums.\n{SUB}"))
                .says(issue_script::made("The other way.")),
        )
        .with(
            role("check/code")
                .round(2)
                .given(&["F-1", "It is odd.", "The other way.", "+# Sums."])
                .says(reviewed("acceptable", &[])),
        )
}

/// A defect of planning and design, and one of code, all found in code review.
pub fn tsp() -> Script {
    let units = [unit("unit-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[])];
    let found = [
        injected("CR-1", &["planning", "design"], "Nobody says which is taken from which."),
        injected("CR-2", &["code"], "sub takes a from b."),
    ];
    let mut replanned = plan(&units);
    replanned["summary"] = json!("The plan says which is taken from which.");
    let wrong = "def sub(a, b):\n    return b - a\n";
    let mut second = implemented("");
    second["hypothesis"] = json!("The operands were the wrong way round.");
    Script::tsp(&units)
        .with(role("tsp-coder").round(1).writes("sums/sub.py", wrong).says(implemented("")))
        .with(
            role("tsp-code-reviewer")
                .round(1)
                .given(&["Subtraction is like addition."])
                .says(assessment("fail", &found)),
        )
        .with(
            role("tsp-planner")
                .round(2)
                .given(&[
                    "What is to be done.",
                    "unit-1",
                    "Nobody says which is taken from which.",
                    "As it looks.",
                ])
                .says(replanned),
        )
        .with(
            role("tsp-designer")
                .round(2)
                .given(&["Plain integers", "A module beside add.", "Nobody says which is taken from which."])
                .says(revised_design()),
        )
        .with(
            role("tsp-coder")
                .round(2)
                .given(&[
                    "sub takes a from b.",
                    "CR-2",
                    "Subtraction is like addition.",
                    "The sign is decided here.",
                ])
                .writes("sums/sub.py", SUB)
                .says(second),
        )
        .with(
            role("tsp-code-reviewer")
                .round(2)
                .given(&[
                    "CR-1",
                    "CR-2",
                    "sub takes a from b.",
                    "The operands were the wrong way round.",
                    "+    return a - b",
                ])
                .says(assessment("pass", &[])),
        )
}

// HO-01 HO-02 HO-03 HO-04 CORE-23 EP-10 EP-20 EP-22 EP-33
#[test]
fn in_feature_every_role_gets_the_reports_the_reasons_and_its_own_work() {
    let place = Place::new();
    let shown = place.feature(&feature(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    kept_what_passed(&place);
}

/// A report of the test role that gives up, with its reason in words and in a finding.
fn given_up(verdict: &str, reason: &str, claim: &str) -> Value {
    json!({
        "verdict": verdict, "hypothesis": reason, "changes": [],
        "findings": [issue_finding("T-1", "test", "sums/sub.py", claim)],
    })
}

fn assert_issue_done(script: &Script) {
    let place = issue_script::place();
    let shown = issue_script::run(&place, "ABC-1", script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// OT-14 HO-02
#[test]
fn the_role_that_adds_a_seam_is_given_the_reason_and_the_test_role_learns_of_the_seam() {
    let missing = given_up("missing-seam", "The operands come from nowhere.", "sub has no way in.");
    let mut seam = issue_script::made("The operands are arguments now.");
    seam["changes"][0]["what"] = json!("a way in");
    let reason = ["The operands come from nowhere.", "sub has no way in."];
    let tester = role("test").round(2).given(&["The operands are arguments now.", "a way in", reason[0]]);
    let script = one_task()
        .with(role("test").round(1).says(missing))
        .with(
            role("make/seam")
                .given(&reason)
                .writes("sums/sub.py", &format!("# A way in.\n{}", issue_script::STUB))
                .says(seam),
        )
        .with(
            tester
                .writes("tests/test_sub.py", issue_script::TEST)
                .says(issue_script::tested("ready", "stub")),
        );
    assert_issue_done(&script);
}

// OT-14 HO-02
#[test]
fn the_role_that_edits_a_task_is_given_the_diagnosis_and_why_it_could_not_be_tested() {
    let blocked = given_up("blocked", "The task contradicts itself.", "AC-1 says two things.");
    let reason = ["The task contradicts itself.", "AC-1 says two things."];
    let cause = json!({
        "verdict": "task", "cause": "The order is not stated.", "evidence": "AC-1 of the task.",
        "notes": "State which is taken from which.",
    });
    let mut edited = subtraction();
    edited["acceptance_criteria"][0]["text"] = json!("b is taken from a.");
    let edit = role("plan/task").given(&[
        reason[0],
        reason[1],
        "The order is not stated.",
        "State which is taken from which.",
        "Subtract, in a module of its own.",
    ]);
    let script = one_task()
        .with(role("test").round(1).says(blocked))
        .with(role("check/blocked").given(&reason).says(cause))
        .with(edit.says(split(&[edited], true)))
        .with(
            role("test")
                .round(2)
                .given(&["b is taken from a.", "State which is taken from which."])
                .writes("tests/test_sub.py", issue_script::TEST)
                .says(issue_script::tested("ready", "stub")),
        );
    assert_issue_done(&script);
}

// OT-16 HO-02
#[test]
fn make_is_dispatched_again_with_its_own_hint_and_the_notes_of_the_diagnosis() {
    let hint = json!({
        "verdict": "incomplete", "hypothesis": "The test may be wrong.",
        "changes": [{"file": "sums/sub.py", "what": "sub"}], "open": ["It asserts one."],
    });
    let cause = json!({
        "verdict": "production-logic", "cause": "The operands are swapped.", "evidence": "sub(3, 2) is minus one.",
        "notes": "Look at the order of the operands.",
    });
    let script = one_task()
        .with(role("make").round(1).writes("sums/sub.py", "def sub(a, b):\n    return b - a\n").says(hint))
        .with(role("check/diagnosis").given(&["The test may be wrong.", "It asserts one."]).says(cause))
        .with(
            role("make")
                .round(2)
                .given(&[
                    "The test may be wrong.",
                    "The operands are swapped.",
                    "sub(3, 2) is minus one.",
                    "Look at the order of the operands.",
                ])
                .writes("sums/sub.py", SUB)
                .says(issue_script::made("The other way round.")),
        );
    assert_issue_done(&script);
}

// OT-09 HO-01 HO-02
#[test]
fn the_plan_of_round_two_is_an_edit_of_the_first_and_knows_each_review() {
    let mixed = issue_finding("S-1", "plan", "plan", "The plan mixes subtraction with names.");
    let vague = issue_finding("P-1", "plan", "plan", "Negative numbers are not mentioned.");
    let mut not_yet = issue_script::acceptable();
    not_yet["verdict"] = json!("needs-work");
    not_yet["findings"] = json!([vague]);
    let split_review = issue_script::split_reviewed("block", "not-met", &[mixed]);
    let script = issue_script::three_tasks()
        .with(role("check").round(1).says(not_yet))
        .with(
            role("plan")
                .round(2)
                .given(&["Subtract and multiply.", "Negative numbers are not mentioned.", "P-1"])
                .says(issue_script::plan("Subtract and multiply, negative numbers too.")),
        )
        .with(
            role("check")
                .round(2)
                .given(&[
                    "P-1",
                    "since then, `plan` changed:",
                    "-    Subtract and multiply.",
                    "+    Subtract and multiply, negative numbers too.",
                ])
                .says(issue_script::acceptable()),
        )
        .with(role("check/split").round(1).says(split_review))
        .with(
            role("plan")
                .round(3)
                .given(&[
                    "Subtract and multiply, negative numbers too.",
                    "The plan mixes subtraction with names.",
                    "S-1",
                ])
                .says(issue_script::plan("First one, then the other.")),
        )
        .with(role("check").round(3).given(&["First one, then the other."]).says(issue_script::acceptable()));
    assert_issue_done(&script);
}

// HO-04
#[test]
fn the_final_review_is_given_the_criteria_and_signatures_of_the_task() {
    let reviewer = role("check/code").given(&["It does.", "def sub(a, b)", "plain integers"]);
    assert_issue_done(&one_task().with(reviewer.says(reviewed("acceptable", &[]))));
}

// HO-01 HO-02 HO-03
#[test]
fn in_issue_every_role_gets_the_reports_the_reasons_and_its_own_work() {
    let place = issue_script::place();
    let shown = issue_script::run(&place, "ABC-1", &issue());
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// HO-01 HO-02 HO-03 PF-04
#[test]
fn in_tsp_every_role_gets_the_reports_the_reasons_and_its_own_work() {
    let place = Place::new();
    let shown = place.tsp(&tsp());
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// HO-02 HO-03 CORE-23
#[test]
fn in_quick_the_reviewer_gets_its_earlier_finding_with_the_reason_of_the_dispute() {
    let place = Place::new();
    let order = finding("R1", "major", "sub takes its operands in the wrong order.");
    let comment = finding("R2", "major", "sub has no comment.");
    let mut disputed = implemented("");
    disputed["changes"] = json!([{"file": "sums/sub.py", "what": "a comment", "why": "R2"}]);
    disputed["disputes"] = json!([{"finding": "R1", "reason": "The request names them in this order."}]);
    let script = Script::quick()
        .with(role("reviewer").round(1).says(review("code", "general", "needs-revision", &[order, comment])))
        .with(
            role("implementer")
                .round(2)
                .given(&["sub takes its operands in the wrong order.", "Subtraction is like addition."])
                .writes("sums/sub.py", &format!("# b is taken from a.\n{SUB}"))
                .says(disputed),
        )
        .with(
            role("reviewer")
                .round(2)
                .given(&[
                    "R1",
                    "sub takes its operands in the wrong order.",
                    "disputes it: The request names them in this order.",
                ])
                .says(review("code", "general", "approve", &[])),
        );
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let bundle = place.remand(&["evidence"]).out;
    assert!(bundle.contains("Findings: 2 found, 1 fixed, 1 withdrawn."), "{bundle}");
}

// HO-03
#[test]
fn a_third_review_has_the_hunks_that_answer_its_findings_and_those_still_open_since_the_first() {
    let place = Place::new();
    let units = [unit("unit-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[])];
    let found = |id: &str, claim: &str| [injected(id, &["code"], claim)];
    let coder = |round: u32, comment: &str| {
        let mut report = implemented("");
        report["hypothesis"] = json!(format!("It needs {comment}."));
        role("tsp-coder").round(round).writes("sums/sub.py", &format!("# {comment}\n{SUB}")).says(report)
    };
    let reviewer = |round: u32| role("tsp-code-reviewer").round(round);
    let script = Script::tsp(&units)
        .with(reviewer(1).says(assessment("fail", &found("CR-1", "Nobody says what happens to strings."))))
        .with(coder(2, "a first comment"))
        .with(
            reviewer(2)
                .given(&["CR-1", "since then, `sums/sub.py` changed:", "    +# a first comment"])
                .says(assessment("fail", &found("CR-2", "The operands have no names."))),
        )
        .with(coder(3, "a second comment"))
        .with(
            reviewer(3)
                .given(&[
                    "CR-2",
                    "    +# a second comment",
                    "Your findings of earlier rounds that are still open:",
                    "Nobody says what happens to strings.",
                ])
                .says(assessment("pass", &[])),
        );
    let shown = place.tsp(&script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// HO-02
#[test]
fn a_retry_after_a_malformed_result_gets_the_result_that_was_refused() {
    let place = Place::new();
    let mut refused = review("code", "general", "approve", &[]);
    refused["summary"] = json!("All of it was read.");
    refused["verdict"] = json!("splendid");
    let script = Script::quick().with(role("reviewer").attempt(1).says(refused)).with(
        role("reviewer")
            .attempt(2)
            .given(&["your-refused-result.yaml", "splendid", "All of it was read."])
            .says(review("code", "general", "approve", &[])),
    );
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// HO-08
#[test]
fn an_agent_that_was_not_given_what_it_needs_gives_up_and_names_it() {
    let place = Place::new();
    let script = Script::quick().with(
        role("reviewer").round(1).given(&["words that nobody said"]).says(review("code", "", "approve", &[])),
    );
    let shown = place.quick(&script, &[]);
    assert_ne!(shown.code, 0, "{}{}", shown.out, shown.err);
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    let failed = rows.iter().rfind(|row| row.role == "reviewer").expect("a reviewer");
    assert_eq!(failed.failure.as_deref(), Some("crashed"), "{failed:?}");
    // The words themselves would reach the next attempt with the reason of the failure.
    assert!(
        failed.detail.as_deref().is_some_and(|it| it.contains("not given number 1 of the 1 texts")),
        "{failed:?}"
    );
}

// HO-09
#[test]
fn a_brief_says_everything_once_in_sentences_and_its_size_is_recorded() {
    let place = Place::new();
    let shown = place.feature(&feature(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest().run;
    let rows = place.reader().dispatches(&run).expect("dispatches");
    let designer = rows.iter().rfind(|row| row.role == "designer").expect("a designer");
    let prompt = place.prompt(&run, &designer.command);
    assert_eq!(prompt.matches("The design does not say which is taken from which.").count(), 2, "{prompt}");
    assert!(prompt.find("## What happened") < prompt.find("## What you may change"), "{prompt}");
    assert!(prompt.find("## What you may change") < prompt.find("## Your earlier work"), "{prompt}");
    let reviewer = rows.iter().rfind(|row| row.phase == "code-review").expect("a reviewer");
    let evidence = place.brief_part(&run, &reviewer.command, "evidence.md").expect("evidence");
    assert!(evidence.contains("passed, 2 tests"), "{evidence}");
    assert!(!evidence.contains("null") && evidence.len() < 2_000, "{evidence}");
    let costs = place.remand(&["costs", "--briefs", "--by", "phase", "--json"]);
    let costs: Value = serde_json::from_str(&costs.out).expect("pure JSON");
    let rows = costs["rows"].as_array().expect("rows");
    let review = rows.iter().find(|row| row["name"] == "code-review").expect("the review");
    assert_eq!(review["dispatches"], 3, "{review}");
    for section in ["Instructions", "Material", "Evidence"] {
        assert!(review["bytes"][section].as_u64().is_some_and(|bytes| bytes > 0), "{section}: {review}");
    }
    let table = place.remand(&["costs", "--briefs"]);
    assert!(table.out.contains("instructions") && table.out.contains("knowledge"), "{}", table.out);
}

// HO-09
#[test]
fn the_briefs_of_the_demonstrations_meet_their_goals() {
    let shown = Place::new().remand(&["bench", "briefs"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert!(shown.out.contains("11 of 11 goals met"), "{}", shown.out);
}
