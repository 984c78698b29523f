//! Tests of submodules: how their folders are filled, and what happens to changes in them.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, git_in, put};
use super::*;
use std::fs;
use std::path::{Path, PathBuf};

/// A repository with a submodule at `libs/other`, and the repository of the submodule. The submodule has a file `lib.c` and
/// a tracked folder with a name like build output.
fn beds_with_submodule() -> (Testbed, Testbed) {
    let (bed, other) = (Testbed::new(), Testbed::new());
    other.write("lib.c", "int lib;\n");
    other.write("build/rules.mk", "all:\n");
    other.git(&["add", "-f", "build/rules.mk"]);
    other.commit("lib");
    bed.git(&["submodule", "--quiet", "add", other.user().to_str().unwrap(), "libs/other"]);
    bed.commit("submodule");
    (bed, other)
}

fn is_empty(folder: &Path) -> bool {
    folder.is_dir() && fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn submodules_are_filled_from_the_local_repository_and_are_not_in_snapshots() {
    let (bed, other) = beds_with_submodule();
    let checkout = bed.fingerprint();
    // Nothing is fetched.
    fs::rename(other.user(), other.folder.path().join("gone")).unwrap();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let inside = tree.path().join("libs/other");
    assert_eq!(fs::read_to_string(inside.join("lib.c")).unwrap(), "int lib;\n");
    assert!(inside.join("build/rules.mk").is_file() && !inside.join(".git").exists());
    let before = tree.snapshot().unwrap();
    assert_eq!(before, trees.base_tree().unwrap());

    put(&inside, "stray", b"x");
    put(&inside, "lib.c", b"int other;\n");
    fs::remove_file(inside.join("README.md")).unwrap();
    assert_eq!(tree.snapshot().unwrap(), before);
    tree.restore(&before).unwrap();
    assert_eq!(fs::read_to_string(inside.join("lib.c")).unwrap(), "int lib;\n");
    assert!(!inside.join("stray").exists() && inside.join("README.md").exists());

    let inode = || {
        fs::metadata(inside.join("lib.c")).map(|found| std::os::unix::fs::MetadataExt::ino(&found)).unwrap()
    };
    let before_restore = inode();
    tree.restore(&before).unwrap();
    assert_eq!(inode(), before_restore, "unchanged files are not written again");
    let lent = trees.lend("task", TaskStart::Main).unwrap();
    assert!(lent.path().join("libs/other/lib.c").is_file());
    assert_eq!(bed.fingerprint(), checkout);
}

#[test]
fn a_submodule_is_updated_and_removed_with_the_state() {
    let (bed, other) = beds_with_submodule();
    let older = bed.repository().tree_of(&bed.base()).unwrap();
    other.write("lib.c", "int later;\n");
    other.commit("later");
    git_in(&bed.user().join("libs/other"), &["pull", "-q"]);
    bed.commit("newer submodule");
    let newer = bed.repository().tree_of(&bed.base()).unwrap();
    bed.git(&["rm", "-q", "libs/other"]);
    bed.write("libs/other", "a file");
    bed.commit("a file instead");
    let without = bed.repository().tree_of(&bed.base()).unwrap();
    let tree = bed.run("r1").main_tree();
    let lib = || fs::read_to_string(tree.path().join("libs/other/lib.c")).unwrap();
    for _ in 0..2 {
        assert_eq!(fs::read_to_string(tree.path().join("libs/other")).unwrap(), "a file");
        tree.restore(&older).unwrap();
        assert_eq!(lib(), "int lib;\n");
        tree.restore(&newer).unwrap();
        assert_eq!(lib(), "int later;\n");
        assert_eq!(tree.snapshot().unwrap(), newer);
        tree.restore(&without).unwrap();
        assert_eq!(tree.snapshot().unwrap(), without);
    }
}

#[test]
fn nested_submodules_are_filled_and_missing_ones_are_reported() {
    let (middle, _inner) = beds_with_submodule();
    let bed = Testbed::new();
    bed.git(&["submodule", "--quiet", "add", middle.user().to_str().unwrap(), "deps/middle"]);
    bed.git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
    bed.commit("nested");
    let base = bed.repository().tree_of(&bed.base()).unwrap();
    assert!(bed.repository().absent_submodules(&base).unwrap().is_empty());
    let tree = bed.run("r1").main_tree();
    assert!(tree.path().join("deps/middle/libs/other/lib.c").is_file());

    fs::remove_dir_all(bed.user().join(".git/modules/deps/middle/modules")).unwrap();
    let absent = bed.repository().absent_submodules(&base).unwrap();
    assert_eq!(absent, [PathBuf::from("deps/middle/libs/other")]);
    fs::remove_dir_all(bed.user().join(".git/modules")).unwrap();
    assert_eq!(bed.repository().absent_submodules(&base).unwrap(), [PathBuf::from("deps/middle")]);
    let tree = bed.run("r2").main_tree();
    assert!(is_empty(&tree.path().join("deps/middle")));
}

#[test]
fn a_submodule_name_with_dots_cannot_escape_the_modules_folder() {
    let (bed, _other) = beds_with_submodule();
    fs::rename(bed.user().join(".git/modules/libs/other"), bed.user().join(".git/elsewhere")).unwrap();
    let modules = fs::read_to_string(bed.user().join(".gitmodules")).unwrap();
    bed.write(".gitmodules", &modules.replace("[submodule \"libs/other\"]", "[submodule \"../elsewhere\"]"));
    bed.git(&["add", ".gitmodules"]);
    bed.git(&["commit", "-q", "-m", "out"]);
    assert!(is_empty(&bed.run("r1").main_tree().path().join("libs/other")));
}

// CORE-05
#[test]
fn changes_in_a_submodule_are_reported_and_undone() {
    let (bed, _other) = beds_with_submodule();
    let tree = bed.run("r1").main_tree();
    let (state, before) =
        (tree.snapshot().unwrap(), tree.clean_up(KeepIgnored::BuildOutput, Reach::Tree).unwrap());
    let aftermath = tree.aftermath(&before, &state, Reach::Tree).unwrap();
    assert_eq!((aftermath.changes, aftermath.leftovers), (Vec::new(), Vec::new()));

    let inside = tree.path().join("libs/other");
    put(&inside, "build/rules.mk", b"evil:\n");
    put(&inside, "out/deep/lib.o", b"x");
    fs::remove_file(inside.join("lib.c")).unwrap();
    let aftermath = tree.aftermath(&before, &state, Reach::Tree).unwrap();
    let leftover = |path: &str, kind: LeftoverKind| Leftover { path: path.into(), kind };
    assert_eq!(aftermath.changes, []);
    assert_eq!(
        aftermath.leftovers,
        [
            leftover("libs/other/build/rules.mk", LeftoverKind::Submodule),
            leftover("libs/other/lib.c", LeftoverKind::Submodule),
            leftover("libs/other/out", LeftoverKind::InSubmodule),
        ]
    );
    let changed = ["libs/other/build/rules.mk", "libs/other/lib.c"].map(PathBuf::from);
    assert_eq!(tree.changed_in_submodules(), changed);
    tree.undo_leftovers(&before, &aftermath.leftovers).unwrap();
    assert_eq!(fs::read_to_string(inside.join("build/rules.mk")).unwrap(), "all:\n");
    assert!(inside.join("lib.c").exists() && !inside.join("out").exists());
    assert_eq!(tree.aftermath(&before, &state, Reach::Tree).unwrap().leftovers, []);

    put(&inside, "lib.c", b"evil");
    tree.restore_submodules().unwrap();
    assert_eq!(tree.changed_in_submodules(), Vec::<PathBuf>::new());
}

// CORE-05
#[test]
fn a_changed_submodule_commit_is_detected_even_if_the_repository_ignores_it() {
    let (bed, other) = beds_with_submodule();
    bed.git(&["config", "--file", ".gitmodules", "submodule.libs/other.ignore", "all"]);
    bed.commit("ignored");
    let tree = bed.run("r1").main_tree();
    let (state, before) =
        (tree.snapshot().unwrap(), tree.clean_up(KeepIgnored::BuildOutput, Reach::Tree).unwrap());
    other.write("later", "x");
    other.commit("second");
    fs::remove_dir_all(tree.path().join("libs/other")).unwrap();
    git_in(tree.path(), &["clone", "-q", other.user().to_str().unwrap(), "libs/other"]);
    let aftermath = tree.aftermath(&before, &state, Reach::Tree).unwrap();
    let changed = [ChangedPath { path: "libs/other".into(), kind: ChangeKind::Submodule }];
    assert_eq!(aftermath.changes, changed);
    assert_eq!(tree.changed(&state, &aftermath.tree).unwrap(), changed);
    tree.restore(&state).unwrap();
    assert_eq!(tree.snapshot().unwrap(), state);
    assert!(!tree.path().join("libs/other/.git").exists());
}

#[test]
fn trees_with_submodules_can_be_inherited() {
    let (bed, _other) = beds_with_submodule();
    let first = bed.run("r1");
    put(&first.main_tree().path().join("libs/other"), "left", b"x");
    drop(first);
    let folders = (bed.runs().join("r1"), bed.runs().join("r2"));
    assert!(inherit(&bed.repository(), ("r1", &folders.0), ("r2", &folders.1)).unwrap());
    let tree = bed.run("r2").main_tree();
    assert!(tree.path().join("libs/other/lib.c").is_file() && !tree.path().join("libs/other/left").exists());
    assert_eq!(tree.snapshot().unwrap(), bed.repository().tree_of(&bed.base()).unwrap());
}

// CORE-05 BX-03
#[test]
fn a_repository_that_an_agent_leaves_in_a_tree_starts_no_program() {
    let (bed, _other) = beds_with_submodule();
    let started = bed.folder.path().join("started");
    let program = format!("touch '{}'; cat", started.display());
    let tree = bed.run_in(&bed.confined(), "r1").main_tree();
    let (state, before) =
        (tree.snapshot().unwrap(), tree.clean_up(KeepIgnored::BuildOutput, Reach::Tree).unwrap());
    for folder in ["libs/other", "own"].map(|name| tree.path().join(name)) {
        put(&folder, "lib.c", b"int lib;\n");
        git_in(&folder, &["init", "-q"]);
        put(&folder, ".gitattributes", b"* filter=own diff=own merge=own\n");
        git_in(&folder, &["add", "-A"]);
        git_in(
            &folder,
            &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "own"],
        );
        for key in [
            "core.fsmonitor",
            "filter.own.clean",
            "filter.own.smudge",
            "filter.own.process",
            "diff.own.textconv",
            "diff.own.command",
            "diff.external",
            "merge.own.driver",
            "core.sshCommand",
            "core.pager",
            "gpg.program",
        ] {
            git_in(&folder, &["config", key, &program]);
        }
        for hook in ["post-index-change", "reference-transaction", "pre-commit", "post-checkout"] {
            put(&folder, format!(".git/hooks/{hook}"), format!("#!/bin/sh\n{program}\n").as_bytes());
            let path = folder.join(".git/hooks").join(hook);
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        put(&folder, "lib.c", b"int evil;\n");
    }
    assert!(!started.exists(), "the test itself started something");
    let after = tree.snapshot().unwrap();
    tree.patch(&state, &after).unwrap();
    let aftermath = tree.aftermath(&before, &state, Reach::Tree).unwrap();
    assert!(!aftermath.leftovers.is_empty());
    tree.undo_leftovers(&before, &aftermath.leftovers).unwrap();
    tree.restore(&state).unwrap();
    assert!(!started.exists());
}
