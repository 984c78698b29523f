//! Work on an issue that is sent back: a plan, badly designed tests, code with a fix task or a patch.

use crate::issue_script::{
    OTHER, TEST, acceptable, artifact, commits, finding, made, on_branch, one_task, operation_results,
    others, place, place_with, plan, reviewed, run, split, split_reviewed, subtraction, task, tested,
    three_tasks,
};
use crate::place::Place;
use crate::rehearsed::{SUB, role};
use serde_json::{Value, json};

fn says(verdict: &str, findings: &[Value]) -> Value {
    json!({"verdict": verdict, "summary": "Not like this.", "checked": ["all of it"], "findings": findings})
}

pub fn diagnosis(verdict: &str, kind: &str) -> Value {
    json!({
        "verdict": verdict, "cause": "The test wants the wrong thing.", "evidence": "It asserts 2.",
        "notes": "sub(3, 2) is 1.", "findings": [finding("D-1", kind, "tests/test_sub.py", "It asserts 2")],
    })
}

// OT-09 OT-10 OT-11
#[test]
fn a_reworked_plan_withdraws_its_issues_and_files_new_ones_with_other_ids() {
    let place = place();
    let [second, _] = others();
    let third = task("task-3", "Divide", &["sums/div.py"], &[], &[]);
    let script = three_tasks()
        .with(
            role("check/code")
                .round(1)
                .says(reviewed("block", &[finding("P-1", "plan", "plan", "Powers are not asked for")])),
        )
        .with(
            role("plan")
                .round(2)
                .runs("test ! -e sums/sub.py && test ! -e tests/test_sub.py")
                .says(plan("Without powers.")),
        )
        .with(role("plan/split").round(2).says(split(&[subtraction(), second, third], true)));
    let shown = run(&place, "ABC-1", &script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(operation_results(&place, "file-rest"), ["filed", "filed"]);
    assert_eq!(
        commits(&place).last().map(String::as_str),
        Some("chore(todo): ABC-1 is In Progress, ABC-5 ABC-6 filed")
    );
    assert_eq!(commits(&place)[0], "feat: scaffold ABC-1: More sums");
    let names = place.git(&["ls-tree", "--name-only", &place.latest().branch, "TODO/"]);
    assert_eq!(names, "TODO/ABC-1.md\nTODO/ABC-2.md\nTODO/ABC-5.md\nTODO/ABC-6.md\nTODO/README.md\n");
    assert!(!on_branch(&place, "TODO/ABC-1.md").contains("ABC-3"));
    let log = place.remand(&["log"]).out;
    assert!(log.contains("withdrew ABC-3, ABC-4"), "{log}");
}

// OT-10 OT-13
#[test]
fn a_reworked_plan_with_the_same_tasks_keeps_its_stubs() {
    let place = place();
    let unclear = reviewed("block", &[finding("P-1", "plan", "plan", "The plan does not say why")]);
    let script = three_tasks()
        .with(role("check/code").round(1).says(unclear))
        .with(role("plan").round(2).says(plan("The same, with the reason.")));
    let shown = run(&place, "ABC-1", &script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(operation_results(&place, "check-stubs"), ["sound", "sound"]);
    assert_eq!(commits(&place)[..2], ["feat: scaffold ABC-1: More sums", "feat: implement ABC-1: More sums"]);
}

// OT-06
#[test]
fn the_third_review_of_a_plan_is_its_third_round_whatever_the_advisor_said() {
    let place = place();
    let vague = |round: u32, claim: &str| {
        role("check")
            .round(round)
            .says(says("needs-work", &[finding(&format!("P-{round}"), "plan", "plan", claim)]))
    };
    let script = three_tasks()
        .with(vague(1, "No word about negative numbers"))
        .with(vague(2, "Which module is it in?"))
        .with(role("plan").round(2).says(plan("With negative numbers.")))
        .with(role("plan").round(3).says(plan("With negative numbers, in a module.")));
    let shown = run(&place, "ABC-1", &script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let reader = place.reader();
    let rows = reader.dispatches(&place.latest().run).expect("dispatches");
    let reviews = rows.iter().filter(|row| row.phase == "plan-review" && row.role == "check");
    let prompts = reviews.map(|row| reader.blob(row.prompt.expect("a prompt")).expect("a blob"));
    let prompts: Vec<String> = prompts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect();
    assert_eq!(prompts.len(), 3);
    for (round, prompt) in (1..).zip(&prompts) {
        assert!(
            prompt.contains(&format!("Phase `plan-review` of the workflow `issue`, round {round}.")),
            "{prompt}"
        );
    }
}

// OT-09 OT-10
#[test]
fn a_split_that_is_blocked_changes_the_plan_once_and_then_fails_naming_the_signal() {
    let place = place();
    let block = |id: &str, claim: &str| {
        split_reviewed("block", "not-met", &[finding(id, "plan", &format!("task {id}"), claim)])
    };
    let script = three_tasks()
        .with(role("check/split").says(block("S-1", "The plan mixes subtraction with names")))
        .with(role("check/split").round(2).says(block("S-2", "Nobody could test the second task")))
        .with(role("plan").round(2).says(plan("First one, then the other.")));
    let shown = run(&place, "ABC-1", &script);
    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    assert_eq!(
        place.latest().outcome(),
        "failed: split-review ended with block, and budget plan-rework is used up"
    );
    assert!(artifact(&place, "summary").contains("with plan-rework exhausted"));
    assert!(
        on_branch(&place, "TODO/ABC-1.md")
            .contains("The run failed at split-review: block, with plan-rework exhausted.")
    );
}

// OT-08
#[test]
fn a_review_of_a_split_answers_all_six_questions_or_is_asked_for_again() {
    let place = place();
    let mut five = split_reviewed("acceptable", "met", &[]);
    five["criteria"].as_array_mut().expect("answers").remove(3);
    let shown = run(&place, "ABC-1", &three_tasks().with(role("check/split").attempt(1).says(five)));
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    let reviews: Vec<_> = rows.iter().filter(|row| row.role == "check/split").collect();
    assert_eq!(reviews.len(), 2, "{reviews:?}");
    assert_eq!(reviews[0].failure.as_deref(), Some("malformed"));
    let detail = reviews[0].detail.as_deref().unwrap_or_default();
    assert!(detail.contains("a judgement of every criterion, found none for contracts"), "{detail}");
}

// OT-16
#[test]
fn wrong_tests_are_redesigned_without_the_code_that_failed_them() {
    let place = place();
    let wrong = TEST.replace("module.sub(3, 2), 1", "module.sub(3, 2), 2");
    let script = three_tasks()
        .with(role("test").round(1).writes("tests/test_sub.py", &wrong).says(tested("ready", "stub")))
        .with(role("make").round(1).writes("sums/sub.py", "def sub(a, b):\n    return 2\n").says(json!({
            "verdict": "incomplete", "hypothesis": "The test cannot be right.", "changes": [{"file": "sums/sub.py", "what": "sub"}],
        })))
        .with(role("check/diagnosis").says(diagnosis("test-design", "test")))
        // The next tester and the next maker get the stub without the code of make.
        .with(role("test").round(2).runs("grep -q NotImplementedError sums/sub.py").writes("tests/test_sub.py", TEST).says(tested("ready", "stub")))
        .with(role("make").round(2).runs("grep -q NotImplementedError sums/sub.py").writes("sums/sub.py", SUB).says(made("Subtract.")));
    let shown = run(&place, "ABC-1", &script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(operation_results(&place, "red"), ["red", "red"]);
    assert_eq!(on_branch(&place, "sums/sub.py"), SUB);
    assert_eq!(on_branch(&place, "tests/test_sub.py"), TEST);
}

// OT-17
#[test]
fn production_findings_go_to_make_as_a_fix_task_and_the_change_is_verified_again() {
    let place = place();
    let script =
        one_task()
            .with(role("check/code").round(1).says(reviewed(
                "needs-work",
                &[finding("F-1", "production", "sums/sub.py", "No word about it")],
            )))
            .with(
                role("make")
                    .round(2)
                    .runs("true")
                    .writes("sums/sub.py", &format!("\"\"\"Sums.\"\"\"\n\n\n{SUB}"))
                    .says(made("With words.")),
            );
    let shown = run(&place, "ABC-1", &script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(operation_results(&place, "fix"), ["written"]);
    assert_eq!(operation_results(&place, "green"), ["passed", "passed"]);
    assert!(artifact(&place, "task-fix").starts_with("# Fix task 1\n"));
    assert!(on_branch(&place, "sums/sub.py").starts_with("\"\"\"Sums.\"\"\""));
}

// OT-17
#[test]
fn a_cosmetic_patch_is_applied_by_the_engine_only_if_the_syntax_stays() {
    let patch = |line: &str| {
        format!(
            "--- a/sums/sub.py\n+++ b/sums/sub.py\n@@ -1,2 +1,3 @@\n+{line}\n def sub(a, b):\n     return a - b\n"
        )
    };
    let cosmetic = |line: &str| {
        let mut found = finding("C-1", "cosmetic", "sums/sub.py", "It wants a comment");
        found["patch"] = json!(patch(line));
        role("check/code").round(1).says(reviewed("needs-work", &[found]))
    };
    let place = place();
    let shown = run(&place, "ABC-1", &one_task().with(cosmetic("# Takes b from a.")));
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(
        (operation_results(&place, "polish"), operation_results(&place, "green").len()),
        (vec!["applied".to_string()], 2)
    );
    assert_eq!(on_branch(&place, "sums/sub.py"), format!("# Takes b from a.\n{SUB}"));
    let makes = |place: &Place| {
        let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
        rows.iter().filter(|row| row.role == "make").count()
    };
    assert_eq!(makes(&place), 1);

    let other = place_with(&[]);
    let again =
        role("make").round(2).writes("sums/sub.py", &format!("# Sub.\n{SUB}")).says(made("A comment."));
    let shown = run(&other, "ABC-1", &one_task().with(cosmetic("import os")).with(again));
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!((operation_results(&other, "polish"), makes(&other)), (vec!["not-cosmetic".to_string()], 2));
    assert_eq!(on_branch(&other, "sums/sub.py"), format!("# Sub.\n{SUB}"));
}

// OT-02 OT-17 CORE-05
#[test]
fn a_patch_of_the_tracker_or_of_the_engines_files_is_not_cosmetic() {
    let status = "--- a/TODO/ABC-2.md\n+++ b/TODO/ABC-2.md\n@@ -1,3 +1,3 @@\n ---\n-status: Todo\n+status: Done\n ---\n";
    let words = "--- a/.remand/words.md\n+++ b/.remand/words.md\n@@ -1 +1 @@\n-Look.\n+Nod.\n";
    for (patch, file) in [(status, "TODO/ABC-2.md"), (words, ".remand/words.md")] {
        let place = place_with(&[(".remand/words.md", "Look.\n")]);
        let mut found = finding("C-1", "cosmetic", file, "It reads badly");
        found["patch"] = json!(patch);
        let script =
            one_task().with(role("check/code").round(1).says(reviewed("needs-work", &[found]))).with(
                role("make")
                    .round(2)
                    .writes("sums/sub.py", &format!("# Sub.\n{SUB}"))
                    .says(made("A comment.")),
            );
        let shown = run(&place, "ABC-1", &script);
        assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
        assert_eq!(operation_results(&place, "polish"), ["not-cosmetic"], "{file}");
        assert!(place.remand(&["log"]).out.contains("writers of code may not change"));
        assert_eq!(on_branch(&place, "TODO/ABC-2.md"), OTHER);
        assert_eq!(on_branch(&place, ".remand/words.md"), "Look.\n");
    }
}

// OT-20
#[test]
fn a_final_review_that_names_no_criterion_ticks_none_despite_earlier_reviews() {
    let place = place();
    let script =
        one_task()
            .with(role("check/code").says(acceptable()))
            .with(role("check/code").round(1).says(reviewed(
                "needs-work",
                &[finding("F-1", "production", "sums/sub.py", "No word about it")],
            )))
            .with(
                role("make")
                    .round(2)
                    .writes("sums/sub.py", &format!("\"\"\"Sums.\"\"\"\n\n\n{SUB}"))
                    .says(made("With words.")),
            );
    let shown = run(&place, "ABC-1", &script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let issue = on_branch(&place, "TODO/ABC-1.md");
    assert!(issue.contains("status: In Progress\n") && issue.contains("- [ ] AC-1:"), "{issue}");
    assert!(!issue.contains("[x] AC-"), "{issue}");
}

// OT-14 OT-18 OT-19
#[test]
fn a_task_without_tests_is_signed_off_written_down_reviewed_and_its_seam_is_filed() {
    let place = place();
    let reason = json!({
        "verdict": "not-testable", "hypothesis": "Nothing can be observed from outside.", "changes": [],
        "open": ["Let the sums be given from outside"],
        "findings": [finding("T-1", "test", "sums/add.py", "No sum can be observed")],
    });
    let agreed = json!({"verdict": "agreed", "summary": "There is no test worth its price.", "checked": ["all of it"]});
    let script = one_task()
        .with(role("plan/split").says(split(&[subtraction()], false)))
        .with(role("test").says(reason))
        .with(role("check/sign-off").says(agreed));
    let shown = run(&place, "ABC-1", &script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let manifest = artifact(&place, "manifest");
    for part in
        ["## task-1 Subtract", "Nothing can be observed from outside.", "There is no test worth its price."]
    {
        assert!(manifest.contains(part), "{manifest}");
    }
    // Both the final reviewer and the maker get it.
    assert_eq!(super::inputs(&place, "manifest.md"), vec![manifest.into_bytes(); 3]);
    let names = place.git(&["grep", "-l", "tech-debt", &place.latest().branch, "--", "TODO"]);
    assert_eq!(names.lines().count(), 1, "{names}");
    assert_eq!(place.latest().confidence, "medium");
}

// OT-18
#[test]
fn a_rejected_entry_of_the_manifest_leads_to_a_test() {
    let place = place();
    let reason = json!({
        "verdict": "not-testable", "hypothesis": "Nothing can be observed from outside.", "changes": [],
        "findings": [finding("T-1", "test", "sums/add.py", "No sum can be observed")],
    });
    let agreed = json!({"verdict": "agreed", "summary": "No test is worth it.", "checked": ["all of it"]});
    let rejected = finding("M-1", "test", "manifest.md", "The result of sub can be observed");
    let script = one_task()
        .with(role("test").round(1).says(reason))
        .with(role("check/sign-off").says(agreed))
        .with(role("check/code").round(1).says(reviewed("needs-work", &[rejected])))
        .with(role("check/diagnosis").says(diagnosis("test-design", "test")));
    let shown = run(&place, "ABC-1", &script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    let phases: Vec<&str> = rows.iter().map(|row| row.phase.as_str()).collect();
    let reviewed = phases.iter().position(|phase| *phase == "final-review").expect("a review");
    let after: Vec<&str> =
        phases[reviewed..].iter().copied().filter(|phase| *phase != "final-review").collect();
    assert_eq!(after, ["diagnosis", "test", "make"]);
    let findings = super::inputs(&place, "findings-to-answer.md");
    let given = findings.iter().map(|text| String::from_utf8_lossy(text));
    assert!(given.into_iter().any(|text| text.contains("The result of sub can be observed")));
    assert_eq!(on_branch(&place, "tests/test_sub.py"), TEST);
}

// OT-19
#[test]
fn leftover_findings_are_filed_by_label_and_advice_is_not() {
    let place = place();
    let mut older = finding("B-1", "production", "sums/add.py", "add does not refuse texts");
    older["severity"] = json!("minor");
    let stubborn = finding("F-1", "production", "sums/sub.py", "It has no example of its use");
    let advice =
        says("needs-work", &[finding("A-1", "production", "sums/sub.py", "One function less would do")]);
    let script = one_task()
        .with(role("check/code").says(reviewed("needs-work", &[older, stubborn])))
        .with(
            role("make").round(2).writes("sums/sub.py", &format!("# Once.\n{SUB}")).says(made("A comment.")),
        )
        .with(
            role("make")
                .round(3)
                .writes("sums/sub.py", &format!("# Twice.\n{SUB}"))
                .says(made("Another comment.")),
        )
        .with(role("simplify").phase("final-review").says(advice));
    let shown = run(&place, "ABC-1", &script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let filed = |label: &str, words: &str| {
        let names = place.git(&[
            "grep",
            "-l",
            &format!("labels: \\[{label}\\]"),
            &place.latest().branch,
            "--",
            "TODO",
        ]);
        names.lines().any(|name| place.git(&["show", name]).contains(words))
    };
    assert!(filed("bug", "add does not refuse texts"));
    assert!(filed("followup", "It has no example of its use"));
    assert_eq!(place.latest().confidence, "low");
    let summary = artifact(&place, "summary");
    assert!(
        summary.contains("## Open blockers") && summary.contains("One function less would do"),
        "{summary}"
    );
    let all = place.git(&["grep", "-c", "", &place.latest().branch, "--", "TODO"]);
    assert!(!all.contains("One function"), "advice is never filed");
}
