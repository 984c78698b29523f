//! Kills runs at given points and resumes them: shared by the kill tests of all workflows.

use super::place::Place;
use remand_ledger::Reader;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether the ledger contains a run.
pub fn has_started(place: &Place) -> bool {
    let folder = place.state().read_dir().expect("state").flatten().next();
    let ledger = folder.map(|entry| entry.path().join("ledger.db")).filter(|ledger| ledger.exists());
    ledger.is_some_and(|ledger| {
        Reader::open(&ledger).is_ok_and(|reader| reader.latest().expect("a query").is_some())
    })
}

/// The output of a process that is to be killed at this point; `None` if it was killed.
pub fn output_unless_killed(place: &Place, words: &[&str], point: Option<u64>) -> Option<Output> {
    let mut command = place.command(words);
    if let Some(point) = point {
        command.env("REMAND_DIE_AT", point.to_string());
    }
    let output = command.output().expect("the binary runs");
    (output.status.signal() != Some(9)).then_some(output)
}

/// A run to kill: how it starts, and how it must end.
pub struct KilledRun<'d> {
    pub place: &'d Place,
    pub begin: &'d [String],
    /// The exit code of the process that finishes the run.
    pub code: i32,
}

impl KilledRun<'_> {
    /// Finishes the run with a kill at the point `first`, and a kill at the point `again` of each process that resumes
    /// it. Returns the number of kills.
    pub fn run_with_kills(&self, first: u64, again: Option<u64>) -> u64 {
        let (mut kills, mut point) = (0, Some(first));
        loop {
            let begun = has_started(self.place);
            let words: Vec<&str> =
                if begun { vec!["resume"] } else { self.begin.iter().map(String::as_str).collect() };
            match output_unless_killed(self.place, &words, point) {
                None => (kills, point) = (kills + 1, again),
                Some(output) => {
                    let code = output.status.code();
                    assert_eq!(code, Some(self.code), "first at {first}, {kills} kills: {output:?}");
                    return kills;
                }
            }
        }
    }
}

/// Calls `run_with_kills` with each point up to `last`, in parallel, and returns the total number of kills.
pub fn kill_at_each_point(last: u64, run_with_kills: impl Fn(u64) -> u64 + Sync) -> u64 {
    let (next, kills) = (AtomicU64::new(1), AtomicU64::new(0));
    let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(1, Ordering::SeqCst);
                    if first > last {
                        return;
                    }
                    kills.fetch_add(run_with_kills(first), Ordering::SeqCst);
                }
            });
        }
    });
    kills.into_inner()
}
