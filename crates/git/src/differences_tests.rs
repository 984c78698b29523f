//! Tests that a scan finds all differences that git finds, or leaves the search to git.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::scan::ScanReach;
use super::testbed::{Testbed, contents, git_in, put};
use super::*;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

struct Fixture {
    _bed: Testbed,
    tree: WorkTree,
    state: TreeId,
    before: Inventory,
}

impl Fixture {
    fn new() -> Fixture {
        let bed = Testbed::new();
        let tree = bed.run("r1").main_tree();
        let state = tree.snapshot().unwrap();
        let before = tree.clean_up(KeepIgnored::BuildOutput, Reach::Tree).unwrap();
        Fixture { _bed: bed, tree, state, before }
    }

    /// The paths that differ according to a scan; `None` if only git can find them.
    fn differing_by_scan(&self) -> Option<BTreeSet<PathBuf>> {
        let scan = self.tree.scan(&BTreeSet::new(), &ScanReach::EVERYTHING).unwrap();
        let found = self.tree.differences_by_scan(&self.tree.index()?, &scan).unwrap()?;
        Some(found.touched.into_keys().chain(found.others).collect())
    }

    fn differing_by_git(&self) -> BTreeSet<PathBuf> {
        let found = self.tree.differences_by_git().unwrap();
        found.touched.into_keys().chain(found.others).collect()
    }

    /// The tree, if the index contains its id and nothing differs.
    fn tree_in_index(&self) -> Option<TreeId> {
        let scan = self.tree.scan(&BTreeSet::new(), &ScanReach::EVERYTHING).unwrap();
        self.tree.differences_by_scan(&self.tree.index()?, &scan).unwrap()?.tree
    }

    fn changed(&self) -> Vec<PathBuf> {
        let aftermath = self.tree.aftermath(&self.before, &self.state, Reach::Tree).unwrap();
        aftermath.changes.into_iter().map(|change| change.path).collect()
    }
}

/// Makes the index newer than the files, so their times can be trusted.
fn age(tree: &WorkTree) {
    let index = File::options().write(true).open(tree.private("index")).unwrap();
    index.set_modified(SystemTime::now() + Duration::from_secs(10)).unwrap();
}

// CORE-05
#[test]
fn a_scan_finds_every_difference_that_git_finds() {
    let fixture = Fixture::new();
    let root = fixture.tree.path();
    put(root, "README.md", b"two\n");
    put(root, "new/deep file.txt", b"x");
    put(root, "new/ignored.log", b"x");
    put(root, "target/debug/app", b"built");
    symlink("README.md", root.join("link")).unwrap();
    fs::remove_file(root.join("src/lib.rs")).unwrap();
    let names = ["README.md", "link", "new/deep file.txt", "src/lib.rs"].map(PathBuf::from);
    assert_eq!(fixture.differing_by_git(), names.iter().cloned().collect());
    assert!(fixture.differing_by_scan().unwrap().is_superset(&fixture.differing_by_git()));
    assert_eq!(fixture.changed(), names);
    fs::set_permissions(root.join("README.md"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(fixture.differing_by_scan().unwrap().contains(&PathBuf::from("README.md")));
}

// CORE-05
#[test]
fn a_change_with_the_same_size_and_time_is_detected() {
    let fixture = Fixture::new();
    let file = fixture.tree.path().join("README.md");
    for round in 0..20 {
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        let text = if round % 2 == 0 { "two\n" } else { "six\n" };
        fs::write(&file, text).unwrap();
        File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        assert_eq!(fixture.changed(), [PathBuf::from("README.md")]);
        let tree = fixture.tree.snapshot().unwrap();
        assert_eq!(fixture.tree.read(&tree, "README.md".as_ref()).unwrap().unwrap(), text.as_bytes());
    }
}

// CORE-05
#[test]
fn a_scan_is_complete_for_any_folder_structure() {
    let fixture = Fixture::new();
    let root = fixture.tree.path();
    for wide in 0..23 {
        put(root, format!("wide {wide}/file"), b"x");
        put(root, format!("wide {wide}/a/b/c/d/{wide}"), b"x");
    }
    fs::create_dir_all(root.join("empty/one")).unwrap();
    let scan = fixture.tree.scan(&BTreeSet::new(), &ScanReach::EVERYTHING).unwrap();
    let listed: Vec<PathBuf> = scan.iter().map(|(path, _)| path.to_path_buf()).collect();
    assert!(listed.is_sorted_by(|one, other| one.as_os_str() < other.as_os_str()));
    let files = contents(root).into_keys();
    let folders = files.flat_map(|file| file.ancestors().map(PathBuf::from).collect::<Vec<_>>());
    let expected: BTreeSet<PathBuf> = folders.filter(|path| !path.as_os_str().is_empty()).collect();
    assert_eq!(BTreeSet::from_iter(listed), expected);
}

// CORE-05
#[test]
fn the_tree_of_unchanged_files_is_read_from_the_index() {
    let fixture = Fixture::new();
    let file = fixture.tree.path().join("README.md");
    age(&fixture.tree);
    assert_eq!(fixture.tree_in_index(), Some(fixture.state.clone()));
    fs::write(&file, "longer\n").unwrap();
    assert_eq!(fixture.tree_in_index(), None);
    let other = fixture.tree.snapshot().unwrap();
    age(&fixture.tree);
    assert_eq!(fixture.tree_in_index(), Some(other));
    // After an entry is removed, the index no longer contains the id of its tree.
    fixture.tree.drop_entries(&["README.md".into()]).unwrap();
    fs::remove_file(&file).unwrap();
    age(&fixture.tree);
    assert_eq!(fixture.tree_in_index(), None);
    put(fixture.tree.path(), "new", b"x");
    fixture.tree.restore(&fixture.state).unwrap();
    age(&fixture.tree);
    assert_eq!(fixture.tree_in_index(), Some(fixture.state.clone()));
    assert_eq!(fixture.changed(), Vec::<PathBuf>::new());
}

#[test]
fn folders_that_a_scan_does_not_list_are_left_to_git() {
    let fixture = Fixture::new();
    let root = fixture.tree.path();
    put(root, "dist/page.html", b"x");
    assert_eq!(fixture.differing_by_scan(), None);
    assert_eq!(fixture.changed(), [PathBuf::from("dist/page.html")]);
    fixture.tree.restore(&fixture.state).unwrap();
    assert!(fixture.differing_by_scan().is_some());
    fs::create_dir(root.join("inner")).unwrap();
    git_in(&root.join("inner"), &["init", "-q"]);
    put(root, "inner/file", b"x");
    assert_eq!(fixture.differing_by_scan(), None);
    assert_eq!(fixture.changed(), [PathBuf::from("inner/file")]);
}
