//! Which checks a repository has, by its marker files (OT-23).

use super::spec::{Action, BuiltIn, CheckSpec};
use super::toolchain::nix;
use super::{job, project};
use crate::process::{Ended, Job, SpawnError};
use remand_kernel::evidence::Tier;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

const PROBE_TIME: Duration = Duration::from_secs(30);

/// How detection asks the machine.
pub struct Probe<'p> {
    /// The environment that the checks will have.
    pub environment: &'p BTreeMap<OsString, OsString>,
    pub runner: &'p dyn Fn(Job) -> Result<Ended, SpawnError>,
}

/// The checks of a repository with these files at `root`. `syntax` is always among them; alone it means that nothing was
/// found.
pub fn detect(root: &Path, files: &[String], probe: &Probe<'_>) -> Vec<CheckSpec> {
    let projects = project::projects(root, files, probe);
    let mut found = project::checks(root, projects);
    if nix::has_shell(root, probe) {
        found = found.into_iter().map(nix::wrapped).collect();
    }
    found.insert(0, CheckSpec::new("syntax", Tier::One, Action::BuiltIn(BuiltIn::Syntax)));
    found
}

impl Probe<'_> {
    /// Whether a command ends well.
    pub(super) fn runs(&self, folder: &Path, argv: &[&str]) -> bool {
        let mut job = Job::apart(argv.iter().copied(), folder, "probe");
        job.environment = self.environment.clone();
        job.limits.time = PROBE_TIME;
        (self.runner)(job).is_ok_and(|ended| ended.exit.succeeded())
    }

    /// Whether a program is on the path of the checks.
    pub(super) fn finds(&self, program: &str) -> bool {
        job::finds(self.environment, program)
    }
}
