//! Tests that content is restored exactly, although filters change it, filters are missing, or the checkout is sparse.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, contents, get, no_hook_files, put};
use super::*;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Checks that a state is restored exactly, both from other states and from an empty folder.
fn assert_exact(
    trees: &RunTrees,
    states: &[TreeId],
    files: &[std::collections::BTreeMap<std::path::PathBuf, (char, Vec<u8>)>],
) {
    let main = trees.main_tree();
    for at in (0..states.len()).chain((0..states.len()).rev()).chain([0, states.len() - 1, 0]) {
        main.restore(&states[at]).unwrap();
        assert_eq!(contents(main.path()), files[at], "state {at}");
        assert_eq!(main.snapshot().unwrap(), states[at], "state {at}");
    }
    for (at, state) in states.iter().enumerate() {
        let other = trees.lend(&format!("fresh {at}"), TaskStart::Tree(state)).unwrap();
        assert_eq!(contents(other.path()), files[at], "fresh {at}");
        assert_eq!(other.snapshot().unwrap(), *state, "fresh {at}");
    }
}

/// Makes git trust the file times in the index, as it does after more than a second.
fn age(trees: &RunTrees) {
    let index = File::options().write(true).open(trees.folder.join("private/main.index")).unwrap();
    index.set_modified(SystemTime::now() + Duration::from_secs(10)).unwrap();
}

fn check_line_endings(setting: &str) {
    let bed = Testbed::new();
    bed.git(&["config", "core.autocrlf", setting]);
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let (mut states, mut files) = (Vec::new(), Vec::new());
    let mut record = || {
        states.push(tree.snapshot().unwrap());
        files.push(contents(tree.path()));
        age(&trees);
    };
    record();
    put(tree.path(), "mixed", b"a\r\nb\nc\r\n");
    put(tree.path(), "unix", b"a\nb\n");
    put(tree.path(), "dos", b"a\r\nb\r\n");
    record();
    put(tree.path(), "mixed", b"a\nb\nc\n");
    put(tree.path(), "dos", b"a\nb\n");
    record();
    put(tree.path(), "README.md", b"one\r\ntwo\n");
    put(tree.path(), "unix", b"a\r\nb\r\n");
    record();
    fs::remove_file(tree.path().join("mixed")).unwrap();
    record();
    assert_exact(&trees, &states, &files);
}

#[test]
fn line_endings_are_restored_exactly_if_git_converts_both_ways() {
    check_line_endings("true");
}

#[test]
fn line_endings_are_restored_exactly_if_git_converts_on_adding() {
    check_line_endings("input");
}

#[test]
fn a_change_of_line_endings_alone_is_listed() {
    let bed = Testbed::new();
    bed.git(&["config", "core.autocrlf", "input"]);
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    put(tree.path(), "README.md", b"one\r\n");
    let after = tree.snapshot().unwrap();
    assert_eq!(before.tree(), after.tree());
    assert_eq!(
        tree.changed(&before, &after).unwrap(),
        [ChangedPath { path: "README.md".into(), kind: ChangeKind::Modified }]
    );
    tree.restore(&before).unwrap();
    assert_eq!(get(tree.path(), "README.md").unwrap(), b"one\n");
    assert_eq!(tree.snapshot().unwrap(), before);
    put(tree.path(), "README.md", b"two\n");
    tree.restore(&after).unwrap();
    assert_eq!(get(tree.path(), "README.md").unwrap(), b"one\r\n");
    assert_eq!(tree.snapshot().unwrap(), after);
}

#[test]
fn attributes_that_differ_between_states_do_not_change_content() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let (mut states, mut files) = (Vec::new(), Vec::new());
    let mut record = || {
        states.push(tree.snapshot().unwrap());
        files.push(contents(tree.path()));
        age(&trees);
    };
    record();
    put(tree.path(), ".gitattributes", b"* text eol=crlf\n");
    record();
    put(tree.path(), "new", b"a\r\nb\r\n");
    put(tree.path(), "id", b"$Id$\n");
    record();
    put(tree.path(), ".gitattributes", b"id ident\n");
    record();
    fs::remove_file(tree.path().join(".gitattributes")).unwrap();
    record();
    assert_exact(&trees, &states, &files);
}

#[test]
fn attributes_outside_of_snapshots_do_not_affect_a_restore() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    let files = contents(tree.path());
    for ignored in ["", ".gitattributes\n"] {
        put(tree.path(), ".gitattributes", b"* text eol=crlf\n");
        put(tree.path(), ".gitignore", format!("target/\n{ignored}").as_bytes());
        put(tree.path(), "README.md", b"changed\n");
        tree.restore(&before).unwrap();
        assert_eq!(contents(tree.path()), files);
    }
    put(tree.path(), ".gitattributes", b"* text eol=crlf\n");
    put(tree.path(), ".gitignore", b".gitattributes\n");
    put(tree.path(), "README.md", b"changed\r\n");
    let after = tree.snapshot().unwrap();
    let fresh = trees.lend("t1", TaskStart::Tree(&after)).unwrap();
    assert_eq!(get(fresh.path(), "README.md").unwrap(), b"changed\r\n");
}

#[test]
fn a_large_file_filter_stores_pointers_and_restores_contents_exactly() {
    let bed = Testbed::new();
    put(&bed.user(), ".gitattributes", b"*.bin filter=big -text\n");
    put(&bed.user(), "a.bin", b"pointer\n");
    bed.commit("pointer");
    bed.git(&["config", "filter.big.clean", "sed s/.*/pointer/"]);
    bed.git(&["config", "filter.big.smudge", "cat"]);
    bed.git(&["config", "filter.big.required", "true"]);
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    assert_eq!(get(tree.path(), "a.bin").unwrap(), b"pointer\n");
    let before = tree.snapshot().unwrap();
    put(tree.path(), "a.bin", b"the real content\n");
    put(tree.path(), "b.bin", b"another\n");
    let after = tree.snapshot().unwrap();
    let files = contents(tree.path());
    assert_eq!(tree.read(&after, Path::new("b.bin")).unwrap().unwrap(), b"pointer\n");
    tree.restore(&before).unwrap();
    assert_eq!(get(tree.path(), "a.bin").unwrap(), b"pointer\n");
    tree.restore(&after).unwrap();
    assert_eq!(contents(tree.path()), files);
}

#[test]
fn an_unconfigured_filter_is_skipped_and_a_missing_one_is_a_clear_error() {
    let bed = Testbed::new();
    put(&bed.user(), ".gitattributes", b"*.bin filter=lfs diff=lfs merge=lfs -text\n");
    put(&bed.user(), "a.bin", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    bed.commit("pointer");
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    assert!(get(tree.path(), "a.bin").unwrap().starts_with(b"version https"));
    bed.git(&["config", "filter.lfs.clean", "remand-no-such-filter"]);
    bed.git(&["config", "filter.lfs.smudge", "remand-no-such-filter"]);
    bed.git(&["config", "filter.lfs.required", "true"]);
    let refused = RunTrees::begin(&bed.repository(), "r2", &bed.runs().join("r2"), &bed.base()).unwrap_err();
    assert!(matches!(refused, GitError::FilterFailed { .. }), "{refused}");
    assert!(refused.hint().contains("filter"), "{}", refused.hint());
    put(tree.path(), "b.bin", b"x");
    let refused = tree.snapshot().unwrap_err();
    assert!(matches!(refused, GitError::FilterFailed { .. }), "{refused}");
    bed.git(&["config", "--remove-section", "filter.lfs"]);
    tree.snapshot().unwrap();
}

#[test]
fn work_trees_of_a_sparse_checkout_contain_all_files() {
    let bed = Testbed::new();
    bed.write("docs/guide.txt", "x\n");
    bed.commit("docs");
    bed.git(&["sparse-checkout", "set", "src"]);
    assert!(!bed.user().join("docs").exists());
    let before = bed.fingerprint();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    assert!(tree.path().join("docs/guide.txt").exists());
    assert_eq!(tree.snapshot().unwrap(), trees.base_tree().unwrap());
    put(tree.path(), "docs/guide.txt", b"y\n");
    let after = tree.snapshot().unwrap();
    trees.record(&after, "guide", "c1").unwrap();
    let message = CommitMessage { subject: "Guide".to_string(), ..CommitMessage::default() };
    assert!(matches!(
        trees.commit(&FileContents::new(), &message, "c2", &no_hook_files).unwrap(),
        FinalCommit::Committed { .. }
    ));
    assert_eq!(bed.git(&["show", "remand/r1:docs/guide.txt"]), "y");
    assert_eq!(bed.fingerprint().0, before.0);
    assert_eq!(bed.fingerprint().2, before.2);
}

#[test]
fn a_temporary_checkout_is_removed_on_drop_or_by_the_next_one() {
    let bed = Testbed::new();
    bed.write("README.md", "not committed\n");
    let (repository, within) = (bed.repository(), bed.folder.path().join("copies"));
    assert!(!repository.holds_only(&bed.base()).unwrap());
    fs::create_dir(&within).unwrap();
    // No process has a pid this high.
    fs::create_dir(within.join("remand-copy-2147483647-0")).unwrap();
    let copy = TemporaryCheckout::of(&repository, &bed.base(), &within).unwrap();
    assert_eq!(fs::read_to_string(copy.tree().join("README.md")).unwrap(), "one\n");
    assert_eq!(fs::read_dir(&within).unwrap().count(), 1);
    drop(copy);
    assert_eq!(fs::read_dir(&within).unwrap().count(), 0);
    bed.git(&["checkout", "-q", "."]);
    assert!(repository.holds_only(&bed.base()).unwrap());
    bed.git(&["sparse-checkout", "set", "docs"]);
    assert!(!repository.holds_only(&bed.base()).unwrap());
}
