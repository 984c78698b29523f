//! Runs on issues that are killed, at any point, and gone on with.

use crate::issue_script::{
    arguments, commits, finding, others, place, plan, reviewed, split, subtraction, task, three_tasks,
};
use crate::place::Place;
use crate::rehearsed::{Script, role};
use crate::three_tasks::marked;
use remand_ledger::Reader;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicU64, Ordering};

/// So many runs share the points among them, as in `crash.rs`.
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

/// What a run comes to, without its id.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    ended: Option<String>,
    commits: Vec<String>,
    /// Every file of the branch.
    files: BTreeMap<String, String>,
    dispatches: BTreeSet<String>,
    operations: BTreeSet<String>,
    artifacts: BTreeMap<String, u32>,
}

fn outcome(place: &Place) -> Outcome {
    let (reader, row) = (place.reader(), place.latest());
    assert_eq!(marked(&row.run), Vec::<String>::new(), "processes are left");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    assert_eq!(place.remand(&["audit"]).code, 0);
    let plain = |text: String| text.replace(&row.run.0, "RUN");
    let names = place.git(&["ls-tree", "-r", "--name-only", &row.branch]);
    let content = |name: &str| plain(place.git(&["show", &format!("{}:{name}", row.branch)]));
    let dispatches = reader.dispatches(&row.run).expect("dispatches");
    let operations = reader.operations(&row.run).expect("operations");
    Outcome {
        ended: row.ended.clone(),
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

fn is_begun(place: &Place) -> bool {
    let Some(ledger) =
        place.state().read_dir().expect("state").flatten().next().map(|entry| entry.path().join("ledger.db"))
    else {
        return false;
    };
    ledger.exists() && Reader::open(&ledger).is_ok_and(|reader| reader.latest().expect("a query").is_some())
}

/// Takes a run through with a death at this point, and at each point so many later. Gives how often it died.
fn die_at(first: u64, undisturbed: &Outcome) -> u64 {
    let place = place();
    let begin = arguments(&place, "ABC-1", &script());
    let (mut deaths, mut point) = (0, first);
    loop {
        let words: Vec<&str> =
            if is_begun(&place) { vec!["resume"] } else { begin.iter().map(String::as_str).collect() };
        let output =
            place.command(&words).env("REMAND_DIE_AT", point.to_string()).output().expect("the binary runs");
        if output.status.signal() != Some(9) {
            assert_eq!(output.status.code(), Some(0), "first at {first}, {deaths} deaths: {output:?}");
            break;
        }
        (deaths, point) = (deaths + 1, RUNS);
    }
    assert_eq!(outcome(&place), *undisturbed, "first at {first}, {deaths} deaths");
    deaths
}

// CORE-04 OT-21
#[test]
fn a_run_on_an_issue_that_is_killed_at_any_point_comes_to_the_same_end() {
    let quiet = place();
    let shown = crate::issue_script::run(&quiet, "ABC-1", &script());
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let undisturbed = outcome(&quiet);
    assert_eq!(
        undisturbed.commits.last().map(String::as_str),
        Some("chore(todo): ABC-1 is In Progress, ABC-5 ABC-6 filed")
    );
    let (next, deaths) = (AtomicU64::new(1), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(1, Ordering::SeqCst);
                    if first > RUNS {
                        return;
                    }
                    deaths.fetch_add(die_at(first, &undisturbed), Ordering::SeqCst);
                }
            });
        }
    });
    assert!(deaths.into_inner() >= 50);
}
