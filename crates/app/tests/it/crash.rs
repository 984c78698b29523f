//! Runs that are killed at any point and resumed: nothing is lost, and nothing is done twice.

use super::agents;
use super::kills::{self, KilledRun};
use super::place::Place;
use super::three_tasks::{self, Outcome, REHEARSAL, await_some, marked_processes, outcome};
use std::process::Command;

/// A run to kill: its environment, and the arguments that start it.
#[derive(Clone, Copy)]
struct Scenario {
    place: fn() -> Place,
    begin: fn(&Place) -> Vec<String>,
}

const FEATURE: Scenario =
    Scenario { place: three_tasks::place, begin: |place| three_tasks::arguments(place, REHEARSAL) };

/// The number of runs that share the points: run `k` is killed at its `k`-th point, and each process that resumes it at
/// its `RUNS`-th. More than ten points advance a run by at least one commit, so each run ends.
const RUNS: u64 = 12;

/// If set, every run is killed once, and there is one run per point.
const EXHAUSTIVE: &str = "REMAND_TEST_EVERY_DEATH_ALONE";

/// Finishes a run with a kill at the point `first`, and a kill at the point `again` of each process that resumes it.
/// Returns the number of kills.
fn run_with_kills(scenario: Scenario, first: u64, again: Option<u64>, undisturbed: &Outcome) -> u64 {
    let place = (scenario.place)();
    let begin = (scenario.begin)(&place);
    let kills = KilledRun { place: &place, begin: &begin, code: 0 }.run_with_kills(first, again);
    let whole = undisturbed.clone().with_interrupted(&place);
    assert_eq!(outcome(&place), whole, "first at {first}, {kills} kills");
    let plan = place.home().join("runs").join(&place.latest().run.0).join("artifacts/plan@1.yaml");
    assert!(plan.is_file(), "first at {first}, {kills} kills: the artifacts are not laid out");
    kills
}

/// The outcome of a run without kills, and the number of its points.
fn undisturbed(scenario: Scenario) -> (Outcome, u64) {
    let place = (scenario.place)();
    let begin = (scenario.begin)(&place);
    let shown = place.remand(&begin.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(shown.code, 0, "{shown:?}");
    let (reader, run) = (place.reader(), place.latest().run);
    let commits = reader.journal(&run, 0).expect("the journal").len();
    let effects = reader.dispatches(&run).expect("dispatches").len()
        + reader.operations(&run).expect("operations").len();
    (outcome(&place), 2 * (commits + effects) as u64)
}

// CORE-04, EP-29
/// Kills before and after every commit and every effect of a whole run. By default each run is killed several times.
/// Together, the runs are killed at every point from the start of a run, and at the points of work that a resume
/// repeats.
#[test]
fn a_run_that_is_killed_at_any_point_has_the_same_result() {
    kill_everywhere(FEATURE, RUNS);
}

fn kill_everywhere(scenario: Scenario, runs: u64) {
    let (undisturbed, points) = undisturbed(scenario);
    let alone = std::env::var_os(EXHAUSTIVE).is_some();
    let (runs, again) = if alone { (points, None) } else { (runs, Some(runs)) };
    let kills = kills::kill_at_each_point(runs, |first| run_with_kills(scenario, first, again, &undisturbed));
    assert!(points > 50 && kills >= points, "{kills} kills at {points} points");
}

// CORE-04, CORE-17
#[test]
fn when_the_engine_is_killed_its_agent_dies_and_the_agents_work_is_undone() {
    let place = three_tasks::place();
    let (go, rehearsal) = agents::waiting(&place);
    let begin = three_tasks::arguments(&place, &rehearsal);
    let mut engine = place.start(&begin.iter().map(String::as_str).collect::<Vec<_>>());
    let first = await_some("the agent", || agents::started(&place).pop());
    let run = place.latest().run;
    let before = marked_processes(&run);
    assert!(before.len() > 2, "{before:?}");
    engine.kill().expect("killed");
    engine.wait().expect("an end");
    let resumed = place.start(&["resume"]);
    let second = await_some("the next agent", || {
        agents::started(&place).into_iter().find(|agent| agent.number != first.number)
    });
    let alive = marked_processes(&run);
    assert!(!alive.iter().any(|line| before.contains(line)), "{alive:?} {before:?}");
    assert!(!second.saw.contains("junk"), "{}", second.saw);
    agents::release(&go);
    let ended = resumed.wait_with_output().expect("an end");
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert_eq!(outcome(&place), undisturbed(FEATURE).0.with_interrupted(&place));
}

// CORE-04, CORE-11
#[test]
fn agents_that_die_with_the_engine_count_once_each_with_unknown_cost() {
    let place = three_tasks::place();
    let (go, rehearsal) = agents::waiting(&place);
    let begin = three_tasks::arguments(&place, &rehearsal);
    let mut engine = place.start(&begin.iter().map(String::as_str).collect::<Vec<_>>());
    let mut seen = Vec::new();
    for _ in 0..2 {
        let next = await_some("the next agent", || {
            agents::started(&place)
                .into_iter()
                .map(|agent| agent.number)
                .find(|number| !seen.contains(number))
        });
        seen.push(next);
        engine.kill().expect("killed");
        engine.wait().expect("an end");
        engine = place.start(&["resume"]);
    }
    await_some("the third agent", || {
        agents::started(&place).into_iter().map(|agent| agent.number).find(|number| !seen.contains(number))
    });
    engine.kill().expect("killed");
    engine.wait().expect("an end");
    // Kills before and after the commit that records the third agent.
    for point in [1, 2] {
        assert!(kills::output_unless_killed(&place, &["resume"], Some(point)).is_none());
    }
    agents::release(&go);
    let resumed = place.remand(&["resume"]);
    assert_eq!(resumed.code, 0, "{resumed:?}");
    let (reader, run) = (place.reader(), place.latest().run);
    let rows = reader.dispatches(&run).expect("dispatches");
    let dead = rows.iter().filter(|row| row.command.contains('~') && row.task.as_deref() == Some("task-1"));
    let dead: Vec<_> = dead.map(|row| (row.tokens, row.money)).collect();
    assert_eq!(dead, [(None, None); 3]);
    let whole = undisturbed(FEATURE).0.with_interrupted(&place);
    assert_eq!(outcome(&place), whole);
    let costs = place.remand(&["costs"]).out;
    assert!(costs.contains('≥'), "{costs}");
}

// CORE-11
#[test]
fn an_agent_that_died_with_the_engine_is_counted_by_a_cancel_too() {
    let place = three_tasks::place();
    let (_, rehearsal) = agents::waiting(&place);
    let begin = three_tasks::arguments(&place, &rehearsal);
    let mut engine = place.start(&begin.iter().map(String::as_str).collect::<Vec<_>>());
    await_some("the agent", || agents::started(&place).pop());
    engine.kill().expect("killed");
    engine.wait().expect("an end");
    let cancelled = place.remand(&["cancel", "latest"]);
    assert_eq!(cancelled.code, 0, "{cancelled:?}");
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    let dead = rows.iter().filter(|row| row.command.contains('~') && row.task.as_deref() == Some("task-1"));
    assert_eq!(dead.count(), 1);
    let costs = place.remand(&["costs"]).out;
    assert!(costs.contains('≥'), "{costs}");
}

// CORE-11, CORE-17
#[test]
fn a_signal_stops_the_engine_and_its_agents_and_the_run_resumes_with_their_cost_recorded() {
    for signal in ["-INT", "-TERM"] {
        let place = three_tasks::place();
        let (go, rehearsal) = agents::waiting(&place);
        let begin = three_tasks::arguments(&place, &rehearsal);
        let engine = place.start(&begin.iter().map(String::as_str).collect::<Vec<_>>());
        await_some("the agent", || agents::started(&place).pop());
        let sent = Command::new("kill").args([signal, &engine.id().to_string()]).status().expect("kill");
        assert!(sent.success());
        let left = engine.wait_with_output().expect("an end");
        assert_eq!(left.status.code(), Some(7), "{signal}: {left:?}");
        assert_eq!(marked_processes(&place.latest().run), Vec::<String>::new(), "{signal}");
        assert_eq!(agents::junk(&place), Vec::<String>::new(), "{signal}");
        let taken = place.reader().dispatches(&place.latest().run).expect("dispatches");
        let taken = taken.iter().filter(|row| row.task.as_deref() == Some("task-1"));
        let taken: Vec<_> = taken.map(|row| (row.status.name(), row.tokens)).collect();
        assert_eq!(taken, [("running", None), ("ERROR", Some(500))], "{signal}");
        agents::release(&go);
        let resumed = place.remand(&["resume"]);
        assert_eq!(resumed.code, 0, "{signal}: {resumed:?}");
        let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
        let taken =
            rows.iter().filter(|row| row.command.contains('~') && row.task.as_deref() == Some("task-1"));
        assert_eq!(taken.count(), 1, "{signal}: recorded twice");
        let whole = undisturbed(FEATURE).0.with_interrupted(&place);
        assert_eq!(outcome(&place), whole, "{signal}");
    }
}
