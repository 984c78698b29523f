//! Whole runs of `quick` with scripted agents on repositories of different sizes, relative to a `git worktree add`.

use super::folder::BenchFolder;
use super::project::{repository, run_command, run_quick};
use super::report::{Figure, Goal, Unit};
use super::sample::{Durations, ratio};
use super::scale::Scale;
use super::workload::bug;
use remand_terminal::CommandFailure;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The sizes; the goals are for the last one.
const SIZES: [u32; 3] = [1_000, 10_000, 50_000];
const REPETITIONS: u32 = 3;

/// The times for one size.
struct RunTimes {
    files: u32,
    /// One `git worktree add` of the repository.
    worktree: Duration,
    /// A run in a repository that Remand has not seen before.
    first: Duration,
    /// A run that inherits the work trees of an earlier one.
    next: Duration,
}

/// Measures all sizes.
pub fn measure(
    bench: &BenchFolder,
    scale: Scale,
    progress: impl Fn(&str),
) -> Result<Vec<Figure>, CommandFailure> {
    let mut times = Vec::new();
    for files in SIZES.map(|files| scale.of(files)) {
        progress(&format!("whole runs on {files} files"));
        times.push(measure_size(bench, files)?);
    }
    let Some((largest, smaller)) = times.split_last() else { return Ok(Vec::new()) };
    let figure = |which: &str, most: f64, time: fn(&RunTimes) -> Duration| {
        let others: Vec<String> = smaller
            .iter()
            .map(|times| format!("{:.1} s on {} files", time(times).as_secs_f64(), times.files))
            .collect();
        Figure {
            what: format!("{which} run of `quick` on {} files", largest.files),
            value: ratio(time(largest), largest.worktree),
            unit: Unit::Times,
            goal: Goal::AtMost(most),
            note: format!(
                "{:.1} s, and {:.1} s for `git worktree add`; {}",
                time(largest).as_secs_f64(),
                largest.worktree.as_secs_f64(),
                others.join(", ")
            ),
        }
    };
    Ok(vec![figure("first", 3.0, |times| times.first), figure("next", 1.0, |times| times.next)])
}

/// Takes medians. Each first run has its own state folder, and writes of earlier measurements are flushed before each
/// measurement. Nothing is removed before the end: ext4 is slow to create files right after it has removed many.
fn measure_size(bench: &BenchFolder, files: u32) -> Result<RunTimes, CommandFailure> {
    let folder = bench.subfolder(&format!("files-{files}"))?;
    let root = folder.join("repository");
    fs::create_dir_all(&root).map_err(|error| bug(error.to_string()))?;
    let root = repository(&root, files)?;
    let (mut worktree, mut first, mut next) =
        (Durations::default(), Durations::default(), Durations::default());
    for number in 0..REPETITIONS {
        worktree.add(time_worktree(&root, &folder.join(format!("tree-{number}")))?);
        let state = folder.join(format!("state-{number}"));
        for runs in [&mut first, &mut next] {
            rustix::fs::sync();
            runs.add(run_quick(bench, &root, &state)?);
        }
    }
    Ok(RunTimes { files, worktree: worktree.median(), first: first.median(), next: next.median() })
}

fn time_worktree(root: &Path, tree: &Path) -> Result<Duration, CommandFailure> {
    rustix::fs::sync();
    let started = Instant::now();
    run_command(root, &["git", "worktree", "add", "--quiet", "--detach", &tree.display().to_string()])?;
    Ok(started.elapsed())
}
