//! The checks of a repository: those that are found in the commit that a run starts from, and those that are configured.

use crate::driving;
use crate::exit::Failure;
use crate::workplace::of_git;
use remand_runtime::checks::{self, CheckSpec, Probe};
use remand_runtime::config::Config;
use remand_runtime::git::{CommitId, Copy, Repository};
use remand_runtime::process::{self, Cancel, Job};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// The checks that a run from this commit is pinned to. What is installed is looked for in the checkout, and all else in
/// the commit: neither what is not committed nor what is not checked out makes a difference. A copy of the commit, where
/// one is needed, is made in the folder.
pub fn specs(
    repository: &Repository,
    base: &CommitId,
    config: &Config,
    within: &Path,
) -> Result<Vec<CheckSpec>, Failure> {
    let found = if config.detect { detected(repository, base, within)? } else { Vec::new() };
    checks::specs(found, config)
        .map_err(|error| Failure::user(error.to_string(), "correct `[checks]` in remand.toml"))
}

fn detected(repository: &Repository, base: &CommitId, within: &Path) -> Result<Vec<CheckSpec>, Failure> {
    let environment = environment();
    let runner = |job: Job| process::run(&job, &Cancel::new());
    let probe = Probe { environment: &environment, runner: &runner };
    let root = repository.root();
    let files = || repository.files(&repository.tree_of(base)?);
    let files = files().map_err(|error| of_git(&error))?;
    let files: Vec<String> = files.iter().filter_map(|file| file.to_str()).map(str::to_string).collect();
    if repository.holds_only(base).map_err(|error| of_git(&error))? {
        return Ok(checks::detect(root, &files, &probe));
    }
    let copy = Copy::of(repository, base, within).map_err(|error| of_git(&error))?;
    let lent = checks::lend(root, &copy.tree(), &files);
    lent.map_err(|error| {
        Failure::user("what is installed in the checkout cannot be looked at", "see the cause")
            .caused_by(error.to_string())
    })?;
    Ok(checks::detect(&copy.tree(), &files, &probe))
}

/// The environment that checks have.
pub fn environment() -> BTreeMap<OsString, OsString> {
    let mut environment = driving::inherited();
    environment.extend(std::env::var_os("HOME").map(|home| ("HOME".into(), home)));
    environment
}
