//! What the tests as they were and the proof that tests can fail cost, relative to the tests, on small projects with honest
//! work.

use super::folder::BenchFolder;
use super::project::{commit_all, play_quick};
use super::report::{Figure, Goal, Unit};
use super::sample::{Durations, ratio};
use super::workload::bug;
use crate::gauntlet::ProjectName;
use remand_engine::operations::{OLD_TESTS, PROOF};
use remand_kernel::evidence::RowPhase;
use remand_ledger::Reader;
use remand_ledger::query::{CheckFilter, CheckRow};
use remand_terminal::CommandFailure;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Measures each project twice: the second run makes the same change.
pub fn measure(bench: &BenchFolder, progress: impl Fn(&str)) -> Result<Vec<Figure>, CommandFailure> {
    let (mut first, mut second, mut notes) = (Vec::new(), Durations::default(), Vec::new());
    for language in ProjectName::WITH_CAST {
        progress(&format!("proofs of tests, {}", language.name()));
        let folder = bench.subfolder(&format!("proofs-{}", language.name()))?;
        let (root, state) = (folder.join("checkout"), folder.join("state"));
        for file in language.project().files() {
            let path = root.join(file.real_path());
            let parent = path.parent().unwrap_or(&root);
            fs::create_dir_all(parent)
                .and_then(|()| fs::write(&path, file.text))
                .map_err(|error| bug(error.to_string()))?;
        }
        commit_all(&root)?;
        let project = language.project();
        for is_first in [true, false] {
            play_quick(bench, &root, &state, (project.request, project.cast()))?;
            let (proof, tests) = times(&state)?;
            if is_first {
                first.push(1.0 + ratio(proof, tests));
                let (name, proof, tests) = (language.name(), proof.as_secs_f64(), tests.as_secs_f64());
                notes.push(format!("{name} {proof:.1} s for {tests:.1} s of tests"));
            } else {
                second.add(proof);
            }
        }
    }
    first.sort_by(f64::total_cmp);
    let median = first.get(first.len() / 2).copied().unwrap_or_default();
    Ok(vec![
        Figure {
            what: "tests, as they were too, with the proof that they can fail".to_string(),
            value: median,
            unit: Unit::Times,
            goal: Goal::AtMost(2.5),
            note: format!("relative to the tests alone; {}; the median counts", notes.join(", ")),
        },
        Figure {
            what: "the same a second time".to_string(),
            value: second.median().as_secs_f64() * 1e3,
            unit: Unit::Millis,
            goal: Goal::AtMost(0.0),
            note: "a later run on the same change reuses both".to_string(),
        },
    ])
}

/// The time of the old tests and of the proof in the latest run, which run side by side, and the time of the tests. The tests
/// took what they take without build output: their run before the change.
fn times(state: &Path) -> Result<(Duration, Duration), CommandFailure> {
    let home = fs::read_dir(state).map_err(|error| bug(error.to_string()))?;
    let ledger = home.flatten().map(|entry| entry.path().join("ledger.db")).find(|path| path.is_file());
    let reader = Reader::open(&ledger.ok_or_else(|| bug("a measured run left no ledger".to_string()))?)?;
    let run = reader.latest()?.ok_or_else(|| bug("the ledger has no run".to_string()))?.run;
    let rows = reader.checks(&run, CheckFilter::default())?;
    let time = |phase: RowPhase, of: &dyn Fn(&CheckRow) -> bool| -> Duration {
        let rows = rows.iter().filter(|row| row.phase == phase && row.origin.is_none() && of(row));
        Duration::from_millis(rows.map(|row| row.duration_ms).sum())
    };
    let of_proof = |row: &CheckRow| row.name == PROOF;
    let of_old_tests = |row: &CheckRow| row.name.starts_with(OLD_TESTS);
    if !rows.iter().any(of_proof) {
        return Err(bug("a measured run proved no test".to_string()));
    }
    let both = time(RowPhase::After, &of_proof).max(time(RowPhase::After, &of_old_tests));
    Ok((both, time(RowPhase::Baseline, &|row| row.collected.is_some() && row.command.is_some())))
}
