//! Which process drives a run, which may end it, and what happens when the machine fails.

use super::agents;
use super::place::Place;
use super::rehearsed::{REQUEST, Script, TRIVIAL, review, role};
use super::three_tasks::{
    self, REHEARSAL, assert_sound, assert_untouched, await_some, marked_processes, outcome,
};
use remand_engine::lock::DriverLock;
use remand_ledger::RunId;
use remand_ledger::query::RunStage;
use serde_json::Value;
use std::process::{Child, Output};

/// Starts a run with agents that wait, and returns when `agents` of them have started.
fn waiting_run(place: &Place, rehearsal: &str, agents: usize) -> Child {
    let begin = three_tasks::arguments(place, rehearsal);
    let engine = place.start(&begin.iter().map(String::as_str).collect::<Vec<_>>());
    await_some("the agents", || (agents::started(place).len() == agents).then_some(()));
    engine
}

fn wait_for_end(engine: Child) -> Output {
    engine.wait_with_output().expect("an end")
}

fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

// CORE-04
#[test]
fn one_of_several_processes_drives_a_run_and_the_others_name_it() {
    let place = three_tasks::place();
    let (go, rehearsal) = agents::waiting(&place);
    let mut first = waiting_run(&place, &rehearsal, 1);
    let run = place.latest().run.0;
    for arguments in [vec!["resume"], vec!["resume", run.as_str()]] {
        let second = place.remand(&arguments);
        assert_eq!(second.code, 1, "{second:?}");
        assert!(second.err.contains(&format!("process {}", first.id())), "{second:?}");
    }
    // The lock of a dead process does not matter, and one of four simultaneous processes gets the run.
    first.kill().expect("killed");
    first.wait().expect("an end");
    let mut drivers: Vec<Child> = (0..4).map(|_| place.start(&["resume", &run])).collect();
    let mut losers = Vec::new();
    await_some("three that are turned away", || {
        let mut at = 0;
        while at < drivers.len() {
            if drivers[at].try_wait().expect("a look").is_some() {
                losers.push(wait_for_end(drivers.remove(at)));
            } else {
                at += 1;
            }
        }
        (losers.len() == 3).then_some(())
    });
    let winner = drivers.pop().expect("a process");
    for loser in &losers {
        assert_eq!(loser.status.code(), Some(1), "{loser:?}");
        assert!(
            output_text(loser).contains(&format!("process {}", winner.id())),
            "{}: {loser:?}",
            winner.id()
        );
    }
    agents::release(&go);
    let won = wait_for_end(winner);
    assert_eq!(won.status.code(), Some(0), "{won:?}");
    outcome(&place);
}

// CORE-04
#[test]
fn a_resume_of_several_runs_fails_if_one_of_them_cannot_be_resumed() {
    let place = Place::configured(TRIVIAL);
    let script = place.write_outside("quick.yaml", &Script::quick().text());
    let agent = format!("rehearsal:{script}");
    let begin = || {
        let mut killed = place.command(&["run", REQUEST, "--workflow", "quick", "--agent", &agent]);
        killed.env("REMAND_DIE_AT", "4").output().expect("the binary runs");
        let run = place.latest().run;
        DriverLock::take(&place.home().join("runs").join(&run.0), &run).expect("nobody drives it")
    };
    let (one, other) = (begin(), begin());
    let none = place.remand(&["resume", "--json"]);
    assert_eq!(none.code, 1, "{none:?}");
    let lines: Vec<Value> = none.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in &lines {
        assert_eq!(line["exit"], 1, "{line}");
        assert!(
            line["failure"]["error"].as_str().is_some_and(|text| text.contains("is driven by")),
            "{line}"
        );
    }
    drop(one);
    let some = place.remand(&["resume"]);
    assert_eq!(some.code, 1, "{some:?}");
    let runs = place.reader().runs().expect("runs");
    assert_eq!(runs.iter().filter(|row| row.stage == RunStage::Committed).count(), 1, "{some:?}");
    drop(other);
    let rest = place.remand(&["resume"]);
    assert_eq!(rest.code, 0, "{rest:?}");
}

// CORE-17
#[test]
fn a_cancel_from_another_process_ends_agents_and_strays_and_restores_the_trees() {
    let place = three_tasks::place();
    let (_, rehearsal) = agents::waiting_in_parallel(&place);
    let engine = waiting_run(&place, &rehearsal, 2);
    let run = place.latest().run;
    let alive = marked_processes(&run);
    assert!(alive.iter().filter(|line| line.contains("sleep 1000")).count() >= 2, "{alive:?}");
    let cancel = place.remand(&["cancel", &run.0]);
    assert_eq!(cancel.code, 0, "{cancel:?}");
    let engine_ended = wait_for_end(engine);
    assert_eq!(engine_ended.status.code(), Some(4), "{engine_ended:?}");
    assert_cancelled(&place);
    let again = place.remand(&["cancel", &run.0]);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.err.contains("is over"), "{again:?}");
    let resumed = place.remand(&["resume", &run.0]);
    assert_eq!(resumed.code, 1, "{resumed:?}");
}

// CORE-17
#[test]
fn a_cancel_after_the_engine_was_killed_ends_agents_and_strays_and_restores_the_trees() {
    let place = three_tasks::place();
    let (_, rehearsal) = agents::waiting_in_parallel(&place);
    let mut engine = waiting_run(&place, &rehearsal, 2);
    engine.kill().expect("killed");
    engine.wait().expect("an end");
    let cancel = place.remand(&["cancel", "latest"]);
    assert_eq!(cancel.code, 0, "{cancel:?}");
    assert_cancelled(&place);
}

// CORE-04, CORE-17
#[test]
fn a_killed_cancel_is_finished_by_the_next_command() {
    for next in ["cancel", "resume"] {
        let place = three_tasks::place();
        let (_, rehearsal) = agents::waiting_in_parallel(&place);
        let mut engine = waiting_run(&place, &rehearsal, 2);
        engine.kill().expect("killed");
        engine.wait().expect("an end");
        // It is killed right after the commit that ends the run, which follows the commit that records the dead agents.
        let mut killed = place.command(&["cancel", "latest"]);
        killed.env("REMAND_DIE_AT", "4").output().expect("the binary runs");
        let run = place.latest().run;
        let artifacts = place.home().join("runs").join(&run.0).join("artifacts");
        assert_eq!(place.latest().stage, RunStage::Stopped);
        assert!(!artifacts.exists());
        let finished = place.remand(&[next, &run.0]);
        assert_eq!(finished.code, if next == "cancel" { 1 } else { 4 }, "{finished:?}");
        assert!(artifacts.join("plan@1.yaml").is_file());
        assert_cancelled(&place);
        let over = place.remand(&[next, &run.0]);
        assert_eq!(over.code, 1, "{over:?}");
        assert!(over.err.contains("is over"), "{over:?}");
    }
}

/// Asserts that the newest run is over and left nothing behind.
fn assert_cancelled(place: &Place) {
    let row = place.latest();
    assert_eq!(row.stage, RunStage::Stopped);
    assert!(row.reason.as_deref().is_some_and(|reason| reason.contains("cancelled")), "{row:?}");
    assert_eq!(marked_processes(&row.run), Vec::<String>::new());
    assert_eq!(agents::junk(place), Vec::<String>::new());
    assert_untouched(place);
    assert_sound(place);
    let branches = place.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    assert_eq!(branches, "main\nwork\n");
}

// CORE-17
#[test]
fn a_run_that_waits_for_a_human_is_cancelled_without_a_driver() {
    let place = three_tasks::place();
    let script = place.write_outside("rehearsal.yaml", REHEARSAL);
    let parked = place.remand(&[
        "run",
        "More sums",
        "--workflow",
        "feature",
        "--interactive",
        "--agent",
        &format!("rehearsal:{script}"),
    ]);
    assert_eq!(parked.code, 5, "{parked:?}");
    let cancel = place.remand(&["cancel", "latest"]);
    assert_eq!(cancel.code, 0, "{cancel:?}");
    assert_cancelled(&place);
    assert_eq!(place.remand(&["cancel", "latest"]).code, 1);
}

// CORE-14
#[test]
fn the_process_that_drives_the_run_accepts_an_answer_once() {
    let place = three_tasks::place();
    let script = place.write_outside("rehearsal.yaml", REHEARSAL);
    place.remand(&[
        "run",
        "More sums",
        "--workflow",
        "feature",
        "--interactive",
        "--agent",
        &format!("rehearsal:{script}"),
    ]);
    let run = place.latest().run;
    let before = place.latest().seq;
    // The answer is only recorded until a process drives the run.
    assert_eq!(place.remand(&["answer", &run.0, "proceed", "--park"]).code, 0);
    assert_eq!(place.latest().seq, before);
    // The process is killed after the commit that takes the answer: the question is not asked again.
    let mut killed = place.command(&["resume", &run.0]);
    killed.env("REMAND_DIE_AT", "2").output().expect("the binary runs");
    assert_eq!(place.latest().seq, before + 1);
    assert!(place.reader().requests(&run).expect("requests").is_empty());
    let dispatches = place.reader().dispatches(&run).expect("dispatches");
    assert_eq!(dispatches.iter().filter(|row| row.phase == "spec").count(), 1);
    let resumed = place.remand(&["resume", &run.0]);
    assert_eq!(resumed.code, 5, "{resumed:?}");
    let gates = place.reader().gates(&run).expect("gates");
    let answered: Vec<_> = gates.iter().filter(|gate| gate.option.as_deref() == Some("proceed")).collect();
    assert_eq!(answered.len(), 1, "{gates:?}");
}

/// Runs the binary in a shell after these shell commands.
fn run_after(words: &str, place: &Place, arguments: &[String]) -> Output {
    let binary = place.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(format!("{words}; exec \"$0\" \"$@\"")).arg(binary.get_program()).args(arguments);
    shell.env_clear().current_dir(place.project()).stdin(std::process::Stdio::null());
    for (name, value) in binary.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    shell.output().expect("the shell runs")
}

// CORE-04
#[test]
fn a_full_disk_stops_the_run_and_loses_nothing() {
    let calm = three_tasks::place();
    assert_eq!(three_tasks::run(&calm, REHEARSAL, &[]).code, 0);
    let largest = std::fs::metadata(calm.home().join("ledger.db")).expect("the ledger").len()
        + std::fs::metadata(calm.home().join("ledger.db-wal")).map_or(0, |wal| wal.len());
    let place = three_tasks::place();
    let begin = three_tasks::arguments(&place, REHEARSAL);
    // Limits files to half of the size that the ledger needs; the shell counts in blocks of 512 bytes.
    let stopped = run_after(&format!("trap '' XFSZ; ulimit -f {}", largest / 1024), &place, &begin);
    assert!(!stopped.status.success(), "{stopped:?}");
    let output = output_text(&stopped);
    assert!(output.contains("error: ") && output.contains("ledger") && output.contains("hint: "), "{output}");
    assert_sound(&place);
    let seq = place.latest().seq;
    assert!(seq > 1, "nothing was written before the disk was full");
    let resumed = place.remand(&["resume"]);
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert!(place.latest().seq > seq);
    assert_eq!(outcome(&place), outcome(&calm).with_interrupted(&place));
}

// CORE-04
#[test]
fn a_state_directory_that_cannot_be_used_is_named_with_a_remedy() {
    let place = three_tasks::place();
    let file = place.write_outside("state-file", "");
    let script = place.write_outside("rehearsal.yaml", REHEARSAL);
    // A folder below a file cannot be created, not even by root.
    for state in [file.clone(), format!("{file}/below"), "/proc/remand".to_string()] {
        let shown =
            place.remand(&["--state", &state, "run", "More sums", "--agent", &format!("rehearsal:{script}")]);
        assert_eq!(shown.code, 1, "{shown:?}");
        assert!(shown.err.contains(&state) && shown.err.contains("hint: "), "{shown:?}");
    }
    assert_untouched(&place);
}

// CORE-08
#[test]
fn a_damaged_ledger_is_named_and_not_made_worse() {
    let place = three_tasks::place();
    let script = place.write_outside("rehearsal.yaml", REHEARSAL);
    let parked = place.remand(&[
        "run",
        "More sums",
        "--workflow",
        "feature",
        "--interactive",
        "--agent",
        &format!("rehearsal:{script}"),
    ]);
    assert_eq!(parked.code, 5, "{parked:?}");
    let path = place.home().join("ledger.db");
    // Moves everything from the write-ahead log into the file.
    drop(place.ledger());
    let sound = std::fs::read(&path).expect("the ledger");
    for (from, to) in [(0, 100), (0, sound.len()), (4096, sound.len())] {
        let mut bytes = sound.clone();
        bytes[from..to].fill(0x5a);
        std::fs::write(&path, &bytes).expect("damage");
        for arguments in [vec!["resume", "latest"], vec!["cancel", "latest"]] {
            let shown = place.remand(&arguments);
            assert_eq!(shown.code, 1, "{arguments:?} with {from}..{to}: {shown:?}");
            assert!(shown.err.contains("ledger.db") && shown.err.contains("hint: "), "{shown:?}");
        }
        assert!(
            std::fs::read(&path).expect("the ledger") == bytes,
            "the damaged file was written, {from}..{to}"
        );
    }
    std::fs::write(&path, &sound).expect("repaired");
    assert_sound(&place);
    let resumed = place.remand(&["answer", "latest", "proceed"]);
    assert_eq!(resumed.code, 5, "{resumed:?}");
}

// CORE-04
#[test]
fn finished_runs_are_released_while_others_are_in_progress() {
    let place = Place::configured(TRIVIAL);
    let go = place.visible_file("go");
    let wait = format!("while [ ! -e {} ]; do sleep 0.02; done", go.display());
    let slow =
        Script::quick().with(role("reviewer").runs(&wait).says(review("code", "general", "approve", &[])));
    let mut runs = Vec::new();
    for (name, script) in [("quick.yaml", Script::quick()), ("slow.yaml", slow)] {
        let agent = format!("rehearsal:{}", place.write_outside(name, &script.text()));
        let mut killed = place.command(&["run", REQUEST, "--workflow", "quick", "--agent", &agent]);
        killed.env("REMAND_DIE_AT", "4").output().expect("the binary runs");
        runs.push(place.latest().run);
    }
    let holder = |run: &RunId| DriverLock::holder(&place.home().join("runs").join(&run.0));
    let driver = place.start(&["resume"]);
    await_some("the end of the first run", || {
        let row = place.reader().run(&runs[0].0).expect("a run");
        (row.stage == RunStage::Committed && holder(&runs[0]).is_none()).then_some(())
    });
    assert!(holder(&runs[1]).is_some(), "the other run is in progress");
    agents::release(&go);
    let output = wait_for_end(driver);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_failure_is_one_line_of_json() {
    let place = Place::configured(TRIVIAL);
    let shown = place.quick(&Script::quick(), &["--json"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let shown = place.remand(&["resume", "latest", "--json"]);
    assert_eq!((shown.code, shown.out.lines().count()), (1, 1), "{shown:?}");
    let failure: Value = serde_json::from_str(&shown.out).expect("JSON");
    assert!(failure["error"].as_str().is_some_and(|text| text.contains("is over")), "{failure}");
}
