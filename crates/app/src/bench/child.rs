//! This program started again, to see what only a new process shows.

use super::workload::defect;
use crate::exit::Failure;
use crate::workplace::internal;
use remand_runtime::process::{Cancel, Ended, Job, run};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// What a child is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Probe {
    /// Open a ledger, and say when that was done.
    Open,
    /// Take over all runs of a ledger, and say what they hold.
    Parked,
    /// Take steps between two marks that a tracer sees.
    Steps,
    /// Resume the run of a ledger so many times, from its start and from its snapshot.
    Resume,
}

impl Probe {
    fn name(self) -> &'static str {
        match self {
            Probe::Open => "open",
            Probe::Parked => "parked",
            Probe::Steps => "steps",
            Probe::Resume => "resume",
        }
    }
}

/// Runs this program on a folder to its end, below a tracer or by itself.
pub fn start(probe: Probe, folder: &Path, count: u32, tracer: &[OsString]) -> Result<Ended, Failure> {
    let mut arguments: Vec<OsString> = ["bench", "probe", probe.name()].map(OsString::from).to_vec();
    arguments.push(folder.into());
    arguments.push(count.to_string().into());
    ended(folder, &arguments, tracer)
}

/// Runs this program in a folder to its end.
pub fn this_program(folder: &Path, arguments: &[OsString]) -> Result<Ended, Failure> {
    ended(folder, arguments, &[])
}

fn ended(folder: &Path, arguments: &[OsString], tracer: &[OsString]) -> Result<Ended, Failure> {
    let program =
        std::env::current_exe().map_err(|error| internal("this program cannot find itself", &error))?;
    let argv = tracer.iter().cloned().chain([program.into_os_string()]).chain(arguments.iter().cloned());
    let mut job = Job::apart(argv, folder, "bench").inherit(&["PATH", "HOME"]);
    job.limits.time = Duration::from_secs(1_800);
    let ended =
        run(&job, &Cancel::default()).map_err(|error| internal("a child cannot be started", &error))?;
    if ended.exit.succeeded() {
        return Ok(ended);
    }
    let said: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let failure = defect(format!("`remand {}` ended with {}", said.join(" "), ended.exit));
    Err(failure.caused_by(ended.stderr.text().trim().to_string()))
}

/// The number that a child printed behind a word.
pub fn said<T: std::str::FromStr>(ended: &Ended, word: &str) -> Result<T, Failure> {
    let text = ended.stdout.text();
    let number = text.lines().find_map(|line| line.strip_prefix(word)?.trim().parse().ok());
    number.ok_or_else(|| defect(format!("a child did not say `{word}`")).caused_by(text.trim().to_string()))
}
