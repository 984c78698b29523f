//! Finds the files of the user's checkout that a check needs and that are not in the last commit.

use super::checkup::Checkup;
use super::trial::{Trial, TrialPlace, TrialSetup};
use remand_checks::CheckSpec;
use remand_terminal::CommandFailure;
use remand_terminal::output::tell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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

/// The time after which no further path is tried alone.
const MAX_TIME: Duration = Duration::from_secs(5 * 60);

/// The maximum number of bytes that are copied for one trial.
const MAX_BYTES: u64 = 100_000_000;

/// The maximum number of files and folders that are copied for one trial.
const MAX_ENTRIES: u64 = 20_000;

/// Paths of the checkout that a check needs, relative to its root.
pub struct Uncommitted(Vec<PathBuf>);

/// The paths without which a check fails that passes in the checkout; `None` if it fails with them too.
pub fn needed(trial: &Trial<'_>, spec: &CheckSpec) -> Result<Option<Uncommitted>, CommandFailure> {
    let possible = trial.untracked()?.into_iter().filter(|path| is_possible(path));
    let (paths, left_out) = small_enough(trial.checkout(), possible.collect(), MAX_BYTES);
    if !left_out.is_empty() {
        let names: Vec<String> = left_out.iter().map(|path| path.display().to_string()).collect();
        tell(&format!("not tried, because they are large: {}", names.join(", ")));
    }
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
    let started = Instant::now();
    for path in paths.iter().take(MAX_ALONE).filter(|_| paths.len() > 1) {
        if started.elapsed() > MAX_TIME {
            tell("the other files are not tried one by one, because that takes long");
            break;
        }
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
            "commit it, make it in the command of the check, or let git ignore it and set `copies = [{}]` under `[sandbox]` in \
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

/// The paths that fit into a limit together, smallest first, and those that do not.
fn small_enough(checkout: &Path, paths: Vec<PathBuf>, limit: u64) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut measured: Vec<(u64, PathBuf)> =
        paths.into_iter().map(|path| (bytes(&checkout.join(&path), limit), path)).collect();
    measured.sort();
    let mut left = limit;
    let fits = |(bytes, path): (u64, PathBuf)| match left.checked_sub(bytes) {
        Some(rest) => {
            left = rest;
            Ok(path)
        }
        None => Err(path),
    };
    let (small, large): (Vec<_>, Vec<_>) = measured.into_iter().map(fits).partition(Result::is_ok);
    (small.into_iter().flatten().collect(), large.into_iter().filter_map(Result::err).collect())
}

/// The size of a file or folder. Counting stops above the limit, and a folder with too many entries is above it.
fn bytes(path: &Path, limit: u64) -> u64 {
    let (mut bytes, mut entries) = (0_u64, 0_u64);
    let mut pending = vec![path.to_path_buf()];
    while let Some(path) = pending.pop() {
        let Ok(found) = path.symlink_metadata() else { continue };
        entries += 1;
        bytes = bytes.saturating_add(if found.is_file() { found.len() } else { 0 });
        if bytes > limit || entries > MAX_ENTRIES {
            return limit.saturating_add(1);
        }
        if found.is_dir() {
            let inside = std::fs::read_dir(&path).into_iter().flatten().flatten();
            pending.extend(inside.map(|entry| entry.path()));
        }
    }
    bytes
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn large_files_are_left_out_and_small_ones_come_first() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("data")).unwrap();
        for (file, size) in [("data/one", 600), ("data/two", 500), ("b", 300), ("a", 500), ("c", 400)] {
            std::fs::write(temp.path().join(file), vec![0; size]).unwrap();
        }
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let (small, large) = small_enough(temp.path(), paths(&["a", "b", "c", "data"]), 1000);
        assert_eq!((small, large), (paths(&["b", "c"]), paths(&["a", "data"])));
    }
}
