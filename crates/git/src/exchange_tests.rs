//! Two machines that exchange a run through a hub: two clones, each with its own objects, and a bare repository.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, git_in, put};
use super::*;
use remand_process::Cancel;
use std::fs;
use std::path::{Path, PathBuf};

/// A hub, and the machine on which runs begin.
struct Fleet {
    bed: Testbed,
    hub: Hub,
}

/// One of the machines: a clone of the user's repository.
struct Machine {
    repository: Repository,
    folder: PathBuf,
}

impl Fleet {
    fn new() -> Fleet {
        let bed = Testbed::new();
        let hub = bed.folder.path().join("hub.git");
        git_in(bed.folder.path(), &["init", "-q", "--bare", "hub.git"]);
        Fleet { hub: Hub::at(&hub.display().to_string()), bed }
    }

    fn machine(&self, name: &str) -> Machine {
        let root = self.bed.folder.path().join(name);
        git_in(self.bed.folder.path(), &["clone", "-q", "--no-local", "user", name]);
        git_in(&root, &["config", "user.name", "Ada"]);
        git_in(&root, &["config", "user.email", "ada@example.org"]);
        let repository = Repository::discover(&root).unwrap();
        Machine { repository, folder: self.bed.folder.path().join(format!("{name}-trees")) }
    }

    fn fetch(&self, machine: &Machine) {
        self.hub.fetch(&machine.repository, "r1", &Cancel::new()).unwrap();
    }

    fn push(&self, machine: &Machine) -> Pushed {
        self.hub.push(&machine.repository, "r1", &Cancel::new()).unwrap()
    }

    fn in_hub(&self) -> String {
        git_in(
            &self.bed.folder.path().join("hub.git"),
            &["for-each-ref", "--format=%(refname) %(objectname)"],
        )
    }
}

impl Machine {
    fn trees(&self, base: &CommitId) -> RunTrees {
        RunTrees::begin(&self.repository, "r1", &self.folder, base).unwrap()
    }

    fn references(&self) -> String {
        let patterns = ["refs/remand/", "refs/tags/", "refs/heads/remand/"];
        let words = ["for-each-ref", "--format=%(refname) %(objectname)"].into_iter().chain(patterns);
        git_in(self.repository.root(), &words.collect::<Vec<_>>())
    }
}

/// Makes a change as a task, merges it into the main line, and keeps it under a digest.
fn work(trees: &RunTrees, file: &str, command: &str) -> CommitState {
    let base = trees.main_state().unwrap();
    let tree = trees.lend("t1", TaskStart::Main).unwrap();
    put(tree.path(), file, command.as_bytes());
    let state = tree.snapshot().unwrap();
    trees.keep(state.digest(), &state, &base.commit).unwrap();
    trees.merge("t1", &base.commit, &state, command).unwrap();
    trees.give_back("t1").unwrap();
    trees.main_state().unwrap()
}

#[test]
fn a_run_continues_on_another_machine_after_the_first_one_is_lost_with_its_disk() {
    let fleet = Fleet::new();
    let (one, two) = (fleet.machine("one"), fleet.machine("two"));
    let base = fleet.bed.base();
    fleet.fetch(&one);
    let trees = one.trees(&base);
    trees.tag_baseline().unwrap();
    let first = work(&trees, "first.txt", "c1");
    assert_eq!(fleet.push(&one), Pushed::Done);
    let references = one.references();
    drop(trees);
    for folder in [one.repository.root(), one.folder.as_path()] {
        fs::remove_dir_all(folder).unwrap();
    }

    fleet.fetch(&two);
    assert_eq!(two.references(), references);
    let trees = two.trees(&base);
    assert_eq!(trees.main_state().unwrap(), first);
    assert_eq!(trees.kept(first.tree.digest()).unwrap().unwrap().tree, first.tree);
    let second = work(&trees, "second.txt", "c2");
    assert_eq!(fleet.push(&two), Pushed::Done);
    assert!(fleet.in_hub().contains(second.commit.as_str()), "{}", fleet.in_hub());
    assert!(fleet.in_hub().contains("refs/tags/pipeline-baseline-r1"));
}

#[test]
fn what_was_not_pushed_stays_and_is_pushed_later() {
    let fleet = Fleet::new();
    let one = fleet.machine("one");
    let trees = one.trees(&fleet.bed.base());
    let unpushed = work(&trees, "a.txt", "c1");
    fleet.fetch(&one);
    assert_eq!(trees.main_state().unwrap(), unpushed);
    assert_eq!(fleet.push(&one), Pushed::Done);
    assert!(fleet.in_hub().contains(unpushed.commit.as_str()));
    // Without a change there is nothing to push, so a hub that is gone does no harm.
    fs::rename(fleet.bed.folder.path().join("hub.git"), fleet.bed.folder.path().join("gone.git")).unwrap();
    assert_eq!(fleet.push(&one), Pushed::Done);
}

#[test]
fn a_machine_that_was_stopped_is_overtaken_and_follows_the_hub() {
    let fleet = Fleet::new();
    let (one, two) = (fleet.machine("one"), fleet.machine("two"));
    let base = fleet.bed.base();
    let stopped = one.trees(&base);
    work(&stopped, "a.txt", "c1");
    assert_eq!(fleet.push(&one), Pushed::Done);
    fleet.fetch(&two);
    let other = two.trees(&base);
    let theirs = work(&other, "b.txt", "c2");
    assert_eq!(fleet.push(&two), Pushed::Done);
    let hub = fleet.in_hub();

    let late = work(&stopped, "c.txt", "c2");
    assert_eq!(fleet.push(&one), Pushed::Overtaken);
    assert_eq!(fleet.in_hub(), hub, "a late push changes nothing, not even other references");
    assert_eq!(stopped.main_state().unwrap(), theirs);
    assert_ne!(late, theirs);
    // What it kept of its own is not lost, and the next push succeeds.
    assert!(stopped.kept(late.tree.digest()).unwrap().is_some());
    assert_eq!(fleet.push(&one), Pushed::Done);
}

#[test]
fn a_reference_that_is_removed_here_is_removed_from_the_hub_and_on_other_machines() {
    let fleet = Fleet::new();
    let (one, two) = (fleet.machine("one"), fleet.machine("two"));
    let trees = one.trees(&fleet.bed.base());
    let state = work(&trees, "a.txt", "c1");
    fleet.push(&one);
    fleet.fetch(&two);
    let kept = format!("refs/remand/r1/trees/{:016x}", state.tree.digest().0);
    assert!(two.references().contains(&kept));
    git_in(one.repository.root(), &["update-ref", "-d", &kept]);
    assert_eq!(fleet.push(&one), Pushed::Done);
    fleet.fetch(&two);
    assert!(!two.references().contains(&kept), "{}", two.references());
}

#[test]
fn runs_whose_ids_begin_alike_do_not_touch_each_other() {
    let fleet = Fleet::new();
    let (one, two) = (fleet.machine("one"), fleet.machine("two"));
    let base = fleet.bed.base();
    one.trees(&base).tag_baseline().unwrap();
    let folder = one.folder.with_extension("r12");
    let longer = RunTrees::begin(&one.repository, "r12", &folder, &base).unwrap();
    longer.tag_baseline().unwrap();
    for run in ["r1", "r12"] {
        fleet.hub.push(&one.repository, run, &Cancel::new()).unwrap();
    }
    fleet.fetch(&two);
    assert!(!two.references().contains("r12"), "{}", two.references());
    fleet.hub.forget(&one.repository, "r1", &Cancel::new()).unwrap();
    assert!(fleet.in_hub().contains("refs/remand/r12/main"));
    assert!(!fleet.in_hub().contains("refs/remand/r1/"), "{}", fleet.in_hub());
}

#[test]
fn forgetting_a_run_leaves_its_branch_in_the_hub() {
    let fleet = Fleet::new();
    let one = fleet.machine("one");
    let trees = one.trees(&fleet.bed.base());
    let state = work(&trees, "a.txt", "c1");
    let message = CommitMessage { subject: "Work".to_string(), ..CommitMessage::default() };
    trees.commit_on_branch(&state.tree, &message, "c2").unwrap();
    fleet.push(&one);
    fleet.hub.forget(&one.repository, "r1", &Cancel::new()).unwrap();
    let left = fleet.in_hub();
    assert!(left.starts_with("refs/heads/remand/r1 ") && left.lines().count() == 1, "{left}");
    trees.discard(BranchFate::Delete).unwrap();
    let records = git_in(one.repository.root(), &["for-each-ref", "refs/remand-hub"]);
    assert_eq!(records, "");
}

#[test]
fn after_a_kill_between_the_two_moves_of_a_fetch_the_next_one_does_the_rest() {
    let fleet = Fleet::new();
    let (one, two) = (fleet.machine("one"), fleet.machine("two"));
    let base = fleet.bed.base();
    let trees = one.trees(&base);
    work(&trees, "a.txt", "c1");
    fleet.push(&one);
    fleet.fetch(&two);
    let seen = git_in(
        two.repository.root(),
        &["for-each-ref", "--format=create %(refname) %(objectname)", "refs/remand-hub/r1/seen"],
    );
    let newer = work(&trees, "b.txt", "c2");
    fleet.push(&one);
    fleet.fetch(&two);
    // The references have moved, and the record is still the old one.
    let drop_all =
        "git for-each-ref --format='delete %(refname)' refs/remand-hub/r1/seen | git update-ref --stdin";
    sh(two.repository.root(), drop_all);
    sh(two.repository.root(), &format!("git update-ref --stdin <<'E'\n{seen}\nE"));
    fleet.fetch(&two);
    assert_eq!(two.trees(&base).main_state().unwrap(), newer);
    assert_eq!(fleet.push(&two), Pushed::Done);
    assert!(fleet.in_hub().contains(newer.commit.as_str()));
}

#[test]
fn a_hub_that_cannot_be_reached_is_an_error_with_its_address_and_without_its_password() {
    let fleet = Fleet::new();
    let one = fleet.machine("one");
    one.trees(&fleet.bed.base());
    let missing = Hub::at(&fleet.bed.folder.path().join("missing.git").display().to_string());
    let error = missing.push(&one.repository, "r1", &Cancel::new()).unwrap_err();
    assert!(error.to_string().contains("missing.git"), "{error}");
    assert!(error.hint().contains("git ls-remote"), "{}", error.hint());
    let secret = Hub::at("https://ada:geheim@localhost:1/hub.git");
    let error = secret.fetch(&one.repository, "r1", &Cancel::new()).unwrap_err();
    assert!(error.to_string().contains("https://localhost:1/hub.git"), "{error}");
    assert!(!format!("{error} {}", error.hint()).contains("geheim"), "{error}");
}

#[test]
fn a_hub_that_refuses_is_an_error_and_not_another_machine() {
    let fleet = Fleet::new();
    let one = fleet.machine("one");
    one.trees(&fleet.bed.base());
    let hook = fleet.bed.folder.path().join("hub.git/hooks/pre-receive");
    put(hook.parent().unwrap(), "pre-receive", b"#!/bin/sh\necho full >&2\nexit 1\n");
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let error = fleet.hub.push(&one.repository, "r1", &Cancel::new()).unwrap_err();
    assert!(matches!(&error, GitError::HubFailed { detail, .. } if detail.contains("full")), "{error}");
    assert_eq!(fleet.in_hub(), "");
}

fn sh(folder: &Path, script: &str) {
    let status = std::process::Command::new("sh").args(["-c", script]).current_dir(folder).status().unwrap();
    assert!(status.success(), "{script}");
}
