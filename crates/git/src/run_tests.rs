//! Tests of setting up a run and of lending work trees. The user's checkout must stay unchanged.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, contents, get, git_in, put, task_tree};
use super::worktree::write_atomically;
use super::*;
use std::fs;
use std::os::unix::fs::MetadataExt;

#[test]
fn a_whole_run_leaves_the_users_checkout_untouched() {
    let bed = Testbed::new();
    let hook_ran = bed.folder.path().join("hook-ran");
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "pre-commit"] {
        bed.hook(hook, &format!("touch '{}'", hook_ran.display()));
    }
    bed.write("README.md", "the user is at work\n");
    bed.write("staged", "x");
    bed.git(&["add", "staged"]);
    bed.write("untracked", "x");
    let before = bed.fingerprint();
    let files: Vec<_> =
        contents(&bed.user()).into_iter().filter(|(path, _)| !path.starts_with(".git")).collect();
    fs::remove_file(&hook_ran).unwrap();

    let trees = bed.run("r1");
    let task = task_tree(&trees, "t1", &[("src/new.rs", "fn n() {}\n")]);
    trees.merge("t1", trees.base(), &task, "c1").unwrap();
    let other = task_tree(&trees, "t2", &[("src/other.rs", "fn o() {}\n")]);
    trees.merge("t2", trees.base(), &other, "c2").unwrap();
    trees.undo_tasks(&["t1"], "c3").unwrap();
    trees.hand_over("c4").unwrap();
    trees.discard(BranchFate::Delete).unwrap();

    assert!(!hook_ran.exists());
    assert_eq!(bed.fingerprint(), before);
    assert_eq!(
        contents(&bed.user()).into_iter().filter(|(path, _)| !path.starts_with(".git")).collect::<Vec<_>>(),
        files
    );
    assert_eq!(bed.git(&["for-each-ref", "refs/remand"]), "");
    assert_eq!(bed.git(&["worktree", "list"]).lines().count(), 1);
    assert!(!bed.runs().join("r1").exists());
}

// EP-02
#[test]
fn a_run_starts_from_head_without_uncommitted_changes_and_creates_no_branch() {
    let bed = Testbed::new();
    bed.write("README.md", "not committed\n");
    let trees = bed.run("r1");
    assert_eq!(get(trees.main_tree().path(), "README.md").unwrap(), b"one\n");
    assert_eq!(trees.main_state().unwrap().commit, *trees.base());
    assert_eq!(trees.branch(), "remand/r1");
    assert!(!bed.repository().branch_exists("remand/r1").unwrap());
}

#[test]
fn setting_up_a_run_twice_and_opening_it_again_keep_the_work() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    put(trees.main_tree().path(), "work", b"x");
    bed.run("r1");
    let again = RunTrees::open(&bed.repository(), "r1", &bed.runs().join("r1")).unwrap();
    assert_eq!(get(again.main_tree().path(), "work").unwrap(), b"x");
    assert_eq!(again.base(), trees.base());
    bed.write("more", "x");
    bed.commit("second");
    let refused = RunTrees::begin(&bed.repository(), "r1", &bed.runs().join("r1"), &bed.base()).unwrap_err();
    assert!(matches!(refused, GitError::RunTaken { .. }), "{refused}");
    let refused = RunTrees::open(&bed.repository(), "r9", &bed.runs().join("r9")).unwrap_err();
    assert!(matches!(refused, GitError::UnknownRun { .. }), "{refused}");
}

#[test]
fn an_interrupted_setup_is_completed() {
    let bed = Testbed::new();
    let repository = bed.repository();
    bed.git(&["update-ref", "refs/remand/r1/base", "HEAD"]);
    let trees = bed.run("r1");
    let main = trees.main_tree();
    let files = contents(main.path());
    fs::remove_file(trees.folder.join("private/main.index")).unwrap();
    fs::remove_file(main.path().join("README.md")).unwrap();
    fs::create_dir_all(trees.folder.join("scratch/remand-r1-main")).unwrap();
    let trees = RunTrees::open(&repository, "r1", &bed.runs().join("r1")).unwrap();
    assert_eq!(contents(trees.main_tree().path()), files);
}

// OT-01
#[test]
fn an_existing_branch_and_an_invalid_run_id_are_rejected() {
    let bed = Testbed::new();
    bed.git(&["branch", "remand/r1"]);
    let begin =
        |run: &str| RunTrees::begin(&bed.repository(), run, &bed.runs().join("x"), &bed.base()).unwrap_err();
    let refused = begin("r1");
    assert!(matches!(&refused, GitError::BranchTaken { branch } if branch == "remand/r1"), "{refused}");
    assert!(refused.hint().contains("git branch -m"));
    for invalid in ["", "a b", "a/b", "../x", "2024-01-01T00:00:00Z", "-x", "a..b"] {
        assert!(matches!(begin(invalid), GitError::InvalidRunId { .. }), "{invalid}");
    }
    bed.git(&["branch", "-D", "remand/r1"]);
    bed.git(&["branch", "remand"]);
    assert!(matches!(begin("r1"), GitError::BranchTaken { branch } if branch == "remand"));
}

// EP-13
#[test]
fn tagging_the_baseline_twice_is_harmless_and_a_foreign_tag_is_an_error() {
    let bed = Testbed::new();
    let trees = bed.run("20250101-120000-ab12");
    assert_eq!(trees.tag_baseline().unwrap(), "pipeline-baseline-20250101-120000-ab12");
    trees.tag_baseline().unwrap();
    assert_eq!(bed.git(&["rev-parse", "pipeline-baseline-20250101-120000-ab12"]), trees.base().as_str());
    let other = bed.run("r2");
    bed.write("more", "x");
    bed.commit("second");
    bed.git(&["tag", "pipeline-baseline-r2"]);
    assert!(matches!(other.tag_baseline(), Err(GitError::TagTaken { .. })));
}

// EP-14
#[test]
fn tasks_work_in_separate_trees_and_a_returned_tree_is_reused() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let (one, two) = (trees.lend("t1", TaskStart::Main).unwrap(), trees.lend("t2", TaskStart::Main).unwrap());
    assert_ne!(one.path(), two.path());
    put(one.path(), "README.md", b"one's\n");
    put(one.path(), "target/cache", b"one's own");
    assert_eq!(get(two.path(), "README.md").unwrap(), b"one\n");
    let state = one.snapshot().unwrap();
    assert_eq!(get(one.path(), "README.md").unwrap(), b"one's\n");
    let inode = fs::metadata(one.path().join("src/lib.rs")).unwrap().ino();

    trees.give_back("t1").unwrap();
    trees.give_back("t1").unwrap();
    let three = trees.lend("t3", TaskStart::Main).unwrap();
    assert_eq!(three.path(), one.path());
    assert_eq!(three.snapshot().unwrap(), trees.base_tree().unwrap());
    assert_eq!(get(three.path(), "target/cache"), None, "ignored files do not reach the next holder");
    // A file that is the same in both states is not written again.
    assert_eq!(fs::metadata(three.path().join("src/lib.rs")).unwrap().ino(), inode);

    let again = trees.lend("t3", TaskStart::Tree(&state)).unwrap();
    assert_eq!(again.path(), three.path());
    assert_eq!(again.snapshot().unwrap(), state);
    let opened = RunTrees::open(&bed.repository(), "r1", &bed.runs().join("r1")).unwrap();
    assert_eq!(opened.lend("t2", TaskStart::Main).unwrap().path(), two.path());
}

#[test]
fn tasks_that_borrow_concurrently_get_different_trees() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let mut paths: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|task| {
                let trees = trees.clone();
                scope.spawn(move || {
                    let tree = trees.lend(&format!("t{task}"), TaskStart::Main).unwrap();
                    put(tree.path(), format!("file {task}"), b"x");
                    let state = tree.snapshot().unwrap();
                    let merged =
                        trees.merge(&format!("t{task}"), trees.base(), &state, &format!("c{task}")).unwrap();
                    assert!(matches!(merged, TaskMerge::Merged(_)));
                    tree.path().to_path_buf()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), 4);
    for task in 0..4 {
        assert!(trees.main_tree().path().join(format!("file {task}")).exists());
    }
}

#[test]
fn a_moved_checkout_keeps_its_work_trees() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    put(trees.main_tree().path(), "work", b"x");
    let state = trees.main_tree().snapshot().unwrap();
    let moved = bed.folder.path().join("moved");
    fs::rename(bed.user(), &moved).unwrap();
    let repository = Repository::discover(&moved).unwrap();
    let trees = RunTrees::open(&repository, "r1", &bed.runs().join("r1")).unwrap();
    assert_eq!(trees.main_tree().snapshot().unwrap(), state);
    assert_eq!(git_in(trees.main_tree().path(), &["status", "--porcelain"]), "?? work");
}

#[test]
fn an_atomic_write_changes_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("1.new"), "other").unwrap();
    write_atomically(&at("1.task"), b"t1").unwrap();
    assert_eq!(fs::read_to_string(at("1.new")).unwrap(), "other");
    assert_eq!(fs::read_to_string(at("1.task")).unwrap(), "t1");
}
