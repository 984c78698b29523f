//! Tests of finding and removing what runs left.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, no_hook_files, put};
use super::*;
use std::collections::BTreeSet;
use std::fs;

fn known(runs: &[&str]) -> BTreeSet<String> {
    runs.iter().map(ToString::to_string).collect()
}

fn names(stale: &[StaleRun]) -> Vec<&str> {
    stale.iter().map(|stale| stale.run.as_str()).collect()
}

#[test]
fn leftovers_of_dead_runs_are_removed_and_everything_else_stays() {
    let bed = Testbed::new();
    bed.git(&["worktree", "add", "-q", "../mine"]);
    bed.git(&["worktree", "lock", "../mine"]);
    let (kept, gone) = (bed.run("r1"), bed.run("r1-b"));
    let lent = [&kept, &gone].map(|trees| {
        trees.tag_baseline().unwrap();
        let tree = trees.lend("t1", TaskStart::Main).unwrap();
        put(tree.path(), "x", b"x");
        tree.snapshot().unwrap();
        tree
    });
    bed.git(&["branch", "remand/r1-b"]);
    put(&bed.runs().join("r1-b"), "notes", b"not ours");
    let repository = bed.repository();
    let before = bed.git(&["rev-parse", "HEAD"]);

    let mut found = stale_runs(&repository, &bed.runs(), &known(&["r1", "r1-b"])).unwrap();
    assert_eq!(names(&found), ["r1", "r1-b"]);
    found.remove(0);
    assert_eq!(found[0].work_trees.len(), 2);
    assert_eq!(found[0].tag.as_deref(), Some("pipeline-baseline-r1-b"));
    assert_eq!(found[0].branch.as_deref(), Some("remand/r1-b"));
    clean(&repository, &found).unwrap();
    clean(&repository, &found).unwrap();

    assert_eq!(names(&stale_runs(&repository, &bed.runs(), &known(&["r1", "r1-b"])).unwrap()), ["r1"]);
    assert_eq!(fs::read_dir(bed.runs().join("r1-b")).unwrap().count(), 1);
    assert!(lent[0].path().join("x").exists() && !lent[1].path().exists());
    kept.main_tree().snapshot().unwrap();
    assert!(bed.folder.path().join("mine/README.md").exists());
    assert_eq!(bed.git(&["worktree", "list"]).lines().count(), 4);
    assert!(!repository.branch_exists("remand/r1-b").unwrap());
    assert_eq!(bed.git(&["tag"]), "pipeline-baseline-r1");
    assert_eq!(bed.git(&["rev-parse", "HEAD"]), before);
}

#[test]
fn a_branch_with_work_survives_cleaning_until_it_is_merged() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    put(trees.main_tree().path(), "x", b"x");
    let tree = trees.main_tree().snapshot().unwrap();
    trees.record(&tree, "work", "c1").unwrap();
    let message = CommitMessage { subject: "Work".to_string(), ..CommitMessage::default() };
    trees.commit(&FileContents::new(), &message, "c2", &no_hook_files).unwrap();
    let repository = bed.repository();
    let found = stale_runs(&repository, &bed.runs(), &known(&["r1"])).unwrap();
    assert_eq!(found[0].branch, None);
    bed.git(&["merge", "-q", "remand/r1"]);
    assert_eq!(
        stale_runs(&repository, &bed.runs(), &known(&["r1"])).unwrap()[0].branch.as_deref(),
        Some("remand/r1")
    );
    bed.git(&["reset", "-q", "--hard", "HEAD^"]);
    clean(&repository, &found).unwrap();
    assert!(repository.branch_exists("remand/r1").unwrap());
    assert!(stale_runs(&repository, &bed.runs(), &known(&["r1"])).unwrap().is_empty());
}

#[test]
fn a_run_whose_folder_was_deleted_by_hand_is_found_and_cleaned() {
    let bed = Testbed::new();
    bed.run("r1").lend("t1", TaskStart::Main).unwrap();
    fs::remove_dir_all(bed.runs()).unwrap();
    let repository = bed.repository();
    let found = stale_runs(&repository, &bed.runs(), &known(&["r1"])).unwrap();
    assert_eq!(names(&found), ["r1"]);
    clean(&repository, &found).unwrap();
    assert_eq!(bed.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(bed.git(&["for-each-ref", "refs/remand"]), "");
}

#[test]
fn a_run_of_another_state_directory_is_left_alone() {
    let bed = Testbed::new();
    bed.run("r1");
    let elsewhere = bed.folder.path().join("other state");
    let second = RunTrees::begin(&bed.repository(), "r2", &elsewhere.join("r2"), &bed.base()).unwrap();
    second.tag_baseline().unwrap();
    assert_eq!(names(&stale_runs(&bed.repository(), &bed.runs(), &known(&["r1"])).unwrap()), ["r1"]);
    assert_eq!(names(&stale_runs(&bed.repository(), &elsewhere, &known(&["r2"])).unwrap()), ["r2"]);
    // Without its trees, the run still has references.
    second.discard_trees().unwrap();
    assert_eq!(names(&stale_runs(&bed.repository(), &bed.runs(), &known(&["r1"])).unwrap()), ["r1"]);
    assert_eq!(names(&stale_runs(&bed.repository(), &elsewhere, &known(&["r2"])).unwrap()), ["r2"]);
}

#[test]
fn a_run_whose_checkout_was_moved_is_removed_completely() {
    let bed = Testbed::new();
    bed.run("r1").lend("t1", TaskStart::Main).unwrap();
    let moved = bed.folder.path().join("moved");
    fs::rename(bed.user(), &moved).unwrap();
    let repository = Repository::discover(&moved).unwrap();
    let found = stale_runs(&repository, &bed.runs(), &known(&[])).unwrap();
    assert_eq!(found[0].folder, Some(bed.runs().join("r1").canonicalize().unwrap()));
    clean(&repository, &found).unwrap();
    assert!(!bed.runs().join("r1").exists());
    assert!(stale_runs(&repository, &bed.runs(), &known(&["r1"])).unwrap().is_empty());
}

#[test]
fn a_branch_that_the_user_has_checked_out_is_not_deleted() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    put(trees.main_tree().path(), "x", b"x");
    let tree = trees.main_tree().snapshot().unwrap();
    trees.record(&tree, "work", "c1").unwrap();
    trees.hand_over("c2").unwrap();
    bed.git(&["checkout", "-q", "remand/r1"]);
    let refused = trees.discard(BranchFate::Delete).unwrap_err();
    assert!(matches!(refused, GitError::BranchInUse { .. }), "{refused}");
    bed.git(&["checkout", "-q", "main"]);
    trees.discard(BranchFate::Delete).unwrap();
    assert!(!bed.repository().branch_exists("remand/r1").unwrap());
}
