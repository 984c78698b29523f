//! Many runs in one ledger wait for a human without a process.

use super::place::Place;
use super::three_tasks::{self, REHEARSAL, assert_sound, marked_processes};
use remand_kernel::{State, Step, step};
use remand_ledger::query::{JournalRow, RunStage};
use remand_ledger::{Facts, JournalEntry, Millis, ReplayFrom, RunId, replay};

/// Parks a run at its first gate.
fn park(place: &Place) -> RunId {
    let script = place.write_outside("rehearsal.yaml", REHEARSAL);
    let shown = place.remand(&[
        "run",
        "More sums",
        "--workflow",
        "feature",
        "--interactive",
        "--agent",
        &format!("rehearsal:{script}"),
    ]);
    assert_eq!(shown.code, 5, "{shown:?}");
    place.latest().run
}

/// Copies the journal of a run under each of these ids; `at` gives the time of event `n`.
fn copy_run(place: &Place, model: &RunId, runs: &[RunId], at: impl Fn(usize) -> Millis) {
    let reader = place.reader();
    let journal: Vec<JournalRow> = reader.journal(model, 0).expect("the journal");
    let program = replay(&reader, model, ReplayFrom::Start).expect("the program").program;
    let mut ledger = place.ledger();
    let mut states: Vec<State> = runs.iter().map(|_| State::new(&program)).collect();
    for (n, row) in journal.iter().enumerate() {
        let steps: Vec<Step> =
            states.iter_mut().map(|state| step(&program, state, &row.event).expect("a step")).collect();
        let facts: Vec<Facts> = runs.iter().map(|run| facts_of(row, run)).collect();
        let entries: Vec<JournalEntry<'_>> = (0..runs.len())
            .map(|k| JournalEntry {
                run: &runs[k],
                at: at(n),
                event: &row.event,
                facts: &facts[k],
                step: &steps[k],
                blobs: &[],
                request: None,
            })
            .collect();
        ledger.append(&entries).expect("appended");
    }
}

fn facts_of(row: &JournalRow, run: &RunId) -> Facts {
    let mut facts = row.facts.clone();
    if let Some(opened) = &mut facts.opened {
        opened.branch = format!("remand/{run}");
    }
    facts
}

// CORE-04
#[test]
fn a_thousand_runs_wait_in_one_ledger_without_a_process() {
    let place = three_tasks::place();
    let model = park(&place);
    let runs: Vec<RunId> = (0..999).map(|k| RunId(format!("{}-{k:03}", model.0))).collect();
    copy_run(&place, &model, &runs, |n| Millis(1_800_000_000_000 + n as i64));
    let status = stdout(&place, &["status", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    assert_eq!(status["count"], 1000);
    let gates = stdout(&place, &["gates"]);
    assert!(runs.iter().chain([&model]).all(|run| gates.contains(&run.0)));
    assert_eq!(place.reader().open_gates().expect("gates").len(), 1000);
    // No process has the marker of a run.
    assert!(runs.iter().chain([&model]).step_by(100).all(|run| marked_processes(run).is_empty()));
    let answered = place.remand(&["answer", &runs[500].0, "proceed"]);
    assert_eq!(answered.code, 5, "{answered:?}");
    assert_eq!(place.reader().run(&runs[500].0).expect("the run").stage, RunStage::Waiting);
}

// CORE-04, CORE-08
#[test]
fn a_clock_that_goes_backwards_changes_only_the_times() {
    let place = three_tasks::place();
    let model = park(&place);
    let run = RunId(format!("{}-back", model.0));
    copy_run(&place, &model, std::slice::from_ref(&run), |n| {
        Millis(1_000_000_000_000 - 3_600_000 * n as i64)
    });
    assert_sound(&place);
    let (copied, original) = (rulings(&place, &run), rulings(&place, &model));
    assert_eq!(copied, original);
    // The clock is now decades ahead of these events; a run with events in the future continues as well.
    let ahead = RunId(format!("{}-ahead", model.0));
    copy_run(&place, &model, std::slice::from_ref(&ahead), |n| Millis(4_000_000_000_000 + n as i64));
    for run in [&run, &ahead] {
        let answered = place.remand(&["answer", &run.0, "proceed"]);
        assert_eq!(answered.code, 5, "{answered:?}");
    }
    assert_sound(&place);
}

/// The standard output of a command that must succeed.
fn stdout(place: &Place, arguments: &[&str]) -> String {
    let shown = place.remand(arguments);
    assert_eq!(shown.code, 0, "{arguments:?}: {shown:?}");
    shown.out
}

fn rulings(place: &Place, run: &RunId) -> Vec<String> {
    let rows = place.reader().rulings(run, 0).expect("rulings");
    rows.iter().map(|row| serde_json::to_string(&row.ruling).expect("JSON")).collect()
}
