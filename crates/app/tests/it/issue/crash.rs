//! Runs on issues that are killed at any point and resumed.

use crate::issue_script::{
    arguments, commits, finding, others, place, plan, reviewed, split, subtraction, task, three_tasks,
};
use crate::kills::{KilledRun, kill_at_each_point};
use crate::place::Place;
use crate::rehearsed::{Script, role};
use crate::three_tasks::marked_processes;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// The number of runs that share the points, as in `crash.rs`.
const RUNS: u64 = 12;

/// A split, a plan that is sent back after code was written, other sub-issues, and three commits.
fn script() -> Script {
    let [second, _] = others();
    let third = task("task-3", "Divide", &["sums/div.py"], &[], &[]);
    three_tasks()
        .with(
            role("check/code").round(1).says(reviewed("block", &[finding("P-1", "plan", "plan", "Not yet")])),
        )
        .with(role("plan").round(2).says(plan("Another way.")))
        .with(role("plan/split").round(2).says(split(&[subtraction(), second, third], true)))
}

/// The outcome of a run, without its id.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    outcome: String,
    commits: Vec<String>,
    /// The text of every file on the branch.
    files: BTreeMap<String, String>,
    dispatches: BTreeSet<String>,
    operations: BTreeSet<String>,
    artifacts: BTreeMap<String, u32>,
}

fn outcome(place: &Place) -> Outcome {
    let (reader, row) = (place.reader(), place.latest());
    assert_eq!(marked_processes(&row.run), Vec::<String>::new(), "processes are left");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    assert_eq!(place.remand(&["audit"]).code, 0);
    let plain = |text: String| text.replace(&row.run.0, "RUN");
    let names = place.git(&["ls-tree", "-r", "--name-only", &row.branch]);
    let content = |name: &str| plain(place.git(&["show", &format!("{}:{name}", row.branch)]));
    let mut dispatches = reader.dispatches(&row.run).expect("dispatches");
    // Dispatches that were interrupted with the engine are left out.
    dispatches.retain(|row| !row.command.contains('~'));
    let operations = reader.operations(&row.run).expect("operations");
    Outcome {
        outcome: row.outcome(),
        commits: commits(place),
        files: names.lines().map(|name| (name.to_string(), content(name))).collect(),
        dispatches: dispatches.iter().map(|row| format!("{} {:?}", row.command, row.says)).collect(),
        operations: operations.iter().map(|row| format!("{} {:?}", row.command, row.result)).collect(),
        artifacts: reader
            .artifacts(&row.run)
            .expect("artifacts")
            .into_iter()
            .map(|row| (row.name, row.version))
            .collect(),
    }
}

/// Finishes a run with a kill at the point `first` and one in each process that resumes it. Returns their number.
fn run_with_kills(first: u64, script: &Script, (undisturbed, code): (&Outcome, i32)) -> u64 {
    let place = place();
    let begin = arguments(&place, "ABC-1", script);
    let kills = KilledRun { place: &place, begin: &begin, code }.run_with_kills(first, Some(RUNS));
    assert_eq!(outcome(&place), *undisturbed, "first at {first}, {kills} kills");
    kills
}

/// The outcome of a run without kills, which ends with this exit code.
fn undisturbed(script: &Script, code: i32) -> Outcome {
    let quiet = place();
    let shown = crate::issue_script::run(&quiet, "ABC-1", script);
    assert_eq!(shown.code, code, "{}{}", shown.out, shown.err);
    outcome(&quiet)
}

// CORE-04 OT-21
#[test]
fn a_run_on_an_issue_that_is_killed_at_any_point_has_the_same_result() {
    let undisturbed = undisturbed(&script(), 0);
    assert_eq!(
        undisturbed.commits.last().map(String::as_str),
        Some("chore(todo): ABC-1 is In Progress, ABC-5 ABC-6 filed")
    );
    let kills = kill_at_each_point(RUNS, |first| run_with_kills(first, &script(), (&undisturbed, 0)));
    assert!(kills >= 50, "{kills} kills");
}

/// A split with sub-issues, tests and code, and then a diagnosis that ends the run by its failure handler.
fn failing() -> Script {
    let diagnosis = json!({
        "verdict": "split-needed", "cause": "Subtraction and rounding are two tasks.", "evidence": "All attempts.",
        "notes": "Plan rounding by itself.", "findings": [finding("D-1", "plan", "plan", "Two tasks in one")],
    });
    three_tasks()
        .with(role("make").says(json!({"verdict": "incomplete", "hypothesis": "Too much.", "changes": []})))
        .with(role("check/diagnosis").says(diagnosis))
}

// CORE-04 OT-21
#[test]
fn a_failure_handler_that_is_killed_at_any_point_leaves_one_comment_and_one_status() {
    let undisturbed = undisturbed(&failing(), 4);
    assert_eq!(undisturbed.commits.len(), 1, "{:?}", undisturbed.commits);
    let issue = &undisturbed.files["TODO/ABC-1.md"];
    assert_eq!(issue.matches("The run failed at diagnosis: split-needed.").count(), 1, "{issue}");
    assert!(issue.contains("\nstatus: Todo\n"), "{issue}");
    let kills = kill_at_each_point(RUNS, |first| run_with_kills(first, &failing(), (&undisturbed, 4)));
    assert!(kills >= 2 * RUNS, "{kills} kills");
}
