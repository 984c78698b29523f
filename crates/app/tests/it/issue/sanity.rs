//! The reasons that stop a run on an issue before any dispatch, each with its remedy.

use crate::issue_script::{ISSUE, OTHER, arguments, one_task, place, place_with, plan, run};
use crate::place::{Place, shown as shown_by};
use crate::rehearsed::role;
use crate::three_tasks::await_some;
use remand_ledger::Reader;

/// Asserts that a run stops immediately: no dispatch, no commit, and a reason with these words.
fn assert_refused(place: &Place, words: &[&str]) {
    let shown = run(place, "ABC-1", &one_task());
    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    for word in words {
        assert!(shown.err.contains(word), "{word} is not in {}", shown.err);
    }
    let row = place.latest();
    assert_eq!(row.outcome(), "stopped: refused");
    assert_eq!(place.reader().dispatches(&row.run).expect("dispatches"), []);
    assert_eq!(place.git(&["branch", "--list", "remand/*"]), "");
}

// OT-01
#[test]
fn a_checkout_that_is_dirty_or_detached_stops_a_run() {
    let place = place();
    place.write("left.txt", "not committed");
    assert_refused(&place, &["1 uncommitted change", "left.txt", "commit or stash your changes"]);
    std::fs::remove_file(place.project().join("left.txt")).expect("removed");
    place.git(&["checkout", "-q", "--detach"]);
    assert_refused(&place, &["HEAD is detached", "git switch BRANCH"]);
}

// OT-01
#[test]
fn an_issue_that_is_done_or_waits_for_another_stops_a_run() {
    let done = place_with(&[("TODO/ABC-1.md", &ISSUE.replace("status: Todo", "status: Done"))]);
    assert_refused(&done, &["ABC-1 is already Done", "set its status back to Todo"]);
    let waiting = ISSUE.replace("depends-on: []", "depends-on: [ABC-2, ABC-9]");
    let waiting = place_with(&[("TODO/ABC-1.md", &waiting)]);
    assert_refused(
        &waiting,
        &[
            "depends on ABC-2, which is Todo in the base",
            "remand run --issue ABC-2",
            "ABC-9, which does not exist",
        ],
    );
    // Done in the checkout does not count as Done in the base.
    waiting.write("TODO/ABC-2.md", &OTHER.replace("Todo", "Done"));
    assert_refused(&waiting, &["depends on ABC-2, which is Todo in the base"]);
}

// OT-01 OT-11
#[test]
fn an_issue_that_needs_the_work_of_a_run_cannot_start_until_that_work_is_in_the_base() {
    let place =
        place_with(&[("TODO/ABC-1.md", &ISSUE.replace("depends-on: []", "needs-run: 20260101-000000-abcd"))]);
    assert_refused(
        &place,
        &["needs the work of run 20260101-000000-abcd", "git merge remand/20260101-000000-abcd"],
    );
    place.git(&["commit", "-q", "--allow-empty", "-m", "Its work\n\nRemand-Run: 20260101-000000-abcd"]);
    let shown = run(&place, "ABC-1", &one_task());
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// OT-01
#[test]
fn a_command_that_cannot_start_says_why() {
    let place = place();
    let missing = run(&place, "ABC-77", &one_task());
    assert_eq!(missing.code, 1, "{missing:?}");
    assert!(
        missing.err.contains("TODO/ABC-77.md is not in the commit that the run would start from"),
        "{}",
        missing.err
    );
    assert!(missing.err.contains("commit it first"), "{}", missing.err);
    place.git(&["branch", "remand"]);
    let taken = run(&place, "ABC-1", &one_task());
    assert_ne!(taken.code, 0);
    assert!(taken.err.contains("remand"), "{}", taken.err);
    assert!(taken.err.contains("git branch -m remand"), "{}", taken.err);
    let bare = place.project().parent().expect("a folder").join("bare.git");
    place.git(&["clone", "-q", "--bare", ".", bare.to_str().expect("text")]);
    let words = arguments(&place, "ABC-1", &one_task());
    let mut command = place.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let shown = shown_by({
        command.current_dir(&bare);
        command
    });
    assert_eq!(shown.code, 1, "{shown:?}");
    assert!(shown.err.contains("bare"), "{}", shown.err);
}

// OT-01
#[test]
fn a_run_in_progress_keeps_others_off_its_issue() {
    let place = place();
    let go = place.visible_file("go");
    let wait = format!("while [ ! -e '{}' ]; do sleep 0.05; done", go.display());
    let script = one_task().with(role("plan").runs(&wait).says(plan("Wait.")));
    let words = arguments(&place, "ABC-1", &script);
    let first = place.start(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let running = await_some("the first run", || {
        let home = place.state().read_dir().ok()?.flatten().next()?.path().join("ledger.db");
        let row = Reader::open(&home).ok()?.latest().ok()??;
        (row.place.contains("plan")).then_some(row)
    });
    let shown = run(&place, "ABC-1", &one_task());
    assert_eq!(shown.code, 1, "{}{}", shown.out, shown.err);
    assert!(
        shown.err.contains(&format!("run {} is already working on TODO/ABC-1.md", running.run)),
        "{}",
        shown.err
    );
    assert!(shown.err.contains(&format!("remand cancel {}", running.run)), "{}", shown.err);
    std::fs::write(&go, "").expect("go");
    let ended = first.wait_with_output().expect("an end");
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
}
