//! Tests of differences: changed paths, hunks and patches.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, contents, git_in, put};
use super::*;
use remand_kernel::change::{FileChange, Hunk};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const UNUSUAL_NAME: &str = "no \"newline\n\u{2026}.rs";

fn hunk(removed: &[&str], added: &[&str]) -> Hunk {
    let owned = |lines: &[&str]| lines.iter().map(ToString::to_string).collect();
    Hunk { removed: owned(removed), added: owned(added) }
}

fn change_files(root: &Path) {
    put(
        root,
        "src/lib.rs",
        b"fn a() { 1 }\n\n\n\n\n\nfn b() {}\n-- dashes\n+++ pluses\ndiff --git a/x b/x\n@@ -1 +1 @@\n",
    );
    put(root, "Cargo.lock", b"[[package]]\n");
    put(root, "image.png", b"\x89PNG\0\0\0");
    put(root, UNUSUAL_NAME, b"last");
    fs::remove_file(root.join("README.md")).unwrap();
    fs::set_permissions(root.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(root.join("plain")).unwrap();
    symlink("tool", root.join("plain")).unwrap();
}

#[test]
fn every_kind_of_difference_is_distinguished() {
    let bed = Testbed::new();
    bed.write("tool", "x\n");
    bed.write("plain", "y\n");
    bed.commit("more");
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    change_files(tree.path());
    let after = tree.snapshot().unwrap();
    let kinds: Vec<_> = tree
        .changed(&before, &after)
        .unwrap()
        .into_iter()
        .map(|change| (change.path.display().to_string(), change.kind))
        .collect();
    let expected = [
        ("Cargo.lock", ChangeKind::Added),
        ("README.md", ChangeKind::Deleted),
        ("image.png", ChangeKind::Added),
        (UNUSUAL_NAME, ChangeKind::Added),
        ("plain", ChangeKind::Symlink),
        ("src/lib.rs", ChangeKind::Modified),
        ("tool", ChangeKind::Mode),
    ];
    assert_eq!(kinds, expected.map(|(path, kind)| (path.to_string(), kind)));

    let change = tree.change(&before, &after).unwrap();
    assert_eq!(change.tree, after.digest());
    let file =
        |path: &str| -> FileChange { change.files.iter().find(|file| file.path == path).unwrap().clone() };
    let added = ["-- dashes", "+++ pluses", "diff --git a/x b/x", "@@ -1 +1 @@"];
    assert_eq!(file("src/lib.rs").hunks, [hunk(&["fn a() {}"], &["fn a() { 1 }"]), hunk(&[], &added)]);
    assert_eq!(file("README.md").hunks, [hunk(&["one"], &[])]);
    assert_eq!(file("plain").hunks, [hunk(&["y"], &[]), hunk(&[], &["tool"])]);
    assert_eq!(file(UNUSUAL_NAME).hunks, [hunk(&[], &["last"])]);
    assert_eq!(file("image.png").hunks, []);
    assert_eq!(file("tool").hunks, []);
    let generated: Vec<&str> =
        change.files.iter().filter(|file| file.generated).map(|file| file.path.as_str()).collect();
    assert_eq!(generated, ["Cargo.lock", "README.md"]);
}

#[test]
fn a_patch_applied_to_the_state_before_gives_the_state_after() {
    let bed = Testbed::new();
    bed.write("tool", "x\n");
    bed.write("plain", "y\n");
    bed.commit("more");
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    change_files(tree.path());
    let after = tree.snapshot().unwrap();
    let patch = bed.folder.path().join("patch");
    fs::write(&patch, tree.patch(&before, &after).unwrap()).unwrap();
    git_in(&bed.user(), &["apply", patch.to_str().unwrap()]);
    assert_eq!(
        contents(&bed.user()).into_iter().filter(|(path, _)| !path.starts_with(".git/")).collect::<Vec<_>>(),
        contents(tree.path()).into_iter().collect::<Vec<_>>()
    );
}

#[test]
fn an_attribute_that_an_agent_sets_does_not_hide_changed_lines() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let tree = trees.main_tree();
    let before = tree.snapshot().unwrap();
    put(tree.path(), ".gitattributes", b"*.rs -diff\n");
    put(tree.path(), "src/lib.rs", b"fn c() {}\n");
    let change = tree.change(&before, &tree.snapshot().unwrap()).unwrap();
    assert!(!change.files.iter().find(|file| file.path == "src/lib.rs").unwrap().hunks.is_empty());
}

#[test]
fn tree_ids_can_be_written_and_parsed_and_invalid_ids_are_rejected() {
    let plain: TreeId = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
    assert_eq!(plain.digest().0, 0x0123_4567_89ab_cdef);
    let raw: TreeId = format!("{plain}+{}", "a".repeat(40)).parse().unwrap();
    assert_eq!(raw.to_string().parse::<TreeId>().unwrap(), raw);
    assert_ne!(raw, plain);
    for invalid in ["", "HEAD", "0123", &"g".repeat(40), &"A".repeat(40)] {
        assert!(invalid.parse::<TreeId>().is_err(), "{invalid}");
        assert!(invalid.parse::<CommitId>().is_err(), "{invalid}");
    }
}

#[test]
fn a_file_can_be_read_from_a_tree() {
    let bed = Testbed::new();
    let trees = bed.run("r1");
    let base = trees.base_tree().unwrap();
    let tree = trees.main_tree();
    assert_eq!(tree.read(&base, Path::new("README.md")).unwrap().unwrap(), b"one\n");
    assert_eq!(tree.read(&base, Path::new("src")).unwrap(), None);
    assert_eq!(tree.read(&base, Path::new("nothing\nhere")).unwrap(), None);
}
