//! Asks the machine whether commands work, while checks are being detected.

use super::job;
use remand_process::{JobEnd, ProcessJob, SpawnError};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

const TIME: Duration = Duration::from_secs(30);

/// How detection asks the machine.
pub struct ToolProbe<'p> {
    /// The environment that the checks will have.
    pub environment: &'p BTreeMap<OsString, OsString>,
    /// Runs a process in the caller's sandbox.
    pub runner: &'p dyn Fn(ProcessJob) -> Result<JobEnd, SpawnError>,
}

impl ToolProbe<'_> {
    /// Whether a command succeeds.
    pub(super) fn runs(&self, folder: &Path, argv: &[&str]) -> bool {
        let mut job = ProcessJob::standalone(argv.iter().copied(), folder, "probe");
        job.environment = self.environment.clone();
        job.limits.time = TIME;
        (self.runner)(job).is_ok_and(|ended| ended.exit.succeeded())
    }

    /// Whether a program is on the PATH of the checks.
    pub(super) fn finds(&self, program: &str) -> bool {
        job::finds(self.environment, program)
    }
}
