//! Finds the files of the user's checkout that a check needs and that are not in the last commit.

use super::checkup::Checkup;
use super::trial::{Trial, TrialPlace, TrialSetup};
use remand_checks::CheckSpec;
use remand_terminal::CommandFailure;
use remand_terminal::output::tell;
use std::path::{Path, PathBuf};

/// What tools write and no check needs, or what has its own way into a work tree.
const NOT_NEEDED: [&str; 12] = [
    "node_modules",
    "target",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".tox",
    ".nox",
    ".gradle",
    ".idea",
    ".vscode",
];

/// The maximum number of paths that are tried one at a time.
const MAX_ALONE: usize = 10;

/// Paths of the checkout that a check needs, relative to its root.
pub struct Uncommitted(Vec<PathBuf>);

/// The paths without which a check fails that passes in the checkout; `None` if it fails with them too.
pub fn needed(trial: &Trial<'_>, spec: &CheckSpec) -> Result<Option<Uncommitted>, CommandFailure> {
    let paths: Vec<PathBuf> = trial.untracked()?.into_iter().filter(|path| is_possible(path)).collect();
    if paths.is_empty() {
        return Ok(None);
    }
    tell(&format!("running {} with the files of your checkout that are not committed", spec.name));
    let passes_with = |paths: &[PathBuf]| -> Result<bool, CommandFailure> {
        let added = trial.add(paths)?;
        let setup = TrialSetup { place: TrialPlace::Outside, ..TrialSetup::default() };
        let passed = trial.run_one(spec, &setup)?.passed();
        trial.remove(&added)?;
        Ok(passed)
    };
    if !passes_with(&paths)? {
        return Ok(None);
    }
    for path in paths.iter().take(MAX_ALONE).filter(|_| paths.len() > 1) {
        let alone = std::slice::from_ref(path);
        if passes_with(alone)? {
            return Ok(Some(Uncommitted(alone.to_vec())));
        }
    }
    Ok(Some(Uncommitted(paths)))
}

impl Uncommitted {
    pub fn report(&self, checkup: &mut Checkup, check: &str) {
        let quoted = |quote: char| {
            let names = self.0.iter().map(|path| format!("{quote}{}{quote}", path.display()));
            names.collect::<Vec<_>>().join(", ")
        };
        let verb = if self.0.len() == 1 { "is" } else { "are" };
        let what = format!(
            "{check} passes in your checkout and fails on the last commit: it needs {}, which {verb} not committed",
            quoted('`')
        );
        let remedy = format!(
            "commit it, make it in the command of the check, or set `copies = [{}]` under `[sandbox]` in \
             ~/.config/remand/config.toml",
            quoted('"')
        );
        checkup.fail("checks", what, remedy);
    }
}

fn is_possible(path: &Path) -> bool {
    let is_tool = path.iter().any(|part| NOT_NEEDED.iter().any(|name| part == *name));
    !is_tool && !path.ends_with(".git") && path.to_str().is_some()
}
