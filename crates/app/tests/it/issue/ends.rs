//! Runs on issues that fail or are cancelled: the state of the tracker, and the discarded work.

use crate::issue_script::{
    ISSUE, arguments, artifact, commits, finding, made, on_branch, place, place_with, run, three_tasks,
};
use crate::place::Place;
use crate::rehearsed::{Script, role};
use crate::three_tasks::await_some;
use remand_ledger::Reader;
use serde_json::json;

/// One commit on the base, with the issue and nothing else; the checkout is untouched and the trees are gone.
fn assert_only_the_issue_is_left(place: &Place) {
    let branch = place.latest().branch;
    assert_eq!(commits(place).len(), 1, "{:?}", commits(place));
    assert_eq!(place.git(&["rev-parse", &format!("{branch}~1")]), place.git(&["rev-parse", "work"]));
    assert_eq!(place.git(&["diff", "--name-only", "work", &branch]), "TODO/ABC-1.md\n");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    assert_eq!(place.git(&["worktree", "list"]).lines().count(), 1);
    let take = format!("git cherry-pick {branch}");
    assert!(artifact(place, "summary").contains(&take));
    place.git(&["cherry-pick", &branch]);
}

/// The diagnosis finds that the task is too large, which ends the run.
fn too_large() -> Script {
    let diagnosis = json!({
        "verdict": "split-needed", "cause": "Subtraction and rounding are two tasks.", "evidence": "All attempts.",
        "notes": "Plan rounding by itself.", "findings": [finding("D-1", "plan", "plan", "Two tasks in one")],
    });
    three_tasks()
        .with(role("make").says(json!({"verdict": "incomplete", "hypothesis": "Too much.", "changes": []})))
        .with(role("check/diagnosis").says(diagnosis))
}

// OT-16 OT-21
#[test]
fn a_task_that_is_too_large_ends_the_run_with_a_comment_and_the_status_todo() {
    let begun = ISSUE.replace("status: Todo", "status: In Progress");
    let place = place_with(&[("TODO/ABC-1.md", &begun)]);
    let shown = run(&place, "ABC-1", &too_large());
    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    let text = on_branch(&place, "TODO/ABC-1.md");
    let run = place.latest().run;
    assert!(text.starts_with(ISSUE), "{text}");
    for part in [
        format!("run {run}\n"),
        "The run failed at diagnosis: split-needed.".to_string(),
        "Subtraction and rounding are two tasks.".to_string(),
    ] {
        assert!(text.contains(&part), "{part} is not in {text}");
    }
    assert_only_the_issue_is_left(&place);
}

// OT-21
#[test]
fn a_commit_with_only_a_comment_does_not_claim_a_status() {
    let own = std::fs::read_to_string(crate::root().join("workflows/issue.yaml")).expect("issue");
    let all = "failure: [comment-issue, back-to-todo, discard-work-tree]";
    let own = own.replace(all, "failure: [comment-issue]");
    let begun = ISSUE.replace("status: Todo", "status: In Progress");
    let place = place_with(&[("TODO/ABC-1.md", &begun), (".remand/workflows/issue.yaml", &own)]);
    let shown = run(&place, "ABC-1", &too_large());
    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    assert!(on_branch(&place, "TODO/ABC-1.md").contains("\nstatus: In Progress\n"));
    assert_eq!(commits(&place), ["chore(todo): comment on ABC-1: failed at diagnosis: split-needed"]);
}

// OT-21
#[test]
fn a_cancelled_run_leaves_the_same_state() {
    let place = place();
    let go = place.visible_file("go");
    let wait = format!("while [ ! -e '{}' ]; do sleep 0.05; done", go.display());
    let script = three_tasks().with(role("make").runs(&wait).says(made("Never.")));
    let words = arguments(&place, "ABC-1", &script);
    let driving = place.start(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let row = await_some("make", || {
        let ledger = place.state().read_dir().ok()?.flatten().next()?.path().join("ledger.db");
        let row = Reader::open(&ledger).ok()?.latest().ok()??;
        (row.place == "make").then_some(row)
    });
    let shown = place.remand(&["cancel", &row.run.0]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let ended = driving.wait_with_output().expect("an end");
    assert_eq!(ended.status.code(), Some(4), "{ended:?}");
    let text = on_branch(&place, "TODO/ABC-1.md");
    assert!(text.contains("The run cancelled by "), "{text}");
    assert!(text.contains("\nstatus: Todo\n"), "{text}");
    assert_only_the_issue_is_left(&place);
}
