//! Real work trees with leftovers that no snapshot contains.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, contents, git_in, put};
use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

struct Lab {
    _bed: Testbed,
    trees: RunTrees,
    tree: WorkTree,
    state: TreeId,
    before: Census,
}

impl Lab {
    fn new() -> Lab {
        let bed = Testbed::new();
        let trees = bed.run("r1");
        let tree = trees.main_tree();
        let before = tree.begin(KeepIgnored::BuildOutput, Reach::Repository).unwrap();
        let state = tree.snapshot().unwrap();
        Lab { _bed: bed, trees, tree, state, before }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.tree.path().join(path)
    }

    fn odd(&self) -> Vec<Oddity> {
        self.tree.aftermath(&self.before, &self.state, Reach::Repository).unwrap().oddities
    }

    /// Undoes the oddities and checks that none is left.
    fn undone(&self, odd: &[Oddity]) {
        self.tree.undo_oddities(&self.before, odd).unwrap();
        self.tree.restore(&self.state).unwrap();
        assert_eq!(self.odd(), []);
    }
}

fn set_mode(file: &Path, mode: u32) {
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

// CORE-05
#[test]
fn an_unchanged_tree_and_an_ordinary_change_have_no_oddities() {
    let lab = Lab::new();
    assert_eq!(lab.odd(), []);
    put(lab.tree.path(), "src/new.rs", b"x");
    put(lab.tree.path(), "README.md", b"two\n");
    fs::remove_file(lab.at("src/lib.rs")).unwrap();
    symlink("README.md", lab.at("link")).unwrap();
    assert_eq!(lab.odd(), []);
}

// CORE-05
#[test]
fn pipes_sockets_links_modes_and_empty_folders_are_found_and_undone() {
    let lab = Lab::new();
    let files = contents(lab.tree.path());
    fifo(&lab.at("pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(lab.at("src/sock")).unwrap();
    fs::hard_link(lab.at("README.md"), lab.tree.path().with_file_name("outside")).unwrap();
    put(lab.tree.path(), "own", b"x");
    set_mode(&lab.at("own"), 0o4755);
    set_mode(&lab.at("src/lib.rs"), 0o600);
    set_mode(&lab.at("src"), 0o700);
    fs::create_dir_all(lab.at("empty/deep")).unwrap();
    let odd = lab.odd();
    let names: Vec<String> = odd.iter().map(Oddity::to_string).collect();
    assert_eq!(
        names,
        [
            "README.md (a file with a second name)",
            "empty (an empty folder)",
            "empty/deep (an empty folder)",
            "own (mode 4755)",
            "pipe (a named pipe)",
            "src (mode 0755 became 0700)",
            "src/lib.rs (mode 0644 became 0600)",
            "src/sock (a socket)",
        ]
    );
    lab.undone(&odd);
    assert_eq!(contents(lab.tree.path()), files);
    assert!(!lab.at("empty").exists());
    fs::write(lab.tree.path().with_file_name("outside"), "other").unwrap();
    assert_eq!(fs::read_to_string(lab.at("README.md")).unwrap(), "one\n");
}

// CORE-05
#[test]
fn ignored_files_are_found_unless_they_are_build_output() {
    let lab = Lab::new();
    put(lab.tree.path(), "target/debug/app", b"built");
    put(lab.tree.path(), "src/planted.log", b"x");
    let odd = lab.odd();
    assert_eq!(odd, [Oddity { path: "src/planted.log".into(), what: OddityKind::Ignored }]);
    lab.undone(&odd);
    assert!(lab.at("target/debug/app").exists() && !lab.at("src/planted.log").exists());
    put(lab.tree.path(), "again.log", b"x");
    lab.tree.begin(KeepIgnored::BuildOutput, Reach::Tree).unwrap();
    assert!(lab.at("target/debug/app").exists() && !lab.at("again.log").exists());
    lab.tree.begin(KeepIgnored::Nothing, Reach::Tree).unwrap();
    assert!(!lab.at("target").exists());
}

// CORE-05
#[test]
fn ignored_hard_links_pipes_and_sockets_are_not_odd() {
    let lab = Lab::new();
    put(lab.tree.path(), "src/one.log", b"x");
    fs::hard_link(lab.at("src/one.log"), lab.at("src/two.log")).unwrap();
    fifo(&lab.at("src/pipe.log"));
    let _socket = std::os::unix::net::UnixListener::bind(lab.at("src/sock.log")).unwrap();
    let odd = lab.odd();
    let names: Vec<String> = odd.iter().map(Oddity::to_string).collect();
    assert_eq!(
        names,
        [
            "src/one.log (ignored by git)",
            "src/pipe.log (ignored by git)",
            "src/sock.log (ignored by git)",
            "src/two.log (ignored by git)",
        ]
    );
    lab.undone(&odd);
    fs::hard_link(lab.at("README.md"), lab.at("README.log")).unwrap();
    let odd: Vec<String> = lab.odd().iter().map(Oddity::to_string).collect();
    assert_eq!(odd, ["README.log (ignored by git)", "README.md (a file with a second name)"]);
}

// CORE-05
#[test]
fn changes_to_gits_own_files_are_reported_and_undone() {
    let lab = Lab::new();
    let link = fs::read(lab.at(".git")).unwrap();
    for spoil in [
        (|at: &Path| fs::write(at, "gitdir: /elsewhere\n").unwrap()) as fn(&Path),
        |at| fs::remove_file(at).unwrap(),
        |at| {
            fs::remove_file(at).unwrap();
            git_in(at.parent().unwrap(), &["init", "-q"]);
        },
    ] {
        spoil(&lab.at(".git"));
        let odd = lab.odd();
        assert_eq!(odd.len(), 1, "{odd:?}");
        assert_eq!(odd[0].path, Path::new(".git"));
        assert!(String::from_utf8_lossy(&odd[0].diff()).contains("-gitdir: "));
        lab.undone(&odd);
        assert_eq!(fs::read(lab.at(".git")).unwrap(), link);
    }
    git_in(lab.tree.path(), &["checkout", "-q", "-b", "own"]);
    let odd = lab.odd();
    assert!(odd.iter().any(|odd| odd.path.ends_with("HEAD")), "{odd:?}");
    lab.undone(&odd);
}

// CORE-05 CORE-19
#[test]
fn added_hooks_settings_and_repositories_are_reported_and_undone() {
    let lab = Lab::new();
    let common = lab.trees.main_tree();
    let git = git_in(common.path(), &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    let git = Path::new(git.trim());
    let config = fs::read(git.join("config")).unwrap();
    put(git, "hooks/pre-commit", b"#!/bin/sh\n");
    put(git, "config", b"[core]\n\thooksPath = /tmp\n");
    put(lab.tree.path(), "deep/.git/hooks/post-checkout", b"#!/bin/sh\n");
    let odd = lab.odd();
    let paths: Vec<String> = odd.iter().map(|odd| odd.path.display().to_string()).collect();
    assert!(paths.contains(&"deep/.git".to_string()), "{paths:?}");
    assert!(paths.contains(&git.join("hooks/pre-commit").display().to_string()), "{paths:?}");
    assert!(paths.contains(&git.join("config").display().to_string()), "{paths:?}");
    lab.undone(&odd);
    assert_eq!(fs::read(git.join("config")).unwrap(), config);
    assert!(!git.join("hooks/pre-commit").exists() && !lab.at("deep").exists());
}

// CORE-05
#[test]
fn a_tree_that_passes_to_a_new_holder_contains_nothing_of_the_previous_one() {
    let lab = Lab::new();
    let tree = lab.trees.lend("task-1", TaskStart::Main).unwrap();
    put(tree.path(), "target/planted", b"x");
    assert_eq!(lab.trees.lend("task-1", TaskStart::Main).unwrap().path(), tree.path());
    assert!(tree.path().join("target/planted").exists());
    lab.trees.give_back("task-1").unwrap();
    let next = lab.trees.lend("checks of the task task-2", TaskStart::Main).unwrap();
    assert_eq!(next.path(), tree.path());
    assert!(!tree.path().join("target").exists());
}
