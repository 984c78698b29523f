//! Tests of runs that start in the work trees of a finished run.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, contents, git_in, put};
use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// A repository with many files.
fn large() -> Testbed {
    let bed = Testbed::new();
    for number in 0..100 {
        bed.write(&format!("part{}/file{number}.txt", number % 7), &format!("file {number}\n"));
    }
    bed.commit("many");
    bed
}

fn pass_on(bed: &Testbed, from: &str, to: &str) -> bool {
    let (earlier_folder, folder) = (bed.runs().join(from), bed.runs().join(to));
    inherit(&bed.repository(), (from, &earlier_folder), (to, &folder)).unwrap()
}

/// The inode and change time of each file.
fn stamps(root: &Path) -> BTreeMap<PathBuf, (u64, i64, i64)> {
    let files = contents(root).into_keys().filter(|file| !root.join(file).is_dir());
    let stamp = |file: PathBuf| {
        let found = fs::symlink_metadata(root.join(&file)).unwrap();
        (file, (found.ino(), found.ctime(), found.ctime_nsec()))
    };
    files.map(stamp).collect()
}

// OT-21
#[test]
fn a_run_writes_only_the_files_that_differ_from_the_inherited_tree() {
    let bed = large();
    let first = bed.run("r1");
    put(first.main_tree().path(), "part1/file1.txt", b"changed by r1\n");
    put(first.main_tree().path(), "part1/new.txt", b"made by r1\n");
    let tree = first.main_tree().snapshot().unwrap();
    first.record(&tree, "work", "c1").unwrap();
    first.lend("checks of the main line", TaskStart::Main).unwrap();
    bed.write("part2/file2.txt", "changed by the user\n");
    bed.commit("meanwhile");
    let before = stamps(first.main_tree().path());
    let lent_before = stamps(&bed.runs().join("r1/pool/1"));

    assert!(pass_on(&bed, "r1", "r2"));
    let second = bed.run("r2");

    let written = |before: &BTreeMap<PathBuf, (u64, i64, i64)>, root: &Path| {
        let after = stamps(root);
        let is_new = |file: &&PathBuf| after.get(*file) != before.get(*file);
        after.keys().filter(is_new).cloned().collect::<Vec<PathBuf>>()
    };
    let differing = [PathBuf::from("part1/file1.txt"), PathBuf::from("part2/file2.txt")];
    assert_eq!(written(&before, second.main_tree().path()), differing, "of more than 100 files");
    let pooled = second.lend("task-1", TaskStart::Main).unwrap();
    assert_eq!(written(&lent_before, pooled.path()), differing);
    assert!(!bed.runs().join("r1").exists());
    assert_eq!(bed.git(&["worktree", "list"]).lines().count(), 3, "{}", bed.git(&["worktree", "list"]));
}

// OT-21, EP-14
#[test]
fn an_inherited_tree_contains_nothing_of_the_earlier_run() {
    let bed = large();
    let fresh = bed.run("fresh");
    let expected = (contents(fresh.main_tree().path()), modes(fresh.main_tree().path()));
    let leave_traces: [fn(&Path); 2] = [leave_files, leave_modes];
    for (at, leave_traces) in leave_traces.into_iter().enumerate() {
        let (one, other) = (format!("r{at}a"), format!("r{at}b"));
        let first = bed.run(&one);
        let inode = |tree: &WorkTree| fs::metadata(tree.path().join("src/lib.rs")).unwrap().ino();
        let before = [first.main_tree(), first.lend("task-1", TaskStart::Main).unwrap()].map(|tree| {
            leave_traces(tree.path());
            inode(&tree)
        });
        put(&bed.runs().join(&one), "private/main.index.lock", b"");

        assert!(pass_on(&bed, &one, &other));
        let second = bed.run(&other);

        let after = [second.main_tree(), second.lend("task-1", TaskStart::Main).unwrap()].map(|tree| {
            assert_eq!((contents(tree.path()), modes(tree.path())), expected, "{} of {other}", tree.name());
            assert_eq!(git_in(tree.path(), &["status", "--porcelain", "--ignored"]), "");
            assert!(!tree.admin().join("config.worktree").exists(), "{} of {other}", tree.name());
            assert!(!git_in(tree.path(), &["ls-files", "-v"]).contains("\nh "), "{} of {other}", tree.name());
            inode(&tree)
        });
        assert_eq!(after == before, at == 0, "a tree that can be cleaned is kept, others are created again");
    }
}

fn modes(root: &Path) -> BTreeMap<PathBuf, u32> {
    let mode = |file: PathBuf| (file.clone(), fs::symlink_metadata(root.join(file)).unwrap().mode());
    contents(root).into_keys().map(mode).collect()
}

/// Leaves changes that git can detect, and some that it is configured to ignore.
fn leave_files(root: &Path) {
    put(root, "target/debug/out", b"build output");
    put(root, "secret.log", b"ignored");
    put(root, "untracked/deep/file", b"not ignored");
    put(root, "part1/file1.txt", b"FILE 1\n");
    put(root, "inner/.git/HEAD", b"ref: refs/heads/main\n");
    put(root, "target/inner/.git/HEAD", b"ref: refs/heads/main\n");
    fs::create_dir_all(root.join("empty/folder")).unwrap();
    fs::remove_file(root.join("part3/file3.txt")).unwrap();
    fs::set_permissions(root.join("part0/file0.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", root.join("part4/link")).unwrap();
    fs::hard_link(root.join("README.md"), root.join("part5/linked")).unwrap();
    git_in(root, &["add", "part1/file1.txt"]);
    git_in(root, &["update-index", "--assume-unchanged", "README.md"]);
    git_in(root, &["config", "--local", "extensions.worktreeConfig", "true"]);
    git_in(root, &["config", "--worktree", "core.sparseCheckout", "true"]);
}

/// Leaves changes that git does not check.
fn leave_modes(root: &Path) {
    for (file, mode) in [("part6/file6.txt", 0o666), ("part2", 0o777)] {
        fs::set_permissions(root.join(file), fs::Permissions::from_mode(mode)).unwrap();
    }
}

// CORE-04
#[test]
fn inheriting_recovers_from_a_kill_at_any_point() {
    let bed = large();
    let state = |trees: &RunTrees| trees.main_state().unwrap().tree;
    // Killed before the move: the marker file exists, and the run can be resumed or pass on its trees later.
    let first = bed.run("r1");
    put(first.main_tree().path(), "secret.log", b"ignored");
    put(&bed.runs().join("r1"), "private/inherited", b"r1");
    let first = bed.run("r1");
    assert!(!first.main_tree().path().join("secret.log").exists());
    put(&bed.runs().join("r1"), "private/inherited", b"r1");
    let label = format!("r2\n{}\n", bed.repository().identity().unwrap());
    put(&bed.runs().join("r1"), "private/run", label.as_bytes());
    put(first.main_tree().path(), "secret.log", b"ignored");
    assert!(pass_on(&bed, "r1", "r2"));
    // Killed after the move and before cleaning: resuming the run cleans the trees.
    assert!(bed.runs().join("r2/main/secret.log").exists());
    let second = bed.run("r2");
    assert!(!second.main_tree().path().join("secret.log").exists());
    assert!(!bed.runs().join("r2/private/inherited").exists());
    assert_eq!(second.main_tree().snapshot().unwrap(), state(&second));
    // Killed while cleaning, with a broken index.
    put(&bed.runs().join("r2"), "private/inherited", b"r1");
    put(&bed.runs().join("r2"), "private/main.index", b"half");
    put(second.main_tree().path(), "part1/file1.txt", b"half");
    let second = bed.run("r2");
    assert_eq!(second.main_tree().snapshot().unwrap(), state(&second));
    assert_eq!(contents(second.main_tree().path()), contents(bed.run("fresh").main_tree().path()));
    bed.git(&["fsck", "--no-dangling"]);
}

#[test]
fn a_folder_with_other_files_or_from_another_repository_is_not_inherited() {
    let bed = large();
    bed.run("r1");
    put(&bed.runs().join("r1"), "notes", b"not ours");
    assert!(!pass_on(&bed, "r1", "r2"));
    fs::remove_file(bed.runs().join("r1/notes")).unwrap();
    put(&bed.runs().join("r1"), "private/run", b"r1\n/elsewhere/.git\n");
    assert!(!pass_on(&bed, "r1", "r2"));
    bed.run("r3");
    assert!(!pass_on(&bed, "r3", "r1"), "r1 has trees");
    assert!(!pass_on(&bed, "none", "r2"));
    assert!(bed.runs().join("r1/main").is_dir() && bed.runs().join("r3/main").is_dir());
}

#[test]
fn the_number_of_inherited_trees_is_limited() {
    let bed = large();
    let first = bed.run("r1");
    for task in 1..=7 {
        first.lend(&format!("task-{task}"), TaskStart::Main).unwrap();
    }
    assert!(pass_on(&bed, "r1", "r2"));
    bed.run("r2");
    assert_eq!(fs::read_dir(bed.runs().join("r2/pool")).unwrap().count(), 4);
    assert_eq!(bed.git(&["worktree", "list"]).lines().count(), 6);
}

#[test]
fn trees_can_be_inherited_after_the_checkout_was_moved() {
    let bed = large();
    bed.run("r1");
    let before = stamps(&bed.runs().join("r1/main"));
    let moved = bed.folder.path().join("moved");
    fs::rename(bed.user(), &moved).unwrap();
    let repository = Repository::discover(&moved).unwrap();
    let (earlier_folder, folder) = (bed.runs().join("r1"), bed.runs().join("r2"));
    assert!(inherit(&repository, ("r1", &earlier_folder), ("r2", &folder)).unwrap());
    let base = repository.head().unwrap().commit;
    let trees = RunTrees::begin(&repository, "r2", &folder, &base).unwrap();
    assert_eq!(stamps(trees.main_tree().path()), before, "nothing is written again");
}
