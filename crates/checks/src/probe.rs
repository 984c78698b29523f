//! Finds out which programs and commands work on this machine, for the detection of checks.

use super::job;
use remand_process::{JobEnd, ProcessJob, SpawnError};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

const PROBE_TIMEOUT: Duration = Duration::from_secs(30);

/// How detection probes the machine.
pub struct ToolProbe<'p> {
    /// The environment that the checks will have.
    pub environment: &'p BTreeMap<OsString, OsString>,
    /// Runs a process in the caller's sandbox.
    pub runner: &'p dyn Fn(ProcessJob) -> Result<JobEnd, SpawnError>,
}

impl ToolProbe<'_> {
    /// Whether a command succeeds.
    pub(super) fn succeeds(&self, folder: &Path, argv: &[&str]) -> bool {
        let mut job = ProcessJob::standalone(argv.iter().copied(), folder, "probe");
        job.environment = self.environment.clone();
        job.limits.time = PROBE_TIMEOUT;
        (self.runner)(job).is_ok_and(|ended| ended.exit.succeeded())
    }

    /// Whether a program is on the PATH of the checks.
    pub(super) fn has_program(&self, program: &str) -> bool {
        job::is_on_path(self.environment, program)
    }
}
