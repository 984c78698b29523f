//! The log of a run and its exchange with a hub, with real repositories.

use super::testbed::{Testbed, git_in, put};
use super::{CommitId, GitError, Hub, NewLogEntry, References, Repository, RunTrees};
use remand_kernel::change::Digest;
use remand_process::Cancel;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// Two clones, and a hub.
struct Machines {
    bed: Testbed,
    hub: Hub,
}

impl Machines {
    fn new() -> Machines {
        let bed = Testbed::new();
        git_in(bed.folder.path(), &["init", "-q", "--bare", "hub.git"]);
        git_in(bed.folder.path(), &["clone", "-q", "--no-local", "user", "other"]);
        let hub = Hub::at(&format!("file://{}", bed.folder.path().join("hub.git").display()));
        Machines { bed, hub }
    }

    fn hub_folder(&self) -> PathBuf {
        self.bed.folder.path().join("hub.git")
    }

    fn other(&self) -> Repository {
        Repository::discover(&self.bed.folder.path().join("other")).unwrap()
    }
}

fn files(text: &str) -> Vec<(String, Vec<u8>)> {
    vec![("rows".to_string(), text.as_bytes().to_vec())]
}

fn add(repository: &Repository, after: Option<&CommitId>, moved: &References, text: &str) -> CommitId {
    let entry = NewLogEntry { after, moved, message: text, files: &files(text) };
    repository.add_log_entry("r1", &entry).unwrap()
}

fn rows(repository: &Repository, entry: &CommitId) -> Option<Vec<u8>> {
    repository.log_files(&[(entry.clone(), "rows".to_string())]).unwrap().remove(0)
}

// BY-13
#[test]
fn one_reference_in_the_hub_holds_the_log_and_the_work_of_a_run() {
    let machines = Machines::new();
    let (one, two) = (machines.bed.repository(), machines.other());
    let trees = RunTrees::begin(&one, "r1", &machines.bed.runs().join("r1"), &machines.bed.base()).unwrap();
    let first = one.references_of_run("r1").unwrap();
    let start = add(&one, None, &first, "start");
    put(trees.main_tree().path(), "a.txt", b"a");
    let tree = trees.main_tree().snapshot().unwrap();
    let state = trees.record(&tree, "work", "c1").unwrap();
    trees.keep(Digest(7), &tree, &machines.bed.base()).unwrap();
    trees.tag_baseline().unwrap();
    let now = one.references_of_run("r1").unwrap();
    let moved: References = now.iter().filter(|(name, to)| first.get(*name) != Some(to)).map(own).collect();
    assert_eq!(moved.len(), 4, "main line, tree, tag, snapshot: {moved:?}");
    let next = add(&one, Some(&start), &moved, "next");
    machines.hub.push(&one, "r1", &next, None, &Cancel::new()).unwrap();
    assert_eq!(
        git_in(&machines.hub_folder(), &["for-each-ref", "--format=%(refname)"]),
        "refs/remand-hub/r1"
    );

    assert_eq!(machines.hub.runs(&two, &Cancel::new()).unwrap(), [("r1".to_string(), next.clone())].into());
    machines.hub.fetch(&two, "r1", &next, &Cancel::new()).unwrap();
    let entries = two.log_entries(&next, None).unwrap();
    let texts: Vec<_> = entries.iter().map(|entry| rows(&two, entry)).collect();
    assert_eq!(texts, [None, Some(b"start".to_vec()), Some(b"next".to_vec())]);
    assert_eq!(two.log_entries(&next, Some(&start)).unwrap(), [next.clone()]);
    two.follow_log("r1", &next, &now).unwrap();
    assert_eq!(two.references_of_run("r1").unwrap(), now);
    let there =
        RunTrees::begin(&two, "r1", &machines.bed.runs().join("there"), &machines.bed.base()).unwrap();
    assert_eq!(there.main_state().unwrap(), state);
    assert_eq!(there.kept(Digest(7)).unwrap().unwrap().tree, tree);
}

fn own((name, commit): (&String, &CommitId)) -> (String, CommitId) {
    (name.clone(), commit.clone())
}

#[test]
fn a_push_of_a_machine_that_was_overtaken_changes_nothing() {
    let machines = Machines::new();
    let (one, two, cancel) = (machines.bed.repository(), machines.other(), Cancel::new());
    let start = add(&one, None, &References::new(), "start");
    machines.hub.push(&one, "r1", &start, None, &cancel).unwrap();
    machines.hub.fetch(&two, "r1", &start, &cancel).unwrap();
    let claim = add(&two, Some(&start), &References::new(), "claim");
    machines.hub.push(&two, "r1", &claim, Some(&start), &cancel).unwrap();
    let late = add(&one, Some(&start), &References::new(), "late");
    let refused = machines.hub.push(&one, "r1", &late, Some(&start), &cancel);
    assert!(matches!(refused, Err(GitError::HubFailed { .. })), "{refused:?}");
    let newest = machines.hub.newest(&one, "r1", &cancel).unwrap().unwrap();
    assert_eq!(newest, claim);
    assert!(!one.log_continues(&late, &newest).unwrap(), "the claim was never here");
    assert!(one.log_continues(&late, &start).unwrap());
}

#[test]
fn references_that_follow_a_log_lose_nothing_that_was_here() {
    let machines = Machines::new();
    let one = machines.bed.repository();
    let base = machines.bed.base();
    let trees = RunTrees::begin(&one, "r1", &machines.bed.runs().join("r1"), &base).unwrap();
    let before = one.references_of_run("r1").unwrap();
    let entry = add(&one, None, &before, "start");
    put(trees.main_tree().path(), "a.txt", b"a");
    let tree = trees.main_tree().snapshot().unwrap();
    let state = trees.record(&tree, "work", "c1").unwrap();
    trees.keep(Digest(7), &tree, &base).unwrap();
    let pending = add(&one, Some(&entry), &References::new(), "pending");
    one.follow_log("r1", &entry, &before).unwrap();
    let now = one.references_of_run("r1").unwrap();
    assert_eq!(now["refs/remand/r1/main"], base);
    assert_eq!(now, before);
    let kept = machines.bed.git(&["for-each-ref", "--format=%(refname)", "refs/remand/r1/replaced/"]);
    assert!(kept.contains(state.commit.as_str()), "{kept}");
    assert!(kept.contains(pending.as_str()), "{kept}");
    assert_eq!(one.run_log("r1").unwrap(), Some(entry));
}

#[test]
fn only_what_no_remote_and_no_log_has_is_searched() {
    let machines = Machines::new();
    let one = machines.other();
    let folder = machines.bed.folder.path().join("other");
    let search = |commit: &CommitId| {
        let find = |_: &str, text: &[u8]| text.starts_with(b"token").then(|| "a token".to_string());
        one.search_new_objects(&BTreeSet::from([commit.clone()]), find).unwrap()
    };
    let commit = |message: &str| {
        git_in(&folder, &["add", "-A"]);
        git_in(&folder, &["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "-m", message]);
        one.head().unwrap().commit
    };
    put(&folder, "dir/file.txt", b"token 1");
    let with_file = commit("harmless");
    let found = search(&with_file).unwrap();
    assert_eq!((found.location.as_str(), found.what.as_str()), ("dir/file.txt", "a token"));
    let moved = References::from([("refs/remand/r1/main".to_string(), with_file.clone())]);
    add(&one, None, &moved, "start");
    assert_eq!(search(&with_file), None, "the log of a run has it");
    put(&folder, "other.txt", b"no secret");
    assert_eq!(search(&commit("harmless")), None);
    put(&folder, "other.txt", b"changed");
    git_in(&folder, &["tag", "x"]);
    let with_message = commit("a body\n\ntoken 2");
    assert_eq!(search(&with_message), None, "the text is not at the start of a commit object");
}

#[test]
fn a_hub_that_cannot_be_reached_is_an_error_without_the_password() {
    let machines = Machines::new();
    let one = machines.bed.repository();
    let missing = Hub::at(&machines.bed.folder.path().join("missing.git").display().to_string());
    let error = missing.newest(&one, "r1", &Cancel::new()).unwrap_err();
    assert!(error.to_string().contains("missing.git"), "{error}");
    assert!(error.hint().contains("git ls-remote"), "{}", error.hint());
    let secret = Hub::at("https://ada:geheim@localhost:1/hub.git");
    let error = secret.newest(&one, "r1", &Cancel::new()).unwrap_err();
    assert!(error.to_string().contains("https://localhost:1/hub.git"), "{error}");
    assert!(!format!("{error} {}", error.hint()).contains("geheim"), "{error}");
}

#[test]
fn a_hub_that_refuses_says_why() {
    let machines = Machines::new();
    let one = machines.bed.repository();
    let start = add(&one, None, &References::new(), "start");
    put(&machines.hub_folder().join("hooks"), "pre-receive", b"#!/bin/sh\necho full >&2\nexit 1\n");
    let hook = machines.hub_folder().join("hooks/pre-receive");
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let error = machines.hub.push(&one, "r1", &start, None, &Cancel::new()).unwrap_err();
    assert!(matches!(&error, GitError::HubFailed { detail, .. } if detail.contains("full")), "{error}");
    assert_eq!(machines.hub.newest(&one, "r1", &Cancel::new()).unwrap(), None);
}
