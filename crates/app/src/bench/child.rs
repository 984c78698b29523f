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
}

impl Probe {
    fn name(self) -> &'static str {
        match self {
            Probe::Open => "open",
            Probe::Parked => "parked",
            Probe::Steps => "steps",
        }
    }
}

/// Runs this program on a folder to its end, below a tracer or by itself.
pub fn start(probe: Probe, folder: &Path, count: u32, tracer: &[OsString]) -> Result<Ended, Failure> {
    let program =
        std::env::current_exe().map_err(|error| internal("this program cannot find itself", &error))?;
    let mut argv: Vec<OsString> = tracer.to_vec();
    argv.push(program.into_os_string());
    argv.extend(["bench", "probe", probe.name()].map(OsString::from));
    argv.push(folder.into());
    argv.push(count.to_string().into());
    let mut job = Job::apart(argv, folder, "bench").inherit(&["PATH"]);
    job.limits.time = Duration::from_secs(1_800);
    let ended =
        run(&job, &Cancel::default()).map_err(|error| internal("a child cannot be started", &error))?;
    if ended.exit.succeeded() {
        return Ok(ended);
    }
    let failure = defect(format!("`bench probe {}` ended with {}", probe.name(), ended.exit));
    Err(failure.caused_by(ended.stderr.text().trim().to_string()))
}

/// The number that a child printed behind a word.
pub fn said<T: std::str::FromStr>(ended: &Ended, word: &str) -> Result<T, Failure> {
    let text = ended.stdout.text();
    let number = text.lines().find_map(|line| line.strip_prefix(word)?.trim().parse().ok());
    number.ok_or_else(|| defect(format!("a child did not say `{word}`")).caused_by(text.trim().to_string()))
}
