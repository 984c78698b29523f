//! Tests of a killed engine: a second process works until it is killed at some point, and the first one continues.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::testbed::{Testbed, no_hook_files, put};
use super::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const FOLDER: &str = "REMAND_TEST_KILLED_IN";

/// Works until it is killed. Does nothing unless `kill_when` started this process.
#[test]
fn the_process_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let repository = Repository::discover(&folder.join("user")).unwrap();
    let trees = RunTrees::open(&repository, "r1", &folder.join("state/r1")).unwrap();
    for round in 0_u64.. {
        let _ = work(&trees, round + u64::from(std::process::id()) * 1000);
    }
}

fn work(trees: &RunTrees, round: u64) -> Result<(), GitError> {
    let base = trees.main_state()?;
    let tree = trees.lend("t1", TaskStart::Main)?;
    for file in 0..50 {
        put(tree.path(), format!("dir {file}/file {}", round % 3), format!("{round}\n").as_bytes());
    }
    let state = tree.snapshot()?;
    tree.restore(&base.tree)?;
    trees.merge("t1", &base.commit, &state, &format!("m{round}"))?;
    trees.give_back("t1")?;
    if round.is_multiple_of(2) {
        trees.undo_tasks(&["t1"], &format!("t{round}"))?;
    }
    if round.is_multiple_of(5) {
        trees.commit(
            &FileContents::new(),
            &CommitMessage { subject: "Work".to_string(), ..CommitMessage::default() },
            &format!("f{round}"),
            &no_hook_files,
        )?;
        trees.repository.drop_reference(&trees.branch_reference())?;
    }
    Ok(())
}

fn kill_when(folder: &Path, is_due: impl Fn(Duration) -> bool) {
    let name = format!("{}::the_process_that_is_killed", module_path!().split_once("::").unwrap().1);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !is_due(started.elapsed()) {
        assert!(child.try_wait().unwrap().is_none(), "the process ended before the kill");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

// CORE-17
#[test]
fn an_engine_recovers_from_any_state_that_a_killed_engine_left() {
    let bed = Testbed::new();
    let before = bed.fingerprint();
    drop(bed.run("r1"));
    for round in 0..12_u64 {
        let delay = Duration::from_millis(40 + round * 67);
        kill_when(bed.folder.path(), |elapsed| elapsed > delay);
        let trees = RunTrees::open(&bed.repository(), "r1", &bed.runs().join("r1")).unwrap();
        let state = trees.main_state().unwrap();
        let main = trees.main_tree();
        main.restore(&state.tree).unwrap();
        assert_eq!(main.snapshot().unwrap(), state.tree, "round {round}");
        let tree = trees.lend("t1", TaskStart::Main).unwrap();
        assert_eq!(tree.snapshot().unwrap(), state.tree, "round {round}");
        let links = trees.links().unwrap();
        let mut commands: Vec<&str> = links.iter().map(|link| link.command.as_str()).collect();
        commands.sort_unstable();
        commands.dedup();
        assert_eq!(commands.len(), links.len(), "a command ran twice");
    }
    let trees = RunTrees::open(&bed.repository(), "r1", &bed.runs().join("r1")).unwrap();
    kill_when(bed.folder.path(), |elapsed| {
        assert!(elapsed < Duration::from_secs(120), "nothing was done before the kill");
        trees.links().unwrap().len() > 2
    });
    trees.discard(BranchFate::Delete).unwrap();
    assert_eq!(bed.fingerprint(), before);
    bed.git(&["fsck", "--no-dangling"]);
}
