//! The number of syncs per step, counted by a tracer if one is installed.

use super::child::{BenchProbe, printed_number, run_probe};
use super::folder::BenchFolder;
use super::report::{Figure, Goal, Unit};
use super::scale::Scale;
use super::track::Track;
use super::workload::Workload;
use remand_terminal::CommandFailure;
use std::ffi::OsString;
use std::path::Path;

/// Markers: files that are synced before and after the steps, so that a trace shows where they start and end.
pub const BEGIN: &str = "steps-begin";
pub const END: &str = "steps-end";

/// The number of steps. One host, with one connection, can take this many before the track replaces it.
const STEPS: u32 = 4_000;

pub fn measure(bench: &BenchFolder, scale: Scale, workload: &Workload) -> Result<Figure, CommandFailure> {
    let folder = bench.subfolder("syncs")?;
    // Creates the ledger, so that the child does not count its creation.
    drop(Track::open(workload, &folder)?);
    let trace = folder.join("trace");
    let options =
        ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,sync_file_range,msync,syncfs,sync", "-o"];
    let mut tracer: Vec<OsString> = options.map(OsString::from).to_vec();
    tracer.push(trace.clone().into_os_string());
    let count = scale.of(STEPS);
    let what = "syncs per step".to_string();
    let figure =
        |value: f64, note: String| Figure { what, value, unit: Unit::Count, goal: Goal::AtMost(1.0), note };
    let traced = run_probe(BenchProbe::Steps, &folder, count, &tracer).ok();
    let counted = traced.and_then(|ended| Some((ended, Syncs::read(&trace)?)));
    match counted {
        Some((ended, syncs)) => {
            let steps: u32 = printed_number(&ended, "steps ")?;
            let commits: u32 = printed_number(&ended, "commits ")?;
            Ok(syncs.figure(steps, commits, figure))
        }
        None => {
            // The traced child may have started runs with the same names.
            let folder = bench.subfolder("syncs-untraced")?;
            let ended = run_probe(BenchProbe::Steps, &folder, count, &[])?;
            let (steps, commits): (u32, u32) =
                (printed_number(&ended, "steps ")?, printed_number(&ended, "commits ")?);
            let note =
                format!("{steps} steps; commits counted by SQLite's hook, because `strace` is not available");
            Ok(figure(f64::from(commits) / f64::from(steps), note))
        }
    }
}

/// The syncs in a trace between the two markers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Syncs {
    log: u32,
    database: u32,
    others: u32,
}

impl Syncs {
    fn read(trace: &Path) -> Option<Syncs> {
        Syncs::of(&std::fs::read_to_string(trace).ok()?)
    }

    fn of(text: &str) -> Option<Syncs> {
        let begin = text.lines().position(|line| line.contains(BEGIN))?;
        let end = text.lines().position(|line| line.contains(END))?;
        let mut syncs = Syncs::default();
        // A call that another thread interrupted appears on two lines; the second is not counted.
        let is_call = |line: &&str| line.contains('(') && !line.contains("resumed>");
        for line in text.lines().take(end).skip(begin + 1).filter(is_call) {
            let counter = match line {
                line if line.contains("ledger.db-wal>") => &mut syncs.log,
                line if line.contains("ledger.db>") => &mut syncs.database,
                _ => &mut syncs.others,
            };
            *counter += 1;
        }
        Some(syncs)
    }

    /// Separates syncs of commits from those of checkpoints: a checkpoint syncs the log, then the database, and the
    /// header of the log when the log restarts.
    fn figure(self, steps: u32, commits: u32, figure: impl FnOnce(f64, String) -> Figure) -> Figure {
        let checkpoints = 2 * self.database;
        let per_step = |count: u32| f64::from(count) / f64::from(steps.max(1));
        let note = format!(
            "counted by strace: {} syncs of the log, {} of the database, {} others for {steps} steps in {commits} \
             commits; {} checkpoints are not counted ({:.3} syncs per step)",
            self.log,
            self.database,
            self.others,
            self.database,
            per_step(checkpoints + self.database),
        );
        figure(per_step(self.log.saturating_sub(checkpoints) + self.others), note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_are_counted_by_file_between_the_markers() {
        let trace = "\
10 fdatasync(5</s/ledger.db-wal>) = 0
10 fsync(9</s/steps-begin>) = 0
10 fdatasync(5</s/ledger.db-wal>) = 0
10 fdatasync(5</s/ledger.db-wal> <unfinished ...>
11 fdatasync(4</s/ledger.db>) = 0
10 <... fdatasync resumed>) = 0
10 fsync(7</s/runs/bench-000001/driver>) = 0
10 fsync(9</s/steps-end>) = 0
10 fdatasync(5</s/ledger.db-wal>) = 0
10 +++ exited with 0 +++
";
        assert_eq!(Syncs::of(trace), Some(Syncs { log: 2, database: 1, others: 1 }));
        assert_eq!(Syncs::of("10 fdatasync(5</s/ledger.db-wal>) = 0\n"), None);
    }

    #[test]
    fn checkpoints_are_distinguished_from_commits_that_sync_twice() {
        let figure = |log, database| {
            let make = |value, note| Figure {
                what: String::new(),
                value,
                unit: Unit::Count,
                goal: Goal::AtMost(1.0),
                note,
            };
            Syncs { log, database, others: 0 }.figure(500, 500, make)
        };
        assert!(figure(512, 6).is_met());
        assert!(!figure(1_012, 6).is_met());
    }
}
