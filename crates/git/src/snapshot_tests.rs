//! Tests of snapshots and restores: what they contain, and how they repair damage.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, contents, get, git_in, put};
use super::*;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

fn set_mode(file: &Path, mode: u32) {
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

// CORE-17
#[test]
fn a_restore_undoes_a_dispatch_exactly_and_keeps_ignored_files() {
    let bed = Testbed::new();
    bed.write("run.sh", "#!/bin/sh\n");
    set_mode(&bed.user().join("run.sh"), 0o755);
    symlink("README.md", bed.user().join("link")).unwrap();
    bed.commit("more");
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let root = tree.path();
    put(root, "target/cache", b"kept");
    put(root, "untracked.txt", b"mine");
    let before = tree.snapshot().unwrap();
    let files = contents(root);

    put(root, "README.md", b"changed\n");
    fs::remove_dir_all(root.join("src")).unwrap();
    put(root, "src", b"a file where a folder was");
    fs::remove_file(root.join("untracked.txt")).unwrap();
    put(root, "untracked.txt/now/a/folder", b"x");
    set_mode(&root.join("run.sh"), 0o644);
    fs::remove_file(root.join("link")).unwrap();
    symlink("/etc", root.join("link")).unwrap();
    put(root, ".gitignore", b"hidden\n");
    put(root, "hidden", b"x");
    fs::create_dir_all(root.join("empty/one/two")).unwrap();
    let after = tree.snapshot().unwrap();
    assert_ne!(after, before);
    let changed = contents(root);

    tree.restore(&before).unwrap();
    assert_eq!(contents(root), files);
    assert_eq!(tree.snapshot().unwrap(), before);

    tree.restore(&after).unwrap();
    let mut expected = changed;
    expected.retain(|file, _| !file.starts_with("empty") && file != Path::new("hidden"));
    assert_eq!(contents(root), expected);
}

#[test]
fn unusual_file_names_are_restored_exactly() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    let names: Vec<PathBuf> = [
        &b"with space"[..],
        b"new\nline",
        b"tab\there",
        b"quote\"and'",
        b"back\\slash",
        b"not utf-8 \xff\xfe",
        b":(glob)*",
        b"-dash",
        b"dir \xf0/\n\n",
        "h\u{e9}llo".as_bytes(),
    ]
    .iter()
    .map(|name| PathBuf::from(OsStr::from_bytes(name)))
    .collect();
    for name in &names {
        put(tree.path(), name, b"x\n");
    }
    let after = tree.snapshot().unwrap();
    let mut listed: Vec<PathBuf> =
        tree.changed(&before, &after).unwrap().into_iter().map(|change| change.path).collect();
    listed.sort();
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(listed, sorted);
    let files = contents(tree.path());
    assert_eq!(tree.read(&after, &names[1]).unwrap().as_deref(), Some(&b"x\n"[..]));
    tree.restore(&before).unwrap();
    assert!(names.iter().all(|name| get(tree.path(), name).is_none()));
    tree.restore(&after).unwrap();
    assert_eq!(contents(tree.path()), files);
}

#[test]
fn an_edit_with_the_same_size_and_time_is_detected() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let file = tree.path().join("README.md");
    let old = SystemTime::now() - Duration::from_secs(3600);
    let write = |content: &[u8], at: SystemTime| {
        fs::write(&file, content).unwrap();
        File::options().write(true).open(&file).unwrap().set_modified(at).unwrap();
    };
    let mut last = tree.snapshot().unwrap();
    for round in 0..20_u8 {
        let at = if round % 2 == 0 { old } else { SystemTime::now() };
        write(&[b'a' + round, b'\n'], at);
        let first = tree.snapshot().unwrap();
        assert_ne!(first, last, "round {round}");
        write(&[b'A' + round, b'\n'], at);
        last = tree.snapshot().unwrap();
        assert_ne!(last, first, "round {round}");
        tree.restore(&first).unwrap();
        assert_eq!(fs::read(&file).unwrap(), [b'a' + round, b'\n']);
        tree.restore(&last).unwrap();
        assert_eq!(fs::read(&file).unwrap(), [b'A' + round, b'\n']);
    }
}

#[test]
fn an_agents_use_of_git_does_not_affect_snapshots() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    put(tree.path(), "new", b"x");
    git_in(tree.path(), &["checkout", "-q", "-b", "agents-own"]);
    git_in(tree.path(), &["rm", "-q", "--cached", "README.md"]);
    git_in(tree.path(), &["update-index", "--assume-unchanged", "src/lib.rs"]);
    put(tree.path(), "src/lib.rs", b"changed");
    let after = tree.snapshot().unwrap();
    let kinds: Vec<_> =
        tree.changed(&before, &after).unwrap().into_iter().map(|one| (one.path, one.kind)).collect();
    assert_eq!(
        kinds,
        [(PathBuf::from("new"), ChangeKind::Added), (PathBuf::from("src/lib.rs"), ChangeKind::Modified)]
    );
    tree.restore(&before).unwrap();
    assert_eq!(git_in(tree.path(), &["status", "--porcelain"]), "");
    assert_eq!(git_in(tree.path(), &["rev-parse", "--abbrev-ref", "HEAD"]), "HEAD");
}

#[test]
fn a_damaged_link_and_a_lost_registration_are_repaired() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    let link = tree.path().join(".git");
    put(tree.path(), "new", b"x");

    fs::remove_file(&link).unwrap();
    git_in(tree.path(), &["init", "-q"]);
    let after = tree.snapshot().unwrap();
    assert_eq!(tree.changed(&before, &after).unwrap().len(), 1);
    assert!(fs::symlink_metadata(&link).unwrap().is_file());

    fs::remove_file(&link).unwrap();
    symlink("/", &link).unwrap();
    assert_eq!(tree.snapshot().unwrap(), after);

    fs::remove_dir_all(bed.user().join(".git/worktrees")).unwrap();
    fs::remove_file(&link).unwrap();
    assert_eq!(tree.snapshot().unwrap(), after);
    tree.restore(&before).unwrap();
    assert_eq!(git_in(tree.path(), &["status", "--porcelain"]), "");

    fs::write(trees.folder.join("private/main.index"), b"invalid").unwrap();
    assert_eq!(tree.snapshot().unwrap(), before);
    fs::write(trees.folder.join("private/main.index"), b"invalid").unwrap();
    tree.restore(&after).unwrap();
    assert_eq!(get(tree.path(), "new").unwrap(), b"x");

    fs::remove_dir_all(tree.path()).unwrap();
    tree.restore(&after).unwrap();
    assert_eq!(tree.snapshot().unwrap(), after);
}

#[test]
fn locks_of_a_killed_git_are_removed() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    put(tree.path(), "new", b"x");
    let long_ago = SystemTime::now() - Duration::from_secs(60);
    for lock in [
        trees.folder.join("private/main.index.lock"),
        bed.user().join(".git/worktrees/remand-r1-main/index.lock"),
        bed.user().join(".git/refs/remand/r1/main.lock"),
        bed.user().join(format!(".git/refs/remand/r1/snapshots/{}.lock", before.tree())),
    ] {
        File::create(&lock).unwrap().set_modified(long_ago).unwrap();
    }
    let trees = RunTrees::open(&bed.repository(), "r1", &bed.runs().join("r1")).unwrap();
    let tree = trees.main_tree();
    let after = tree.snapshot().unwrap();
    assert_ne!(after, before);
    trees.record(&after, "more", "c1").unwrap();
    fs::remove_file(tree.path().join("new")).unwrap();
    assert_eq!(tree.snapshot().unwrap(), before);
}

#[test]
fn the_published_index_has_a_checksum() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let index = bed.user().join(".git/worktrees/remand-r1-main/index");
    let has_checksum = || !fs::read(&index).unwrap().ends_with(&[0; 20]);
    assert!(has_checksum());
    put(tree.path(), "new", b"x");
    trees.record(&tree.snapshot().unwrap(), "more", "c1").unwrap();
    assert!(has_checksum());
    assert_eq!(git_in(tree.path(), &["ls-files", "new"]).trim(), "new");
    put(tree.path(), "new", b"y");
    tree.restore(&trees.base_tree().unwrap()).unwrap();
    assert!(has_checksum());
    git_in(tree.path(), &["fsck", "--no-dangling"]);
}

#[test]
fn a_link_to_a_folder_outside_is_never_followed() {
    let bed = Testbed::new();
    let outside = bed.folder.path().join("outside");
    put(&outside, "lib.rs", b"precious");
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    fs::remove_dir_all(tree.path().join("src")).unwrap();
    symlink(&outside, tree.path().join("src")).unwrap();
    let after = tree.snapshot().unwrap();
    assert_eq!(
        tree.changed(&before, &after).unwrap(),
        [
            ChangedPath { path: "src".into(), kind: ChangeKind::Added },
            ChangedPath { path: "src/lib.rs".into(), kind: ChangeKind::Deleted }
        ]
    );
    tree.restore(&before).unwrap();
    assert_eq!(tree.snapshot().unwrap(), before);
    assert_eq!(get(&outside, "lib.rs").unwrap(), b"precious");
}

#[test]
fn a_file_that_became_ignored_leaves_the_snapshot_unless_the_base_tracks_it() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    put(tree.path(), "modules/big", b"x");
    let with_modules = tree.snapshot().unwrap();
    put(tree.path(), ".gitignore", b"modules/\nREADME.md\n");
    let without_modules = tree.snapshot().unwrap();
    let names = |from: &TreeId, to: &TreeId| -> Vec<PathBuf> {
        tree.changed(from, to).unwrap().into_iter().map(|one| one.path).collect()
    };
    assert_eq!(names(&before, &with_modules), [PathBuf::from("modules/big")]);
    assert_eq!(names(&before, &without_modules), [PathBuf::from(".gitignore")]);
}

#[test]
fn the_files_of_a_repository_inside_the_tree_are_in_the_snapshot() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    put(tree.path(), "deep/inner/a.txt", b"a");
    put(tree.path(), "deep/inner/b.log", b"ignored");
    git_in(&tree.path().join("deep/inner"), &["init", "-q"]);
    let after = tree.snapshot().unwrap();
    assert_eq!(
        tree.changed(&before, &after).unwrap(),
        [ChangedPath { path: "deep/inner/a.txt".into(), kind: ChangeKind::Added }]
    );
    assert_eq!(tree.snapshot().unwrap(), after);
    let files = contents(tree.path());
    tree.restore(&after).unwrap();
    assert_eq!(contents(tree.path()), files);
    tree.restore(&before).unwrap();
    assert!(!tree.path().join("deep").exists());
    tree.restore(&after).unwrap();
    assert_eq!(get(tree.path(), "deep/inner/a.txt").unwrap(), b"a");
}

#[test]
fn folders_and_files_without_permissions_are_made_accessible() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    put(tree.path(), "closed/file", b"x");
    put(tree.path(), "unreadable", b"y");
    set_mode(&tree.path().join("unreadable"), 0);
    set_mode(&tree.path().join("closed"), 0);
    set_mode(&tree.path().join("src"), 0o555);
    let after = tree.snapshot().unwrap();
    assert_eq!(tree.changed(&before, &after).unwrap().len(), 2);
    set_mode(&tree.path().join("closed"), 0o500);
    put(tree.path(), "README.md", b"changed");
    tree.restore(&before).unwrap();
    assert_eq!(tree.snapshot().unwrap(), before);
    assert!(!tree.path().join("closed").exists());
}
