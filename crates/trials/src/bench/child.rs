//! Starts this program as a child, for measurements that need a new process.

use super::workload::bug;
use remand_process::{Cancel, JobEnd, ProcessJob, run};
use remand_terminal::CommandFailure;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The task of a child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum BenchProbe {
    /// Open a ledger, and print when it was open.
    Open,
    /// Take over all runs of a ledger, and print the memory that they use.
    Parked,
    /// Take steps between two markers that a tracer sees.
    Steps,
    /// Resume the run of a ledger `count` times, from its start and from its snapshot.
    Resume,
}

impl BenchProbe {
    fn name(self) -> &'static str {
        match self {
            BenchProbe::Open => "open",
            BenchProbe::Parked => "parked",
            BenchProbe::Steps => "steps",
            BenchProbe::Resume => "resume",
        }
    }
}

/// Runs a probe on a folder to its end, under a tracer if one is given.
pub fn run_probe(
    probe: BenchProbe,
    folder: &Path,
    count: u32,
    tracer: &[OsString],
) -> Result<JobEnd, CommandFailure> {
    let mut arguments: Vec<OsString> = ["bench", "probe", probe.name()].map(OsString::from).to_vec();
    arguments.push(folder.into());
    arguments.push(count.to_string().into());
    run_to_end(folder, &arguments, tracer)
}

/// Runs this program in a folder to its end.
pub fn run_this_program(folder: &Path, arguments: &[OsString]) -> Result<JobEnd, CommandFailure> {
    run_to_end(folder, arguments, &[])
}

fn run_to_end(folder: &Path, arguments: &[OsString], tracer: &[OsString]) -> Result<JobEnd, CommandFailure> {
    let program = std::env::current_exe().map_err(|error| {
        CommandFailure::internal_error("the path of this program cannot be determined", &error)
    })?;
    let argv = tracer.iter().cloned().chain([program.into_os_string()]).chain(arguments.iter().cloned());
    let mut job = ProcessJob::standalone(argv, folder, "bench").inherit(&["PATH", "HOME"]);
    job.limits.time = Duration::from_secs(1_800);
    let ended = run(&job, &Cancel::default())
        .map_err(|error| CommandFailure::internal_error("a child cannot be started", &error))?;
    if ended.exit.succeeded() {
        return Ok(ended);
    }
    let shown: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let failure = bug(format!("`remand {}` ended with {}", shown.join(" "), ended.exit));
    Err(failure.caused_by(ended.stderr.text().trim().to_string()))
}

/// The number that a child printed after a word.
pub fn printed_number<T: std::str::FromStr>(ended: &JobEnd, word: &str) -> Result<T, CommandFailure> {
    let text = ended.stdout.text();
    let number = text.lines().find_map(|line| line.strip_prefix(word)?.trim().parse().ok());
    number.ok_or_else(|| bug(format!("a child printed no `{word}`")).caused_by(text.trim().to_string()))
}
