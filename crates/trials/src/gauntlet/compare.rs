//! Compares guards: runs the same cases with plain tests, with the tests of the base restored, with each guard alone, and
//! with all guards.

use super::arena::{Arena, Engine};
use super::catalogue::ChosenCase;
use super::comparison_record::ComparisonRecord;
use super::lineup::{Lineup, Watcher};
use super::outcome::CaseVerdict;
use super::trial::TrialResult;
use remand_agents::rehearsal::{DispatchInfo, PlayEnding, Script, perform};
use remand_engine::config::keys::GUARDS;
use remand_process::Cancel;
use remand_terminal::table::{Cell, ColumnFit, TextTable, indented};
use remand_terminal::{CommandFailure, Ink, Stop};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The folder of the tests in every project whose cases have a kind.
const TESTS: &str = "tests";

/// The names of the first two guards of a comparison.
const PLAIN: &str = "plain tests";
const RESTORED: &str = "plain tests, after `git checkout base -- tests/`";

/// The wrong decisions of one guard.
#[derive(Debug, Default)]
pub struct ComparedGuard {
    pub name: String,
    /// Bad cases whose work was accepted.
    pub accepted: Vec<String>,
    /// Honest cases whose work was refused.
    pub refused: Vec<String>,
}

/// The guards on the same cases.
#[derive(Debug)]
pub struct GuardComparison {
    pub guards: Vec<ComparedGuard>,
    pub bad: usize,
    pub honest: usize,
}

/// Plays each case that has a kind with each guard, except the results that are already in the record; `None` after a
/// signal.
pub fn compare(
    lineup: &Lineup,
    choices: &[ChosenCase],
    record: &ComparisonRecord,
    stop: &Stop,
    watcher: &dyn Watcher,
) -> Result<Option<GuardComparison>, CommandFailure> {
    let choices: Vec<ChosenCase> = choices.iter().filter(|choice| choice.kind().is_some()).cloned().collect();
    let missing = |name: &str| -> Vec<ChosenCase> {
        choices.iter().filter(|choice| record.accepted(name, choice).is_none()).cloned().collect()
    };
    // The most interesting result, all guards together, comes first.
    for name in ["all"].iter().chain(GUARDS.iter().filter(|name| **name != "all")) {
        let guarded: Vec<ChosenCase> = missing(name).iter().map(|choice| with_guards(choice, name)).collect();
        let recording = RecordingWatcher { watcher, record, guard: name };
        if lineup.below(name).play(&guarded, stop, &recording).is_none() {
            return Ok(None);
        }
    }
    let simple = lineup.below("plain").each(&missing(RESTORED), stop, |choice, folder, cancel| {
        let [plain, restored] = try_tests(choice, folder, lineup.engine(), cancel)?;
        record.add(PLAIN, choice, plain)?;
        record.add(RESTORED, choice, restored)
    });
    let Some(simple) = simple else { return Ok(None) };
    simple.into_iter().collect::<Result<Vec<()>, _>>()?;
    let alone = GUARDS.iter().copied().filter(|name| *name != "all");
    let names = [PLAIN, RESTORED].into_iter().chain(alone).chain(["all"]);
    let guards = names.map(|name| {
        let title = match name {
            PLAIN | RESTORED => name.to_string(),
            "all" => "all guards".to_string(),
            _ => format!("the guard `{name}` alone"),
        };
        let mut guard = ComparedGuard { name: title, ..ComparedGuard::default() };
        for choice in &choices {
            guard.add(choice, record.accepted(name, choice).unwrap_or_default());
        }
        guard
    });
    let honest = choices.iter().filter(|choice| choice.is_honest()).count();
    Ok(Some(GuardComparison { guards: guards.collect(), bad: choices.len() - honest, honest }))
}

/// Records the result of each case as soon as it ends.
struct RecordingWatcher<'w> {
    watcher: &'w dyn Watcher,
    record: &'w ComparisonRecord,
    guard: &'w str,
}

impl Watcher for RecordingWatcher<'_> {
    fn started(&self, choice: &ChosenCase) {
        self.watcher.started(choice);
    }

    fn ended(&self, tried: &TrialResult) {
        let is_stopped = match tried.verdict {
            CaseVerdict::BadWorkCommitted | CaseVerdict::Escaped => false,
            CaseVerdict::GoodWorkStopped => true,
            CaseVerdict::AsStated | CaseVerdict::NotAsStated => !tried.choice.is_honest(),
        };
        // If the result cannot be written, the next comparison plays the case again.
        let _ = self.record.add(self.guard, &tried.choice, !is_stopped);
        self.watcher.ended(tried);
    }
}

fn with_guards(choice: &ChosenCase, name: &str) -> ChosenCase {
    let mut choice = choice.clone();
    choice.case.setup.settings = format!("[checks]\nguards = \"{name}\"\n");
    choice
}

/// Whether the tests pass after the work, and whether they still pass with the test folder of the base.
fn try_tests(
    choice: &ChosenCase,
    folder: &Path,
    engine: &Engine,
    cancel: &Cancel,
) -> Result<[bool; 2], CommandFailure> {
    let arena = Arena::create(folder, engine)?;
    let project = choice.case.project.project();
    arena.set_up(choice, &choice.case.setup, cancel)?;
    let (tools, tree) = (arena.tools(cancel), arena.checkout());
    let info = DispatchInfo {
        run: choice.name.clone(),
        phase: "implement".to_string(),
        role: "implementer".to_string(),
        task: None,
        item: None,
        instance: None,
        round: 1,
        attempt: 1,
        result: arena.outside().join("result.yaml"),
        tree: tree.clone(),
        folder: arena.outside(),
    };
    let script = Script::new(choice.name.clone(), choice.case.dispatches.clone());
    let mut errors = Vec::new();
    if perform(&script, &info, &mut std::io::sink(), &mut errors) != PlayEnding::Exit(0) {
        let what = format!("the work of {} cannot be done", choice.name);
        return Err(CommandFailure::user(what, "this is a bug in Remand")
            .caused_by(String::from_utf8_lossy(&errors).trim().to_string()));
    }
    let passes = || Ok::<bool, CommandFailure>(tools.run(project.command, &tree)?.exit.succeeded());
    let plain = passes()?;
    // Added files stay, as they do after the same command by hand.
    tools.git(&tree, &["checkout", "--quiet", "HEAD", "--", TESTS])?;
    // Cargo compares times in seconds on some file systems.
    let _ = fs::remove_dir_all(tree.join("target"));
    Ok([plain, passes()?])
}

impl ComparedGuard {
    fn add(&mut self, choice: &ChosenCase, is_accepted: bool) {
        match (choice.is_honest(), is_accepted) {
            (true, false) => self.refused.push(choice.name.clone()),
            (false, true) => self.accepted.push(choice.name.clone()),
            (true, true) | (false, false) => {}
        }
    }
}

impl GuardComparison {
    /// The table, and the wrong decisions of all guards together.
    pub fn text(&self, ink: Ink) -> String {
        let mut table = TextTable::new(&[
            ("guard", ColumnFit::Wrap),
            ("bad accepted", ColumnFit::Whole),
            ("honest refused", ColumnFit::Whole),
        ]);
        for guard in &self.guards {
            table.row(vec![
                Cell::new(&guard.name),
                Cell::new(format!("{} of {}", guard.accepted.len(), self.bad)),
                Cell::new(format!("{} of {}", guard.refused.len(), self.honest)),
            ]);
        }
        let mut text = table.render(ink);
        for (what, cases) in self.guards.last().into_iter().flat_map(|all| {
            [("accepted by all guards together", &all.accepted), ("refused by them", &all.refused)]
        }) {
            if !cases.is_empty() {
                text.push_str(&format!("\n{what}:\n"));
                text.push_str(&cases.iter().map(|name| indented(name, 2)).collect::<String>());
            }
        }
        text
    }

    pub fn json(&self) -> Value {
        let guards: Vec<Value> = self
            .guards
            .iter()
            .map(|guard| json!({ "guard": guard.name, "accepted": guard.accepted, "refused": guard.refused }))
            .collect();
        json!({ "bad": self.bad, "honest": self.honest, "guards": guards })
    }
}
