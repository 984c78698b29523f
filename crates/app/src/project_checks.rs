//! The checks of a repository: detected in the base commit of a run, and configured.

use crate::environment;
use remand_checks::{CheckSpec, Detected, ToolProbe};
use remand_engine::config::Config;
use remand_git::{CommitId, Repository, TemporaryCheckout};
use remand_process::{Cancel, ProcessJob};
use remand_terminal::CommandFailure;
use std::path::Path;

/// The checks that a run from this commit pins. Installed dependencies are detected in the checkout, everything
/// else in the commit, so uncommitted changes make no difference. A copy of the commit, if needed, is made below
/// `within`.
pub fn specs(
    repository: &Repository,
    base: &CommitId,
    config: &Config,
    within: &Path,
) -> Result<Vec<CheckSpec>, CommandFailure> {
    let found = if config.detect { detect(repository, base, config, within)? } else { Vec::new() };
    let detected = if config.detect { Detected::Used } else { Detected::Ignored };
    let mut specs = remand_checks::specs(found, detected, &config.checks)
        .map_err(|error| CommandFailure::user(error.to_string(), "correct `[checks]` in remand.toml"))?;
    let tree = repository.tree_of(base)?;
    let committed = |file: &Path| repository.read(&tree, file).ok().flatten();
    let usual = remand_checks::usual_copies(repository.root(), &tracked(repository, base)?, &committed);
    for spec in &mut specs {
        spec.copies = usual.iter().chain(&config.sandbox.copies).cloned().collect();
    }
    Ok(specs)
}

fn tracked(repository: &Repository, base: &CommitId) -> Result<Vec<String>, CommandFailure> {
    let files = repository.files(&repository.tree_of(base)?)?;
    Ok(files.iter().filter_map(|file| file.to_str()).map(str::to_string).collect())
}

fn detect(
    repository: &Repository,
    base: &CommitId,
    config: &Config,
    within: &Path,
) -> Result<Vec<CheckSpec>, CommandFailure> {
    let environment = environment::for_checks(&config.sandbox);
    let runner = |job: ProcessJob| remand_process::run(&job, &Cancel::new());
    let probe = ToolProbe { environment: &environment, runner: &runner };
    let root = repository.root();
    let files = tracked(repository, base)?;
    if repository.holds_only(base)? {
        return Ok(remand_checks::detect(root, &files, &probe));
    }
    let copy = TemporaryCheckout::of(repository, base, within)?;
    let linked = remand_checks::link_for_detection(root, &copy.tree(), &files);
    linked.map_err(|error| {
        CommandFailure::user("the dependencies installed in the checkout cannot be read", "see the cause")
            .caused_by(error.to_string())
    })?;
    Ok(remand_checks::detect(&copy.tree(), &files, &probe))
}
