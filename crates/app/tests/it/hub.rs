//! Runs that move between machines through a hub.

use super::kills::output_unless_killed;
use super::place::Place;
use super::three_tasks::{self, REHEARSAL, outcome};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What all machines share: the hub, and the repository that each of them has cloned.
struct Fleet {
    folder: TempDir,
}

impl Fleet {
    fn of(place: &Place) -> Fleet {
        let fleet = Fleet { folder: TempDir::new().expect("a temporary folder") };
        place.git_in(fleet.folder.path(), &["init", "-q", "--bare", "hub.git"]);
        let upstream = fleet.upstream().display().to_string();
        place.git_in(
            fleet.folder.path(),
            &["clone", "-q", "--bare", "--no-local", &project(place), &upstream],
        );
        fleet
    }

    fn hub(&self) -> PathBuf {
        self.folder.path().join("hub.git")
    }

    fn upstream(&self) -> PathBuf {
        self.folder.path().join("upstream.git")
    }

    fn join(&self, place: &Place) {
        place.add_user_settings(&format!("\n[hub]\ngit = \"{}\"\n", self.hub().display()));
    }

    /// Another machine: a new clone with its own state, to which only the ledger moves.
    fn move_from(&self, lost: Place) -> Place {
        let place = Place::new();
        fs::remove_dir_all(place.project()).expect("removed");
        let upstream = self.upstream().display().to_string();
        place.git_in(
            place.project().parent().expect("a parent"),
            &["clone", "-q", "--no-local", "-b", "work", &upstream, &project(&place)],
        );
        self.join(&place);
        assert_eq!(place.remand(&["runs"]).code, 0);
        for file in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
            let (from, to) = (lost.home().join(file), place.home().join(file));
            if from.exists() {
                fs::copy(&from, &to).expect("copied");
            }
        }
        // The disk of the other machine is gone.
        drop(lost);
        place
    }

    fn references(&self, place: &Place) -> String {
        place.git_in(&self.hub(), &["for-each-ref", "--format=%(refname)"])
    }
}

fn project(place: &Place) -> String {
    place.project().display().to_string()
}

fn tree_of(place: &Place, repository: &Path, branch: &str) -> String {
    place.git_in(repository, &["rev-parse", &format!("{branch}^{{tree}}")])
}

// BY-13
/// Each machine is killed in the middle of its work, and its disk is lost; the next one continues.
#[test]
fn a_run_whose_machines_are_lost_with_their_disks_has_the_same_result() {
    let undisturbed = three_tasks::place();
    let begin = three_tasks::arguments(&undisturbed, REHEARSAL);
    assert_eq!(undisturbed.remand(&words(&begin)).code, 0);

    let mut place = three_tasks::place();
    let fleet = Fleet::of(&place);
    fleet.join(&place);
    let mut begin = three_tasks::arguments(&place, REHEARSAL);
    let mut lost = 0;
    while output_unless_killed(&place, &words(&begin), Some(20 + lost)).is_none() {
        place = fleet.move_from(place);
        begin = vec!["resume".to_string()];
        lost += 1;
    }
    assert!(lost >= 4, "only {lost} machines were lost");
    assert_eq!(outcome(&place), outcome(&undisturbed).with_interrupted(&place));
    let branch = format!("remand/{}", place.latest().run);
    assert_eq!(tree_of(&place, &fleet.hub(), &branch), tree_of(&place, &place.project(), &branch));
}

// BY-13
#[test]
fn the_result_of_a_command_waits_for_a_hub_that_is_away() {
    let place = three_tasks::place();
    let fleet = Fleet::of(&place);
    fleet.join(&place);
    let away = fleet.folder.path().join("away.git");
    let hook = format!("#!/bin/sh\ntest -e {}\n", away.display());
    let path = fleet.hub().join("hooks/pre-receive");
    fs::write(&path, hook).expect("a hook");
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
    let begin = three_tasks::arguments(&place, REHEARSAL);
    let mut run = place.start(&words(&begin));
    let log = || {
        let home = place.state().read_dir().ok()?.flatten().next()?.path();
        let folders = home.join("runs").read_dir().ok()?.flatten();
        folders.map(|entry| entry.path().join("engine.log")).find(|log| log.exists())
    };
    three_tasks::await_some("the waiting", || {
        fs::read_to_string(log()?).ok().filter(|text| text.contains("the result waits for the hub"))
    });
    assert_eq!(fleet.references(&place), "");
    fs::write(&away, "").expect("a file");
    assert_eq!(run.wait().expect("an exit").code(), Some(0));
    assert!(fleet.references(&place).contains("refs/remand/"));
    let undisturbed = three_tasks::place();
    assert_eq!(three_tasks::run(&undisturbed, REHEARSAL, &[]).code, 0);
    assert_eq!(outcome(&place), outcome(&undisturbed), "nothing was done twice");
}

// BY-13
#[test]
fn a_hub_that_cannot_be_reached_stops_a_run_before_any_agent_and_doctor_says_so() {
    let place = three_tasks::place();
    place.add_user_settings("\n[hub]\ngit = \"/nowhere/hub.git\"\n");
    let shown = place.remand(&["doctor"]);
    assert!(shown.out.contains("the hub /nowhere/hub.git refused or could not be reached"), "{shown:?}");
    let shown = three_tasks::run(&place, REHEARSAL, &[]);
    assert_ne!(shown.code, 0);
    assert!(place.reader().dispatches(&place.latest().run).expect("dispatches").is_empty());
    assert!(format!("{}{}", shown.out, shown.err).contains("/nowhere/hub.git"), "{shown:?}");
}

// BY-13
#[test]
fn clean_removes_a_run_from_the_hub_but_not_its_branch() {
    let place = three_tasks::place();
    let fleet = Fleet::of(&place);
    fleet.join(&place);
    assert_eq!(three_tasks::run(&place, REHEARSAL, &[]).code, 0);
    let run = place.latest().run;
    assert!(fleet.references(&place).contains(&format!("refs/remand/{run}/main")));
    assert_eq!(place.remand(&["clean"]).code, 0);
    assert_eq!(fleet.references(&place), format!("refs/heads/remand/{run}\n"));
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}
