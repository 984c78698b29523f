//! Tests of the limits of a work tree, with real giants.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, contents, put};
use super::*;
use rustix::fs::{Mode, OFlags};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// More than any of these takes, even on a busy machine; git takes minutes.
const QUICK: Duration = Duration::from_secs(20);

struct Fixture {
    bed: Testbed,
    trees: RunTrees,
    tree: WorkTree,
    state: TreeId,
    before: Inventory,
}

impl Fixture {
    fn new() -> Fixture {
        Fixture::with_limits(TreeLimits::default())
    }

    fn with_limits(limits: TreeLimits) -> Fixture {
        let bed = Testbed::new();
        let trees = bed.run_in(&bed.repository().with_tree_limits(limits), "r1");
        let tree = trees.main_tree();
        let before = tree.clean_up(KeepIgnored::BuildOutput, Reach::Tree).unwrap();
        let state = tree.snapshot().unwrap();
        Fixture { bed, trees, tree, state, before }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.tree.path().join(path)
    }

    fn aftermath(&self) -> Result<Aftermath, GitError> {
        self.tree.aftermath(&self.before, &self.state, Reach::Tree)
    }

    /// The kinds of excess; empty if there is none.
    fn excess(&self) -> Vec<ExcessKind> {
        match self.aftermath() {
            Ok(_) => Vec::new(),
            Err(GitError::Excess { excess }) => excess.into_iter().map(|excess| excess.kind).collect(),
            Err(other) => panic!("{other}"),
        }
    }

    /// Demands this excess, and that the tree can be restored quickly, even by an engine that did not see the excess.
    fn refuses(&self, expected: &[ExcessKind], leave: impl Fn(&Path)) {
        let files = contents(self.tree.path());
        let started = Instant::now();
        leave(self.tree.path());
        let left = Instant::now();
        assert_eq!(self.excess(), expected);
        assert!(matches!(self.tree.snapshot(), Err(GitError::Excess { .. })));
        assert!(matches!(self.tree.check_limits(), Err(GitError::Excess { .. })));
        self.tree.restore(&self.state).unwrap();
        assert!(left.elapsed() < QUICK, "{:?} after {:?}", left.elapsed(), left - started);
        assert_eq!((contents(self.tree.path()), self.excess()), (files.clone(), Vec::new()));
        leave(self.tree.path());
        let left = Instant::now();
        let later = self.bed.run_in(&self.trees.repository, "r1").main_tree();
        later.restore(&self.state).unwrap();
        assert!(left.elapsed() < QUICK, "{:?}", left.elapsed());
        assert_eq!(contents(self.tree.path()), files);
    }
}

fn sparse(file: &Path, size: u64) {
    File::create(file).unwrap().set_len(size).unwrap();
}

/// Creates folders within folders, deeper than any path can name.
fn nest(at: &Path, depth: usize) {
    fs::create_dir_all(at).unwrap();
    let mut folder = rustix::fs::open(at, OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..depth {
        rustix::fs::mkdirat(&folder, "d", Mode::RWXU).unwrap();
        folder = rustix::fs::openat(&folder, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    rustix::fs::openat(&folder, "f", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
}

// BX-07
#[test]
fn a_sparse_giant_is_refused_where_git_would_read_it() {
    let size = 3_000_000_000;
    let refused = [
        ExcessKind::FileSize { found: size, limit: 50_000_000 },
        ExcessKind::Size { found: size, limit: 200_000_000 },
    ];
    let fixture = Fixture::new();
    fixture.refuses(&refused, |root| sparse(&root.join("sparse.bin"), size));
    fixture.refuses(&refused, |root| {
        fs::create_dir_all(root.join("build/dist")).unwrap();
        sparse(&root.join("build/dist/sparse.bin"), size);
    });
    fixture.refuses(&refused, |root| {
        fs::create_dir(root.join("closed")).unwrap();
        sparse(&root.join("closed/sparse.bin"), size);
        fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
    });
    let grown = [
        ExcessKind::FileSize { found: size, limit: 50_000_000 },
        ExcessKind::Size { found: size - 4, limit: 200_000_000 },
    ];
    fixture.refuses(&grown, |root| sparse(&root.join("README.md"), size));
    // Git reads neither of these.
    fs::create_dir(fixture.at("target")).unwrap();
    sparse(&fixture.at("target/sparse.bin"), size);
    sparse(&fixture.at("sparse.log"), size);
    let ignored = Leftover { path: "sparse.log".into(), kind: LeftoverKind::Ignored };
    assert_eq!(fixture.aftermath().unwrap().leftovers, [ignored]);
    put(fixture.tree.path(), ".gitignore", b"*.log\n");
    assert_eq!(
        fixture.excess(),
        refused.map(|kind| match kind {
            ExcessKind::Size { limit, .. } => ExcessKind::Size { found: size - 8, limit },
            other => other,
        })
    );
}

// BX-07
#[test]
fn folders_within_folders_are_refused_and_removed_however_deep_they_are() {
    let fixture = Fixture::new();
    let deep = [ExcessKind::Depth { limit: 64 }];
    fixture.refuses(&deep, |root| nest(&root.join("src/deep"), 4_000));
    fixture.refuses(&deep, |root| nest(&root.join("build/deep"), 4_000));
    nest(&fixture.at("target"), 4_000);
    assert_eq!(fixture.excess(), []);
    remove(&fixture.at("target")).unwrap();
    let far = fixture.bed.folder.path().join("far");
    nest(&far, 5_000);
    remove(&far).unwrap();
    assert!(!far.exists());
}

// BX-07
#[test]
fn more_files_or_folders_than_the_limit_are_refused() {
    let fixture = Fixture::new();
    let number = 12_000;
    fixture.refuses(&[ExcessKind::Files { found: number, limit: 10_000 }], |root| {
        fs::create_dir(root.join("many")).unwrap();
        for number in 0..number {
            File::create(root.join(format!("many/{number}"))).unwrap();
        }
    });
    let fixture = Fixture::with_limits(TreeLimits { files: 100, ..TreeLimits::default() });
    fixture.refuses(&[ExcessKind::Folders { found: 201, limit: 100 }], |root| {
        for number in 0..200 {
            fs::create_dir_all(root.join(format!("many/{number}"))).unwrap();
        }
    });
}

// BX-07
#[test]
fn long_names_and_paths_are_refused() {
    let fixture = Fixture::new();
    fixture.refuses(&[ExcessKind::NameLength { found: 201, limit: 200 }], |root| {
        put(root, "n".repeat(201), b"");
    });
    fixture.refuses(&[ExcessKind::PathLength { limit: 2000 }], |root| {
        let folder = ["n".repeat(200), "m".repeat(200)].concat()[..200].to_string();
        put(root, [folder.as_str(); 11].join("/") + "/f", b"");
    });
}

// BX-07
#[test]
fn what_honest_work_adds_is_within_the_limits() {
    let fixture = Fixture::new();
    put(fixture.tree.path(), "fixtures/large.bin", &vec![7; 40_000_000]);
    for number in 0..3_000 {
        put(fixture.tree.path(), format!("fixtures/{}/{number}.json", number % 50), b"{}");
    }
    put(fixture.tree.path(), "docs/日本語のとても長い名前のついた文書ファイル/説明.md", "説明".as_bytes());
    let found = fixture.aftermath().unwrap();
    assert_eq!((found.changes.len(), found.leftovers), (3_002, Vec::new()));
    // Moved files are not new.
    let limits = TreeLimits { files: 3, ..TreeLimits::default() };
    let fixture = Fixture::with_limits(limits);
    fs::rename(fixture.at("src"), fixture.at("lib")).unwrap();
    for number in 0..4 {
        put(fixture.tree.path(), format!("lib/{number}.rs"), b"");
    }
    put(fixture.tree.path(), "lib/4.rs", b"");
    fs::remove_file(fixture.at("README.md")).unwrap();
    assert_eq!(fixture.excess(), [ExcessKind::Files { found: 4, limit: 3 }]);
    fs::remove_file(fixture.at("lib/4.rs")).unwrap();
    assert_eq!(fixture.excess(), []);
}

// BX-07
#[test]
fn the_message_names_what_was_left_and_the_setting() {
    let excess = vec![
        Excess { kind: ExcessKind::FileSize { found: 70, limit: 50 }, path: "a\u{202e}b".into() },
        Excess { kind: ExcessKind::Files { found: 70, limit: 50 }, path: PathBuf::new() },
    ];
    assert_eq!(
        GitError::Excess { excess }.to_string(),
        "too much was left in the work tree: `ab` has 70 bytes; at most 50 are allowed (`changes.file-size`); \
         70 new files; at most 50 are allowed (`changes.files`)"
    );
}
