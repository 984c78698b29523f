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

/// A design that is sent back once, and a task whose first version is refused by the verifier.
pub fn feature() -> Script {
    let tasks = [task("task-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[])];
    let sign = finding("ARCH-1", "major", "The design does not say which is taken from which.");
    let reviewer =
        |phase: &str, item: &str, round: u32| role("reviewer").phase(phase).item(item).round(round);
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
    Script::feature(&tasks)
        .with(reviewer("design-review", "architecture", 1).says(review(
            "design",
            "architecture",
            "needs-revision",
            std::slice::from_ref(&sign),
        )))
        .with(reviewer("design-review", "security", 1).says(review(
            "design",
            "security",
            "needs-revision",
            &[sign],
        )))
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
            reviewer("design-review", "architecture", 2)
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
    });
    let agreed = json!({"verdict": "agreed", "summary": "There is no test worth its price.", "checked": ["all of it"]});
    let odd = issue_finding("F-1", "production", "sums/sub.py", "It is odd.");
    one_task()
        .with(role("plan/split").says(split(&[subtraction()], false)))
        .with(role("test").says(reason))
        .with(
            role("check/sign-off")
                .round(1)
                .given(&["Nothing can be observed from outside.", "The sums cannot be given from outside."])
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
fn in_feature_everybody_gets_the_words_the_reasons_and_its_own_work() {
    let place = Place::new();
    let shown = place.feature(&feature(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// HO-01 HO-02 HO-03 OT-09 OT-14 OT-16
#[test]
fn in_issue_everybody_gets_the_words_the_reasons_and_its_own_work() {
    let place = issue_script::place();
    let shown = issue_script::run(&place, "ABC-1", &issue());
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// HO-01 HO-02 HO-03 PF-04
#[test]
fn in_tsp_everybody_gets_the_words_the_reasons_and_its_own_work() {
    let place = Place::new();
    let shown = place.tsp(&tsp());
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
