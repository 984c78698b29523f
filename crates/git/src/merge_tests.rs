//! Tests of the main line: recording, merging, undoing.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, get, git_in, put, task_tree};
use super::*;
use std::path::PathBuf;

fn merged_state(merge: TaskMerge) -> CommitState {
    match merge {
        TaskMerge::Merged(state) => state,
        TaskMerge::Conflict { paths } => panic!("conflict in {paths:?}"),
    }
}

fn main_file(trees: &RunTrees, file: &str) -> Option<String> {
    get(trees.main_tree().path(), file).map(|bytes| String::from_utf8(bytes).unwrap())
}

/// Does a task's work: borrows a tree, writes files, merges a snapshot, and gives the tree back.
fn do_task(trees: &RunTrees, task: &str, files: &[(&str, &str)], command: &str) -> CommitState {
    let base = trees.main_state().unwrap().commit;
    let tree = task_tree(trees, task, files);
    let state = merged_state(trees.merge(task, &base, &tree, command).unwrap());
    trees.give_back(task).unwrap();
    state
}

// EP-14
#[test]
fn tasks_from_the_same_state_are_merged_and_staged_in_the_main_tree() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let base = trees.base().clone();
    let one =
        task_tree(&trees, "t1", &[("src/lib.rs", "fn a() { 1 }\n\n\n\n\n\nfn b() {}\n"), ("one", "1\n")]);
    let two =
        task_tree(&trees, "t2", &[("src/lib.rs", "fn a() {}\n\n\n\n\n\nfn b() { 2 }\n"), ("two", "2\n")]);
    merged_state(trees.merge("t1", &base, &one, "c1").unwrap());
    let state = merged_state(trees.merge("t2", &base, &two, "c2").unwrap());
    assert_eq!(trees.main_state().unwrap(), state);
    assert_eq!(main_file(&trees, "src/lib.rs").unwrap(), "fn a() { 1 }\n\n\n\n\n\nfn b() { 2 }\n");
    let root = trees.main_tree().path().to_path_buf();
    assert_eq!(git_in(&root, &["diff", "--cached", "--name-only"]), "one\nsrc/lib.rs\ntwo");
    assert_eq!(git_in(&root, &["diff", "--name-only"]), "");
    let trailers = bed.git(&["log", "-1", "--format=%(trailers)%an", "refs/remand/r1/main"]);
    assert_eq!(trailers, "Remand-Run: r1\nRemand-Command: c2\nRemand-Kind: merge\nRemand-Task: t2\nRemand",);
}

// EP-14
#[test]
fn a_conflict_lists_its_paths_leaves_the_main_line_unchanged_and_can_be_resolved_from_the_merged_state() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let base = trees.base().clone();
    let one = task_tree(&trees, "t1", &[("README.md", "first\n")]);
    let two = task_tree(&trees, "t2", &[("README.md", "second\n"), ("with \"quote\"\nline", "x")]);
    let first = merged_state(trees.merge("t1", &base, &one, "c1").unwrap());
    let conflict = trees.merge("t2", &base, &two, "c2").unwrap();
    assert_eq!(conflict, TaskMerge::Conflict { paths: vec![PathBuf::from("README.md")] });
    assert_eq!(trees.main_state().unwrap(), first);
    assert_eq!(main_file(&trees, "README.md").unwrap(), "first\n");

    let again = task_tree(&trees, "t2", &[("README.md", "first and second\n")]);
    merged_state(trees.merge("t2", &first.commit, &again, "c3").unwrap());
    assert_eq!(main_file(&trees, "README.md").unwrap(), "first and second\n");
}

#[test]
fn repeating_a_command_does_not_merge_again() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let base = trees.base().clone();
    let one = task_tree(&trees, "t1", &[("one", "1\n")]);
    let first = merged_state(trees.merge("t1", &base, &one, "p3.b1t1.v1.s0.a1").unwrap());
    do_task(&trees, "t2", &[("two", "2\n")], "c2");
    // The state after a kill between updating the reference and the work tree.
    put(trees.main_tree().path(), "one", b"half");
    let again = RunTrees::open(&bed.repository(), "r1", &bed.runs().join("r1")).unwrap();
    assert_eq!(merged_state(again.merge("t1", &base, &one, "p3.b1t1.v1.s0.a1").unwrap()), first);
    assert_eq!(main_file(&again, "one").unwrap(), "1\n");
    assert_eq!(main_file(&again, "two").unwrap(), "2\n");
    assert_eq!(bed.git(&["rev-list", "--count", &format!("{base}..refs/remand/r1/main")]), "2");
}

#[test]
fn a_record_advances_the_main_line_once() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let main = trees.main_tree();
    put(main.path(), "new", b"x");
    let tree = main.snapshot().unwrap();
    let state = trees.record(&tree, "Quick work\nRemand-Command: forged", "c1").unwrap();
    assert_eq!(state.tree, tree);
    assert_eq!(trees.record(&tree, "Quick work", "c1").unwrap(), state);
    assert_eq!(trees.main_state().unwrap(), state);
    assert_eq!(git_in(main.path(), &["diff", "--cached", "--name-only"]), "new");
    let base = trees.base_tree().unwrap();
    trees.record(&base, "Drop all", "c2").unwrap();
    assert_eq!(main_file(&trees, "new"), None);
}

// EP-20
#[test]
fn undoing_a_task_reverts_all_its_merges_and_keeps_other_work() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    do_task(&trees, "t1", &[("src/lib.rs", "fn a() { 1 }\n\n\n\n\n\nfn b() {}\n"), ("one", "1\n")], "c1");
    do_task(&trees, "t2", &[("src/lib.rs", "fn a() { 1 }\n\n\n\n\n\nfn b() { 2 }\n"), ("two", "2\n")], "c2");
    do_task(
        &trees,
        "t1",
        &[("src/lib.rs", "fn a() { 11 }\n\n\n\n\n\nfn b() { 2 }\n"), ("more", "1\n")],
        "c3",
    );
    assert!(trees.merged_since("t1", trees.base()).unwrap());
    let undo = trees.undo_tasks(&["t1"], "c4").unwrap();
    assert_eq!((undo.undone, undo.overwritten.len()), (2, 0));
    assert!(!trees.merged_since("t1", trees.base()).unwrap(), "what was undone is not merged");
    assert!(trees.merged_since("t2", trees.base()).unwrap());
    assert_eq!(main_file(&trees, "src/lib.rs").unwrap(), "fn a() {}\n\n\n\n\n\nfn b() { 2 }\n");
    assert_eq!(main_file(&trees, "one"), None);
    assert_eq!(main_file(&trees, "more"), None);
    assert_eq!(main_file(&trees, "two").unwrap(), "2\n");
    assert_eq!(trees.undo_tasks(&["t1"], "c4").unwrap(), undo);
    assert_eq!(trees.undo_tasks(&["t1"], "c5").unwrap().undone, 0);

    do_task(&trees, "t1", &[("one", "once more\n")], "c6");
    assert_eq!(trees.undo_tasks(&["t1", "t2"], "c7").unwrap().undone, 2);
    assert_eq!(trees.main_state().unwrap().tree, trees.base_tree().unwrap());
    assert_eq!(trees.undo_tasks(&["nobody"], "c8").unwrap().undone, 0);
}

// EP-20
#[test]
fn undoing_a_task_reports_files_in_which_others_changed_the_same_lines() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    do_task(
        &trees,
        "t1",
        &[("README.md", "one\nof t1\n"), ("new", "of t1\n"), ("kept apart", "of t1\n")],
        "c1",
    );
    do_task(&trees, "t2", &[("README.md", "one\nof t1, by t2\n"), ("new", "by t2\n"), ("two", "2\n")], "c2");
    let undo = trees.undo_tasks(&["t1"], "c3").unwrap();
    assert_eq!(undo.overwritten, [PathBuf::from("README.md"), PathBuf::from("new")]);
    assert_eq!(main_file(&trees, "README.md").unwrap(), "one\n");
    assert_eq!(main_file(&trees, "new"), None);
    assert_eq!(main_file(&trees, "kept apart"), None);
    assert_eq!(main_file(&trees, "two").unwrap(), "2\n");
    assert_eq!(trees.undo_tasks(&["t1"], "c3").unwrap(), undo);
}

#[test]
fn snapshots_and_kept_trees_survive_garbage_collection() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    put(tree.path(), "new", b"first\n");
    let first = tree.snapshot().unwrap();
    put(tree.path(), "new", b"second\n");
    tree.snapshot().unwrap();
    put(tree.path(), ".gitattributes", b"dos eol=crlf\n");
    put(tree.path(), "dos", b"mixed\r\nendings\n");
    let raw = tree.snapshot().unwrap();
    assert!(raw.to_string().contains('+'));
    tree.restore(&first).unwrap();
    bed.git(&["gc", "-q", "--prune=now"]);
    tree.restore(&raw).unwrap();
    assert_eq!(get(tree.path(), "dos").unwrap(), b"mixed\r\nendings\n");
    tree.restore(&first).unwrap();
    assert_eq!(get(tree.path(), "new").unwrap(), b"first\n");
}
