//! Runs that are kept in a hub, and continue on another machine.

use super::kills::{KilledRun, output_unless_killed};
use super::place::{Place, Shown, shown};
use super::rehearsed::{SUB, Script, role};
use super::three_tasks::{self, REHEARSAL, await_within, outcome};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;
use tempfile::TempDir;

/// What all machines share: the hub, and the repository that each of them has cloned.
struct Fleet {
    folder: TempDir,
    address: String,
}

impl Fleet {
    /// A hub for the repository of this machine, which joins it.
    fn of(place: &Place) -> Fleet {
        let folder = TempDir::new().expect("a temporary folder");
        let address = format!("file://{}", folder.path().join("hub.git").display());
        let fleet = Fleet { folder, address };
        place.git_in(fleet.folder.path(), &["init", "-q", "--bare", "hub.git"]);
        let upstream = fleet.upstream().display().to_string();
        let project = place.project().display().to_string();
        place.git_in(fleet.folder.path(), &["clone", "-q", "--bare", "--no-local", &project, &upstream]);
        fleet.join(place);
        fleet
    }

    /// The same hub, through a program that stands in for ssh.
    fn over_ssh(place: &Place) -> Fleet {
        let fleet = Fleet::of(place);
        let address = format!("ssh://git@hub.test{}", fleet.hub().display());
        let fleet = Fleet { address, ..fleet };
        fs::remove_file(place.user_home().join(".config/remand/config.toml")).expect("removed");
        fleet.join(place);
        fleet
    }

    fn hub(&self) -> PathBuf {
        self.folder.path().join("hub.git")
    }

    fn upstream(&self) -> PathBuf {
        self.folder.path().join("upstream.git")
    }

    fn join(&self, place: &Place) {
        place.add_user_settings(&format!("\n[hub]\ngit = \"{}\"\n", self.address));
        if self.address.starts_with("ssh:") {
            // The last argument is the command for the other side.
            let script = "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n";
            let ssh = place.write_program("ssh-stand-in", script);
            place.git(&["config", "core.sshCommand", &ssh]);
        }
    }

    /// Another machine: a new clone with its own state. Nothing else is copied to it.
    fn machine(&self) -> Place {
        let place = Place::new();
        fs::remove_dir_all(place.project()).expect("removed");
        let (upstream, project) = (self.upstream(), place.project());
        let [upstream, project] = [&upstream, &project].map(|path| path.display().to_string());
        let parent = Path::new(&project).parent().expect("a parent");
        place.git_in(parent, &["clone", "-q", "--no-local", "-b", "work", &upstream, &project]);
        self.join(&place);
        place
    }

    fn runs(&self, place: &Place) -> Vec<String> {
        let names = place.git_in(&self.hub(), &["for-each-ref", "--format=%(refname:lstrip=2)"]);
        names.lines().map(str::to_string).collect()
    }

    /// The number of entries in the log of the only run, and of the empty commit before them.
    fn entries(&self, place: &Place) -> usize {
        let Some(run) = self.runs(place).pop() else { return 0 };
        let reference = format!("refs/remand-hub/{run}");
        let count = place.git_in(&self.hub(), &["rev-list", "--first-parent", "--count", &reference]);
        count.trim().parse().expect("a number")
    }

    fn hook(&self, name: &str, script: &str) {
        let file = self.hub().join("hooks").join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("a hook");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("permissions");
    }

    /// Whether any object of the hub contains this text.
    fn contains(&self, place: &Place, text: &str) -> bool {
        let words = ["cat-file", "--batch-all-objects", "--batch", "--unordered"];
        place.git_in(&self.hub(), &words).contains(text)
    }
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// How long a test waits for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The arguments that start a short run.
fn short(place: &Place) -> Vec<String> {
    let script = place.write_outside("rehearsal.yaml", &Script::quick().text());
    let words = ["run", "Add subtraction", "--workflow", "quick", "--autonomous", "--agent"];
    words.iter().map(ToString::to_string).chain([format!("rehearsal:{script}")]).collect()
}

fn undisturbed(begin: fn(&Place) -> Vec<String>) -> three_tasks::Outcome {
    let place = three_tasks::place();
    let shown = place.remand(&words(&begin(&place)));
    assert_eq!(shown.code, 0, "{shown:?}");
    outcome(&place)
}

fn feature(place: &Place) -> Vec<String> {
    three_tasks::arguments(place, REHEARSAL)
}

/// Starts a run, and waits until its log has this many entries.
fn started(place: &Place, fleet: &Fleet, entries: usize) -> Child {
    let child = place.start(&words(&short(place)));
    await_within(TIMEOUT, "the entries", || {
        std::thread::sleep(Duration::from_millis(50));
        (fleet.entries(place) >= entries).then_some(())
    });
    child
}

/// The log of the engine, once it says that the run waits for the hub.
fn await_waiting(place: &Place) {
    let log = || {
        let folder = place.home().join("runs").join(&place.latest().run.0);
        fs::read_to_string(folder.join("engine.log")).ok()
    };
    await_within(TIMEOUT, "the waiting", || log().filter(|text| text.contains("the run waits for the hub")));
}

fn ended(child: Child) -> Shown {
    let output = child.wait_with_output().expect("an end");
    Shown {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("a signal");
}

/// Each machine is killed in the middle of its work, and its disk is lost; the next one continues.
fn lose_machines(join: impl Fn(&Place) -> Fleet, first: u64, step: u64) {
    let mut place = three_tasks::place();
    let fleet = join(&place);
    let mut begin = feature(&place);
    let (mut lost, mut point) = (0, first);
    while output_unless_killed(&place, &words(&begin), Some(point)).is_none() {
        let run = fleet.runs(&place).pop().expect("a run");
        // The disk of this machine is lost with it.
        drop(std::mem::replace(&mut place, fleet.machine()));
        begin = vec!["resume".to_string(), run, "--from-hub".to_string()];
        lost += 1;
        point += step;
    }
    assert!(lost >= 4, "only {lost} machines were lost");
    assert_eq!(outcome(&place), undisturbed(feature).with_interrupted(&place));
    assert_eq!(fleet.runs(&place), [place.latest().run.0]);
}

// BY-13
#[test]
fn a_run_whose_machines_are_lost_with_their_disks_has_the_same_result() {
    lose_machines(Fleet::of, 30, 3);
}

// BY-13
#[test]
fn a_hub_can_be_reached_through_ssh() {
    lose_machines(Fleet::over_ssh, 43, 2);
}

// BY-13, CORE-04
/// Kills before and after every commit, push and effect, on one machine that keeps its disk.
#[test]
fn a_run_that_is_killed_at_any_point_and_kept_in_a_hub_has_the_same_result() {
    let undisturbed = undisturbed(short);
    let mut kills = 0;
    for first in 1..=5 {
        let place = three_tasks::place();
        let fleet = Fleet::of(&place);
        let begin = short(&place);
        let run = KilledRun { place: &place, begin: &begin, code: 0 };
        kills += run.run_with_kills(first, Some(9 + first));
        assert_eq!(outcome(&place), undisturbed.clone().with_interrupted(&place), "first at {first}");
        let run = place.latest().run.0;
        assert!(fleet.runs(&place).contains(&run), "{run} is not in the hub");
    }
    assert!(kills > 15, "only {kills} kills");
}

// BY-13
#[test]
fn a_machine_that_was_overtaken_stops_and_pushes_nothing() {
    let one = three_tasks::place();
    let fleet = Fleet::of(&one);
    let stopped = started(&one, &fleet, 5);
    signal(&stopped, Signal::STOP);
    let run = fleet.runs(&one).pop().expect("a run");
    let two = fleet.machine();
    // A push that was on its way when the machine was stopped may arrive.
    let taken = await_within(TIMEOUT, "the other machine", || {
        let shown = two.remand(&["resume", &run, "--from-hub"]);
        (shown.code == 0).then_some(shown)
    });
    assert!(taken.err.contains(&format!("continuing run {run}")), "{taken:?}");
    let (result, entries) = (outcome(&two), fleet.entries(&two));
    signal(&stopped, Signal::CONT);
    let woken = ended(stopped);
    assert_ne!(woken.code, 0, "{woken:?}");
    assert!(woken.err.contains("was continued elsewhere"), "{woken:?}");
    assert!(woken.err.contains("--from-hub"), "{woken:?}");
    assert_eq!(fleet.entries(&two), entries, "nothing was pushed");
    let again = one.remand(&["resume", &run]);
    assert!(again.code != 0 && again.err.contains("was continued elsewhere"), "{again:?}");
    // What the other machine did can be seen here once it is asked for.
    let over = one.remand(&["resume", &run, "--from-hub"]);
    assert!(over.err.contains("is over") || over.code == 0, "{over:?}");
    assert_eq!(one.latest().outcome(), two.latest().outcome());
    assert_eq!(outcome(&two), result);
    three_tasks::assert_sound(&one);
}

// BY-13
#[test]
fn a_hub_that_lost_its_references_removes_nothing_and_gets_them_again() {
    let place = three_tasks::place();
    let fleet = Fleet::of(&place);
    let begin = short(&place);
    assert!(output_unless_killed(&place, &words(&begin), Some(24)).is_none());
    let run = place.latest().run.0;
    let references = |place: &Place| place.git(&["for-each-ref", "refs/remand", "refs/heads", "refs/tags"]);
    let before = references(&place);
    place.git_in(&fleet.hub(), &["update-ref", "-d", &format!("refs/remand-hub/{run}")]);
    let refused = place.remand(&["resume"]);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("no longer has run"), "{refused:?}");
    assert!(refused.err.contains("--restore-hub"), "{refused:?}");
    assert_eq!(references(&place), before);
    assert!(fleet.runs(&place).is_empty());
    let restored = place.remand(&["resume", &run, "--restore-hub"]);
    assert_eq!(restored.code, 0, "{restored:?}");
    assert_eq!(outcome(&place), undisturbed(short).with_interrupted(&place));
    assert_eq!(fleet.runs(&place), [run]);
}

// BY-13
#[test]
fn nothing_is_done_twice_when_every_connection_ends_after_its_push() {
    let place = three_tasks::place();
    let fleet = Fleet::of(&place);
    fleet.hook("reference-transaction", "test \"$1\" != committed || kill -9 $PPID");
    let run = place.remand(&words(&short(&place)));
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(outcome(&place), undisturbed(short));
    assert!(fleet.entries(&place) > 8);
}

// BY-13
#[test]
fn a_run_waits_for_a_hub_that_cannot_be_reached() {
    let place = three_tasks::place();
    let fleet = Fleet::of(&place);
    let child = started(&place, &fleet, 5);
    let away = fleet.folder.path().join("away.git");
    fs::rename(fleet.hub(), &away).expect("renamed");
    await_waiting(&place);
    fs::rename(&away, fleet.hub()).expect("renamed");
    let shown = ended(child);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.err.contains("waiting for the hub"), "{shown:?}");
    assert_eq!(outcome(&place), undisturbed(short), "nothing was done twice");
}

// BY-13
#[test]
fn a_process_that_is_stopped_while_it_waits_for_the_hub_loses_nothing() {
    let place = three_tasks::place();
    let fleet = Fleet::of(&place);
    let child = started(&place, &fleet, 5);
    let away = fleet.folder.path().join("away.git");
    fs::rename(fleet.hub(), &away).expect("renamed");
    await_waiting(&place);
    signal(&child, Signal::INT);
    let shown = ended(child);
    assert_ne!(shown.code, 0, "{shown:?}");
    assert!(shown.err.contains("nothing is lost"), "{shown:?}");
    let refused = place.remand(&["resume"]);
    assert!(refused.code != 0 && refused.err.contains("could not be reached"), "{refused:?}");
    fs::rename(&away, fleet.hub()).expect("renamed");
    assert_eq!(place.remand(&["resume"]).code, 0);
    assert_eq!(outcome(&place), undisturbed(short).with_interrupted(&place));
}

// BY-13, EP-30
#[test]
fn a_secret_in_the_work_is_found_before_it_is_pushed() {
    let place = three_tasks::place();
    let fleet = Fleet::of(&place);
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let backwards: String = key.chars().rev().collect();
    let script = Script::quick().with(
        role("implementer")
            .attempt(1)
            .writes("sums/sub.py", SUB)
            .runs(&format!("echo {backwards} | rev > sums/key.py"))
            .says(json!({
                "verdict": "done", "hypothesis": "none", "changes": [{"file": "sums/sub.py", "what": "sub"}],
            })),
    );
    let shown = place.quick(&script, &[]);
    assert!(!fleet.contains(&place, &key), "{shown:?}");
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    let first = rows.iter().find(|row| row.role == "implementer").expect("an implementer");
    assert_eq!(first.failure.as_deref(), Some("violation"), "{first:?}");
    assert!(first.detail.as_deref().is_some_and(|detail| detail.contains("sums/key.py")), "{first:?}");
}

// BY-13, EP-30
#[test]
fn a_run_does_not_start_from_a_commit_with_a_secret_unless_the_user_allows_it() {
    let place = three_tasks::place();
    let fleet = Fleet::of(&place);
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    place.write("keys/test.txt", &format!("{key}\n"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "--amend", "--no-edit"]);
    let refused = place.remand(&words(&short(&place)));
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("keys/test.txt contains what looks like a secret"), "{refused:?}");
    assert!(refused.err.contains("hub.allowed"), "{refused:?}");
    assert!(!refused.err.contains(&key), "{refused:?}");
    assert!(fleet.runs(&place).is_empty() && !fleet.contains(&place, &key));
    assert!(place.reader().latest().expect("a query").is_none());
    place.add_user_settings("allowed = [\"keys/\"]\n");
    assert_eq!(place.remand(&words(&short(&place))).code, 0);
    assert!(fleet.contains(&place, &key));
}

// BY-13
#[test]
fn a_run_does_not_start_without_its_hub_and_doctor_says_so() {
    let place = three_tasks::place();
    place.add_user_settings("\n[hub]\ngit = \"/nowhere/hub.git\"\n");
    let doctor = place.remand(&["doctor"]);
    assert!(doctor.out.contains("the hub /nowhere/hub.git refused or could not be reached"), "{doctor:?}");
    let run = place.remand(&words(&short(&place)));
    assert!(run.code != 0 && run.err.contains("/nowhere/hub.git"), "{run:?}");
    assert!(place.reader().latest().expect("a query").is_none());
    assert_eq!(place.git(&["for-each-ref", "refs/remand"]), "");
}

// BY-13
#[test]
fn a_run_is_not_continued_without_its_hub_unless_the_user_says_so() {
    let place = three_tasks::place();
    let fleet = Fleet::of(&place);
    let begin = short(&place);
    assert!(output_unless_killed(&place, &words(&begin), Some(24)).is_none());
    let settings = place.user_home().join(".config/remand/config.toml");
    fs::remove_file(&settings).expect("removed");
    let refused = place.remand(&["resume"]);
    assert!(refused.code != 0 && refused.err.contains("`hub.git` is not set"), "{refused:?}");
    let entries = fleet.entries(&place);
    let run = place.latest().run.0;
    let shown = place.remand(&["resume", &run, "--without-hub"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(outcome(&place), undisturbed(short).with_interrupted(&place));
    assert_eq!(fleet.entries(&place), entries);
}

// BY-13
#[test]
fn a_run_that_left_the_hub_is_not_mixed_with_what_another_machine_did() {
    let place = three_tasks::place();
    let fleet = Fleet::of(&place);
    let begin = short(&place);
    assert!(output_unless_killed(&place, &words(&begin), Some(24)).is_none());
    let run = place.latest().run.0;
    let two = fleet.machine();
    assert_eq!(two.remand(&["resume", &run, "--from-hub"]).code, 0);
    assert_eq!(place.remand(&["resume", &run, "--without-hub"]).code, 0);
    let before = outcome(&place);
    let refused = place.remand(&["resume", &run, "--from-hub"]);
    assert!(refused.code != 0 && refused.err.contains("differs from this ledger"), "{refused:?}");
    assert_eq!(outcome(&place), before);
}

/// Calls of git that only a hub needs.
const EXCHANGE: [&str; 5] = ["push", "fetch", "ls-remote", "fast-import", "refs/tags/pipeline-baseline-"];

// BY-13
#[test]
fn without_a_hub_no_call_of_git_is_about_one() {
    let calls = |place: &Place| {
        let file = place.project().parent().expect("a folder").join("calls");
        let git = std::env::var("PATH").expect("PATH");
        let git = git.split(':').map(|folder| Path::new(folder).join("git")).find(|file| file.is_file());
        let script = format!(
            "#!/bin/sh\necho \"$*\" >> {}\nexec {} \"$@\"\n",
            file.display(),
            git.expect("git").display()
        );
        let wrapper = place.write_program("git", &script);
        let folder = Path::new(&wrapper).parent().expect("a folder").display().to_string();
        let begin = short(place);
        let mut command = place.command(&words(&begin));
        command.env("PATH", format!("{folder}:{}", std::env::var("PATH").expect("PATH")));
        assert_eq!(shown(command).code, 0);
        let calls = fs::read_to_string(file).expect("calls");
        EXCHANGE
            .map(|word| calls.lines().filter(|line| line.split(' ').any(|at| at.starts_with(word))).count())
    };
    let place = three_tasks::place();
    assert_eq!(calls(&place)[..4], [0; 4]);
    let place = three_tasks::place();
    let _fleet = Fleet::of(&place);
    let with_hub = calls(&place);
    assert!(with_hub[0] > 8 && with_hub[3] > 8, "{with_hub:?}");
}
