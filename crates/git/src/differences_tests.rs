//! An inventory shows the same differences as git, or leaves the question to git.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, contents, git_in, put};
use super::*;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

struct Lab {
    _bed: Testbed,
    tree: WorkTree,
    state: TreeId,
    before: Census,
}

impl Lab {
    fn new() -> Lab {
        let bed = Testbed::new();
        let tree = bed.run("r1").main_tree();
        let state = tree.snapshot().unwrap();
        let before = tree.begin(KeepIgnored::BuildOutput, Reach::Tree).unwrap();
        Lab { _bed: bed, tree, state, before }
    }

    /// The differences according to an inventory; `None` if git must be asked.
    fn seen(&self) -> Option<BTreeSet<PathBuf>> {
        let inventory = self.tree.inventory(&BTreeSet::new()).unwrap();
        let found = self.tree.differences_by_inventory(&self.tree.index()?, &inventory).unwrap()?;
        Some(found.touched.into_keys().chain(found.others).collect())
    }

    fn seen_by_git(&self) -> BTreeSet<PathBuf> {
        let found = self.tree.differences_by_git().unwrap();
        found.touched.into_keys().chain(found.others).collect()
    }

    /// The tree, if the index contains its id and nothing differs.
    fn known(&self) -> Option<TreeId> {
        let inventory = self.tree.inventory(&BTreeSet::new()).unwrap();
        self.tree.differences_by_inventory(&self.tree.index()?, &inventory).unwrap()?.tree
    }

    fn changed(&self) -> Vec<PathBuf> {
        let left = self.tree.aftermath(&self.before, &self.state, Reach::Tree).unwrap();
        left.changes.into_iter().map(|change| change.path).collect()
    }
}

/// Makes the index newer than the files, so that their times can be trusted.
fn age(tree: &WorkTree) {
    let index = File::options().write(true).open(tree.private("index")).unwrap();
    index.set_modified(SystemTime::now() + Duration::from_secs(10)).unwrap();
}

// CORE-05
#[test]
fn an_inventory_shows_every_difference_that_git_shows() {
    let lab = Lab::new();
    let root = lab.tree.path();
    put(root, "README.md", b"two\n");
    put(root, "new/deep file.txt", b"x");
    put(root, "new/ignored.log", b"x");
    put(root, "target/debug/app", b"built");
    symlink("README.md", root.join("link")).unwrap();
    fs::remove_file(root.join("src/lib.rs")).unwrap();
    let names = ["README.md", "link", "new/deep file.txt", "src/lib.rs"].map(PathBuf::from);
    assert_eq!(lab.seen_by_git(), names.iter().cloned().collect());
    assert!(lab.seen().unwrap().is_superset(&lab.seen_by_git()));
    assert_eq!(lab.changed(), names);
    fs::set_permissions(root.join("README.md"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(lab.seen().unwrap().contains(&PathBuf::from("README.md")));
}

// CORE-05
#[test]
fn a_change_with_the_same_size_and_time_is_detected() {
    let lab = Lab::new();
    let file = lab.tree.path().join("README.md");
    for round in 0..20 {
        let was = fs::metadata(&file).unwrap().modified().unwrap();
        let text = if round % 2 == 0 { "two\n" } else { "six\n" };
        fs::write(&file, text).unwrap();
        File::options().write(true).open(&file).unwrap().set_modified(was).unwrap();
        assert_eq!(lab.changed(), [PathBuf::from("README.md")]);
        let tree = lab.tree.snapshot().unwrap();
        assert_eq!(lab.tree.read(&tree, "README.md".as_ref()).unwrap().unwrap(), text.as_bytes());
    }
}

// CORE-05
#[test]
fn an_inventory_is_complete_for_any_folder_structure() {
    let lab = Lab::new();
    let root = lab.tree.path();
    for wide in 0..23 {
        put(root, format!("wide {wide}/file"), b"x");
        put(root, format!("wide {wide}/a/b/c/d/{wide}"), b"x");
    }
    fs::create_dir_all(root.join("empty/one")).unwrap();
    let inventory = lab.tree.inventory(&BTreeSet::new()).unwrap();
    let listed: Vec<PathBuf> = inventory.iter().map(|(path, _)| path.to_path_buf()).collect();
    assert!(listed.is_sorted_by(|one, other| one.as_os_str() < other.as_os_str()));
    let files = contents(root).into_keys();
    let folders = files.flat_map(|file| file.ancestors().map(PathBuf::from).collect::<Vec<_>>());
    let there: BTreeSet<PathBuf> = folders.filter(|path| !path.as_os_str().is_empty()).collect();
    assert_eq!(BTreeSet::from_iter(listed), there);
}

// CORE-05
#[test]
fn the_tree_of_unchanged_files_is_read_from_the_index() {
    let lab = Lab::new();
    let file = lab.tree.path().join("README.md");
    age(&lab.tree);
    assert_eq!(lab.known(), Some(lab.state.clone()));
    fs::write(&file, "longer\n").unwrap();
    assert_eq!(lab.known(), None);
    let other = lab.tree.snapshot().unwrap();
    age(&lab.tree);
    assert_eq!(lab.known(), Some(other));
    // A file that was only added to the index is not in a tree yet.
    lab.tree.drop_entries(&["README.md".into()]).unwrap();
    fs::remove_file(&file).unwrap();
    age(&lab.tree);
    assert_eq!(lab.known(), None);
    put(lab.tree.path(), "new", b"x");
    lab.tree.restore(&lab.state).unwrap();
    age(&lab.tree);
    assert_eq!(lab.known(), Some(lab.state.clone()));
    assert_eq!(lab.changed(), Vec::<PathBuf>::new());
}

#[test]
fn folders_that_an_inventory_does_not_list_are_left_to_git() {
    let lab = Lab::new();
    let root = lab.tree.path();
    put(root, "dist/page.html", b"x");
    assert_eq!(lab.seen(), None);
    assert_eq!(lab.changed(), [PathBuf::from("dist/page.html")]);
    lab.tree.restore(&lab.state).unwrap();
    assert!(lab.seen().is_some());
    fs::create_dir(root.join("inner")).unwrap();
    git_in(&root.join("inner"), &["init", "-q"]);
    put(root, "inner/file", b"x");
    assert_eq!(lab.seen(), None);
    assert_eq!(lab.changed(), [PathBuf::from("inner/file")]);
}
