//! Checkouts that are cleaned, moved, copied or linked while a run waits.

use crate::place::{Place, Shown};
use crate::rehearsed::{Script, TRIVIAL};
use remand_ledger::query::RunStage;
use std::path::Path;

/// Runs the binary in a folder that is not the project.
fn remand_in(place: &Place, folder: &Path, arguments: &[&str]) -> Shown {
    let folder = folder.display().to_string();
    let mut words = vec!["-C", &folder];
    words.extend(arguments);
    place.remand(&words)
}

/// A run that waits for a human after its first dispatch.
fn waiting() -> Place {
    let place = Place::configured(TRIVIAL);
    let shown = place.quick(&Script::quick(), &["--budget-dispatches", "1"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    place
}

// EP-12 EP-29 CORE-04
#[test]
fn a_waiting_run_reaches_its_commit_after_the_checkout_was_cleaned_and_moved() {
    let place = waiting();
    let run = place.latest();
    place.write("__pycache__/left.pyc", "ignored");
    place.git(&["clean", "-qxdf"]);
    let moved = place.project().with_file_name("moved");
    std::fs::rename(place.project(), &moved).expect("moved");
    // The commands of the test start in this folder.
    std::fs::create_dir(place.project()).expect("folder");

    let gates = remand_in(&place, &moved, &["gates"]);
    assert!(gates.out.contains(&run.run.0), "{}{}", gates.out, gates.err);
    let answered = remand_in(&place, &moved, &["answer", &run.run.0, "go-on"]);
    assert_eq!(answered.code, 0, "{}{}", answered.out, answered.err);
    assert_eq!(place.latest().stage, RunStage::Committed);
    let names = place.git_in(&moved, &["diff", "--name-only", "work", &run.branch]);
    assert_eq!(names, "sums/sub.py\ntests/test_sub.py\n");
    assert_eq!(place.git_in(&moved, &["status", "--porcelain"]), "");
    let audited = remand_in(&place, &moved, &["audit"]);
    assert_eq!(audited.code, 0, "{}{}", audited.out, audited.err);

    let cleaned = remand_in(&place, &moved, &["clean"]);
    assert_eq!(cleaned.code, 0, "{}{}", cleaned.out, cleaned.err);
    let left: Vec<_> = std::fs::read_dir(place.home().join("trees")).expect("trees").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(place.git_in(&moved, &["for-each-ref", "refs/remand", "refs/tags"]), "");
}

// CORE-04
#[test]
fn a_run_in_a_linked_work_tree_is_visible_from_all_work_trees_and_changes_none() {
    let place = Place::configured(TRIVIAL);
    let linked = place.project().with_file_name("linked");
    let at = linked.display().to_string();
    place.git(&["worktree", "add", "-q", "-b", "topic", &at]);
    std::fs::write(linked.join("README.md"), "# sums, linked\n").expect("file");
    place.git_in(&linked, &["commit", "-q", "-a", "-m", "A word"]);

    let script = place.write_outside("rehearsal.yaml", &Script::quick().text());
    let agent = format!("rehearsal:{script}");
    let arguments = ["run", "Add subtraction", "--workflow", "quick", "--agent", &agent];
    let shown = remand_in(&place, &linked, &[&arguments[..], &["--budget-dispatches", "1"]].concat());
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let run = place.latest();
    let shown = place.remand(&["answer", &run.run.0, "go-on"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);

    let names = place.git(&["diff", "--name-only", "topic", &run.branch]);
    assert_eq!(
        names, "sums/sub.py\ntests/test_sub.py\n",
        "it starts from the commit of the linked work tree"
    );
    for folder in [place.project(), linked.clone()] {
        assert_eq!(place.git_in(&folder, &["status", "--porcelain"]), "");
    }
    assert_eq!(place.git_in(&linked, &["branch", "--show-current"]), "topic\n");
    let inside = place.project().join(".state").display().to_string();
    let refused = remand_in(&place, &linked, &["--state", &inside, "status"]);
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    assert!(
        refused.err.contains("belongs to the repository") && refused.err.contains("hint: "),
        "{}",
        refused.err
    );
    assert!(!place.project().join(".state").exists());
}

// CORE-04
#[test]
fn a_copy_of_a_checkout_cannot_answer_a_run_of_its_original() {
    let place = waiting();
    let run = place.latest();
    let copy = place.project().with_file_name("copy");
    let copied = std::process::Command::new("cp").arg("-r").arg(place.project()).arg(&copy).status();
    assert!(copied.expect("cp").success());
    let refused = remand_in(&place, &copy, &["answer", &run.run.0, "go-on"]);
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    let cleaned = remand_in(&place, &copy, &["clean"]);
    assert_eq!(cleaned.code, 0, "{}{}", cleaned.out, cleaned.err);
    let answered = place.remand(&["answer", &run.run.0, "go-on"]);
    assert_eq!(answered.code, 0, "{}{}", answered.out, answered.err);
    assert!(!place.git(&["log", "-1", "--format=%H", &run.branch]).is_empty());
}

// CORE-05
#[test]
fn clean_in_another_state_directory_removes_nothing_of_this_one_and_keeps_its_mode() {
    let place = Place::configured(TRIVIAL);
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "it took over the trees of the first run: {}{}", shown.out, shown.err);
    let references = || place.git(&["for-each-ref", "refs/remand", "refs/tags"]);
    let before = references();
    let other = place.project().with_file_name("other");
    std::fs::create_dir(&other).expect("folder");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&other, open).expect("mode");
    let cleaned = place.remand(&["--state", &other.display().to_string(), "clean"]);
    assert_eq!(cleaned.code, 0, "{}{}", cleaned.out, cleaned.err);
    assert_eq!(references(), before);
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&other).expect("found").permissions());
    assert_eq!(mode & 0o777, 0o755);
}
