//! Tests of leftovers in real work trees.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, contents, git_in, put};
use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

struct Fixture {
    _bed: Testbed,
    trees: RunTrees,
    tree: WorkTree,
    state: TreeId,
    before: Inventory,
}

impl Fixture {
    fn new() -> Fixture {
        let bed = Testbed::new();
        let trees = bed.run("r1");
        let tree = trees.main_tree();
        let before = tree.clean_up(KeepIgnored::BuildOutput, Reach::Repository).unwrap();
        let state = tree.snapshot().unwrap();
        Fixture { _bed: bed, trees, tree, state, before }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.tree.path().join(path)
    }

    fn leftovers(&self) -> Vec<Leftover> {
        self.tree.aftermath(&self.before, &self.state, Reach::Repository).unwrap().leftovers
    }

    /// Undoes the leftovers and checks that none remains.
    fn undo(&self, leftovers: &[Leftover]) {
        self.tree.undo_leftovers(&self.before, leftovers).unwrap();
        self.tree.restore(&self.state).unwrap();
        assert_eq!(self.leftovers(), []);
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
fn an_unchanged_tree_and_an_ordinary_change_have_no_leftovers() {
    let fixture = Fixture::new();
    assert_eq!(fixture.leftovers(), []);
    put(fixture.tree.path(), "src/new.rs", b"x");
    put(fixture.tree.path(), "README.md", b"two\n");
    fs::remove_file(fixture.at("src/lib.rs")).unwrap();
    symlink("README.md", fixture.at("link")).unwrap();
    assert_eq!(fixture.leftovers(), []);
}

// CORE-05
#[test]
fn pipes_sockets_links_modes_and_empty_folders_are_found_and_undone() {
    let fixture = Fixture::new();
    let files = contents(fixture.tree.path());
    fifo(&fixture.at("pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(fixture.at("src/sock")).unwrap();
    fs::hard_link(fixture.at("README.md"), fixture.tree.path().with_file_name("outside")).unwrap();
    put(fixture.tree.path(), "own", b"x");
    set_mode(&fixture.at("own"), 0o4755);
    set_mode(&fixture.at("src/lib.rs"), 0o600);
    set_mode(&fixture.at("src"), 0o700);
    fs::create_dir_all(fixture.at("empty/deep")).unwrap();
    let leftovers = fixture.leftovers();
    let names: Vec<String> = leftovers.iter().map(Leftover::to_string).collect();
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
    fixture.undo(&leftovers);
    assert_eq!(contents(fixture.tree.path()), files);
    assert!(!fixture.at("empty").exists());
    fs::write(fixture.tree.path().with_file_name("outside"), "other").unwrap();
    assert_eq!(fs::read_to_string(fixture.at("README.md")).unwrap(), "one\n");
}

// CORE-05
#[test]
fn breaking_a_hard_link_changes_no_other_file() {
    let fixture = Fixture::new();
    let others = ["README.parted", ".remand-0", ".remand-1"];
    others.iter().for_each(|name| put(fixture.tree.path(), name, name.as_bytes()));
    fs::hard_link(fixture.at("README.md"), fixture.tree.path().with_file_name("outside")).unwrap();
    let files = contents(fixture.tree.path());
    let leftovers = fixture.leftovers();
    assert_eq!(leftovers, [Leftover { path: "README.md".into(), kind: LeftoverKind::HardLink }]);
    fixture.tree.undo_leftovers(&fixture.before, &leftovers).unwrap();
    assert_eq!((contents(fixture.tree.path()), fixture.leftovers()), (files, Vec::new()));
}

// CORE-05
#[test]
fn ignored_files_are_found_unless_they_are_build_output() {
    let fixture = Fixture::new();
    put(fixture.tree.path(), "target/debug/app", b"built");
    put(fixture.tree.path(), "src/planted.log", b"x");
    let leftovers = fixture.leftovers();
    assert_eq!(leftovers, [Leftover { path: "src/planted.log".into(), kind: LeftoverKind::Ignored }]);
    fixture.undo(&leftovers);
    assert!(fixture.at("target/debug/app").exists() && !fixture.at("src/planted.log").exists());
    put(fixture.tree.path(), "again.log", b"x");
    fixture.tree.clean_up(KeepIgnored::BuildOutput, Reach::Tree).unwrap();
    assert!(fixture.at("target/debug/app").exists() && !fixture.at("again.log").exists());
    fixture.tree.clean_up(KeepIgnored::Nothing, Reach::Tree).unwrap();
    assert!(!fixture.at("target").exists());
}

// CORE-05
#[test]
fn ignored_hard_links_pipes_and_sockets_are_reported_only_as_ignored() {
    let fixture = Fixture::new();
    put(fixture.tree.path(), "src/one.log", b"x");
    fs::hard_link(fixture.at("src/one.log"), fixture.at("src/two.log")).unwrap();
    fifo(&fixture.at("src/pipe.log"));
    let _socket = std::os::unix::net::UnixListener::bind(fixture.at("src/sock.log")).unwrap();
    let leftovers = fixture.leftovers();
    let names: Vec<String> = leftovers.iter().map(Leftover::to_string).collect();
    assert_eq!(
        names,
        [
            "src/one.log (ignored by git)",
            "src/pipe.log (ignored by git)",
            "src/sock.log (ignored by git)",
            "src/two.log (ignored by git)",
        ]
    );
    fixture.undo(&leftovers);
    fs::hard_link(fixture.at("README.md"), fixture.at("README.log")).unwrap();
    let leftovers: Vec<String> = fixture.leftovers().iter().map(Leftover::to_string).collect();
    assert_eq!(leftovers, ["README.log (ignored by git)", "README.md (a file with a second name)"]);
}

// CORE-05
#[test]
fn changes_to_gits_files_are_reported_and_undone() {
    let fixture = Fixture::new();
    let link = fs::read(fixture.at(".git")).unwrap();
    for damage in [
        (|at: &Path| fs::write(at, "gitdir: /elsewhere\n").unwrap()) as fn(&Path),
        |at| fs::remove_file(at).unwrap(),
        |at| {
            fs::remove_file(at).unwrap();
            git_in(at.parent().unwrap(), &["init", "-q"]);
        },
    ] {
        damage(&fixture.at(".git"));
        let leftovers = fixture.leftovers();
        assert_eq!(leftovers.len(), 1, "{leftovers:?}");
        assert_eq!(leftovers[0].path, Path::new(".git"));
        assert!(String::from_utf8_lossy(&leftovers[0].diff()).contains("-gitdir: "));
        fixture.undo(&leftovers);
        assert_eq!(fs::read(fixture.at(".git")).unwrap(), link);
    }
    git_in(fixture.tree.path(), &["checkout", "-q", "-b", "own"]);
    let leftovers = fixture.leftovers();
    assert!(leftovers.iter().any(|leftover| leftover.path.ends_with("HEAD")), "{leftovers:?}");
    fixture.undo(&leftovers);
}

// CORE-05 CORE-19
#[test]
fn added_hooks_settings_and_repositories_are_reported_and_undone() {
    let fixture = Fixture::new();
    let main = fixture.trees.main_tree();
    let git = git_in(main.path(), &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    let git = Path::new(git.trim());
    let config = fs::read(git.join("config")).unwrap();
    put(git, "hooks/pre-commit", b"#!/bin/sh\n");
    put(git, "config", b"[core]\n\thooksPath = /tmp\n");
    put(fixture.tree.path(), "deep/.git/hooks/post-checkout", b"#!/bin/sh\n");
    let leftovers = fixture.leftovers();
    let paths: Vec<String> = leftovers.iter().map(|leftover| leftover.path.display().to_string()).collect();
    assert!(paths.contains(&"deep/.git".to_string()), "{paths:?}");
    assert!(paths.contains(&git.join("hooks/pre-commit").display().to_string()), "{paths:?}");
    assert!(paths.contains(&git.join("config").display().to_string()), "{paths:?}");
    fixture.undo(&leftovers);
    assert_eq!(fs::read(git.join("config")).unwrap(), config);
    assert!(!git.join("hooks/pre-commit").exists() && !fixture.at("deep").exists());
}

// CORE-05
#[test]
fn a_tree_that_passes_to_a_new_holder_contains_nothing_of_the_previous_one() {
    let fixture = Fixture::new();
    let tree = fixture.trees.lend("task-1", TaskStart::Main).unwrap();
    put(tree.path(), "target/planted", b"x");
    assert_eq!(fixture.trees.lend("task-1", TaskStart::Main).unwrap().path(), tree.path());
    assert!(tree.path().join("target/planted").exists());
    fixture.trees.give_back("task-1").unwrap();
    let next = fixture.trees.lend("checks of the task task-2", TaskStart::Main).unwrap();
    assert_eq!(next.path(), tree.path());
    assert!(!tree.path().join("target").exists());
}
