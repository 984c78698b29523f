//! Which checks a repository has, by its marker files (OT-23).

use super::spec::{Action, BuiltIn, CheckSpec};
use super::toolchain::nix;
use super::{job, project, tree_files};
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

/// The checks of the repository at `root`. `syntax` is always among them; alone it means that nothing was found.
pub fn detect(root: &Path, probe: &Probe<'_>) -> Vec<CheckSpec> {
    let projects = project::projects(root, &probe.files(root), probe);
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

    /// The files of a repository that git knows of; all of them where it is none.
    fn files(&self, root: &Path) -> Vec<String> {
        let mut job = Job::apart(["git", "ls-files", "-z"], root, "probe");
        job.environment = self.environment.clone();
        job.limits.time = PROBE_TIME;
        job.limits.output = job::OUTPUT;
        match (self.runner)(job) {
            Ok(ended) if ended.exit.succeeded() => {
                let names = ended.stdout.bytes.split(|byte| *byte == 0);
                names.filter_map(|name| std::str::from_utf8(name).ok()).map(str::to_string).collect()
            }
            Ok(_) | Err(_) => tree_files::all(root),
        }
    }

    /// Whether a program is on the path of the checks.
    pub(super) fn finds(&self, program: &str) -> bool {
        job::finds(self.environment, program)
    }
}
