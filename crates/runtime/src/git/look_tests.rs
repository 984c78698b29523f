//! What a stock shows is what git shows, and what a stock cannot show is left to git.
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
        let before = tree.begin(Keep::BuildOutput, Reach::Tree).unwrap();
        Lab { _bed: bed, tree, state, before }
    }

    /// Those that differ, as a stock shows them; none where git must be asked.
    fn seen(&self) -> Option<BTreeSet<PathBuf>> {
        let stock = self.tree.stock(&BTreeSet::new()).unwrap();
        let look = self.tree.compare(&self.tree.index()?, &stock).unwrap()?;
        Some(look.touched.into_keys().chain(look.others).collect())
    }

    fn seen_by_git(&self) -> BTreeSet<PathBuf> {
        let look = self.tree.look().unwrap();
        look.touched.into_keys().chain(look.others).collect()
    }

    /// The tree, where the index tells it and nothing differs.
    fn known(&self) -> Option<TreeId> {
        let stock = self.tree.stock(&BTreeSet::new()).unwrap();
        self.tree.compare(&self.tree.index()?, &stock).unwrap()?.tree
    }

    fn changed(&self) -> Vec<PathBuf> {
        let left = self.tree.aftermath(&self.before, &self.state, Reach::Tree).unwrap();
        left.changes.into_iter().map(|change| change.path).collect()
    }
}

/// Makes the index young enough that the times of the files can be relied on.
fn age(tree: &WorkTree) {
    let index = File::options().write(true).open(tree.private("index")).unwrap();
    index.set_modified(SystemTime::now() + Duration::from_secs(10)).unwrap();
}

// CORE-05
#[test]
fn a_stock_shows_every_difference_that_git_shows() {
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
fn a_file_of_the_same_size_and_time_is_seen_at_once() {
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
fn a_stock_holds_everything_however_the_folders_lie() {
    let lab = Lab::new();
    let root = lab.tree.path();
    for wide in 0..23 {
        put(root, format!("wide {wide}/file"), b"x");
        put(root, format!("wide {wide}/a/b/c/d/{wide}"), b"x");
    }
    fs::create_dir_all(root.join("empty/one")).unwrap();
    let stock = lab.tree.stock(&BTreeSet::new()).unwrap();
    let listed: Vec<PathBuf> = stock.iter().map(|(path, _)| path.to_path_buf()).collect();
    assert!(listed.is_sorted_by(|one, other| one.as_os_str() < other.as_os_str()));
    let files = contents(root).into_keys();
    let folders = files.flat_map(|file| file.ancestors().map(PathBuf::from).collect::<Vec<_>>());
    let there: BTreeSet<PathBuf> = folders.filter(|path| !path.as_os_str().is_empty()).collect();
    assert_eq!(BTreeSet::from_iter(listed), there);
}

// CORE-05
#[test]
fn the_tree_of_files_that_are_as_they_were_is_told_by_the_index() {
    let lab = Lab::new();
    let file = lab.tree.path().join("README.md");
    age(&lab.tree);
    assert_eq!(lab.known(), Some(lab.state.clone()));
    fs::write(&file, "longer\n").unwrap();
    assert_eq!(lab.known(), None);
    let other = lab.tree.snapshot().unwrap();
    age(&lab.tree);
    assert_eq!(lab.known(), Some(other));
    // What was taken into the index alone is in no tree yet.
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
fn what_a_stock_does_not_look_into_is_left_to_git() {
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
