//! Results that hold already: all that a check depends on as one key, and an earlier row as an outcome.
//!
//! What lies outside of the tree and of the environment, such as packages that a system installs beside a tool, is
//! known by the tool's own version only.

use super::installed::{FOLDER, environments, packages, program_of};
use super::outcome::{CheckOutcome, End, Known, Listed, Taken};
use super::run::{Files, not_run};
use super::spec::{Action, CheckSpec};
use super::tool_version::Tools;
use crate::ordered;
use remand_ledger::query::CheckRow;
use remand_ledger::{BlobId, Reader};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Another form of keys or of results finds nothing that was kept before.
const FORM: u32 = 1;

/// What all checks of one occasion have in common.
#[derive(Clone, Copy)]
pub struct Setting<'s> {
    /// The exact content of the work tree.
    pub tree: &'s str,
    /// The exact content that changed files are held against.
    pub base: &'s str,
    pub files: Files<'s>,
    /// Without what is another one each time, such as the throw-away folder.
    pub environment: &'s BTreeMap<OsString, OsString>,
    pub tools: &'s Tools,
    /// What the checkout has installed for the checks, which the tree leads to.
    pub installed: &'s str,
}

/// Tells installed packages apart: each package folder with its own list of what is in it, and its age; of Python the
/// interpreter and each package as well.
pub fn installed(checkout: &Path, specs: &[CheckSpec]) -> String {
    let folders: BTreeSet<&Path> =
        specs.iter().flat_map(|spec| Path::new(&spec.folder).ancestors()).collect();
    let mut told = String::new();
    for folder in folders.into_iter().map(|folder| checkout.join(folder).join(FOLDER)) {
        let Ok(data) = folder.metadata() else { continue };
        told.push_str(&format!("{} {:?}\n", folder.display(), data.modified().ok()));
        for list in [".package-lock.json", ".modules.yaml", ".yarn-state.yml"] {
            if let Ok(bytes) = std::fs::read(folder.join(list)) {
                told.push_str(&format!("{list} {}\n", BlobId::of(&bytes)));
            }
        }
    }
    for environment in environments(specs).into_iter().map(|folder| checkout.join(folder)) {
        let settings = std::fs::read(environment.join("pyvenv.cfg")).unwrap_or_default();
        let interpreter = environment.join(program_of(".", "python"));
        told.push_str(&format!("{} {}\n", stamp(&interpreter), BlobId::of(&settings)));
        for folder in packages(&environment).into_iter().map(|folder| environment.join(folder)) {
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let entries: BTreeSet<String> = entries.map(|entry| stamp(&entry.path())).collect();
            told.extend(entries.into_iter().map(|entry| format!("{entry}\n")));
        }
    }
    told
}

/// A file or folder with its age.
fn stamp(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    format!("{} {:?}", real.display(), real.metadata().and_then(|data| data.modified()).ok())
}

impl Setting<'_> {
    /// Names all that the result of a check depends on.
    pub fn key(&self, spec: &CheckSpec) -> BlobId {
        // A check that goes file by file sees a part of the tree, and only of what changed.
        let by_file = matches!(spec.action, Action::BuiltIn(_)) || !spec.each.is_empty();
        let files = match self.files {
            Files::Changed(files) if by_file => json!({ "base": self.base, "files": files }),
            Files::Changed(_) | Files::Whole => json!(null),
        };
        let environment: Vec<(String, String)> = self
            .environment
            .iter()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .collect();
        let all = json!({
            "form": FORM,
            "engine": env!("CARGO_PKG_VERSION"),
            "platform": [std::env::consts::OS, std::env::consts::ARCH],
            "tree": self.tree,
            "check": spec,
            "files": files,
            "environment": environment,
            "installed": self.installed,
            "tool": self.tools.version(spec, self.environment),
        });
        BlobId::of(ordered::line(&all).as_bytes())
    }
}

/// Whether an end says something about the tree alone, so that it would be the same another time.
pub fn holds(spec: &CheckSpec, outcome: &CheckOutcome) -> bool {
    let ran = outcome.exit_code.is_some() || matches!(spec.action, Action::BuiltIn(_));
    match outcome.end {
        End::Passed | End::Failed | End::Vacuous => ran,
        End::TimedOut | End::Skipped | End::Environment | End::Cancelled => false,
    }
}

/// The outcome of an earlier row; none where what it needs cannot be read any more.
pub fn recalled(spec: &CheckSpec, row: &CheckRow, reader: &Reader) -> Option<CheckOutcome> {
    let tests = match row.tests {
        Some(blob) => serde_json::from_slice(&reader.blob(blob).ok()?).ok()?,
        None => Vec::new(),
    };
    let end = match (row.passed, row.tier) {
        (true, _) => End::Passed,
        (false, Some(_)) => End::Failed,
        (false, None) => End::Vacuous,
    };
    // Only the output of a failure is looked into again.
    let output = match row.output {
        Some(blob) if end == End::Failed => reader.blob(blob).ok()?,
        Some(_) | None => Vec::new(),
    };
    let listed = if matches!(spec.action, Action::BuiltIn(_)) { Listed::Part } else { Listed::All };
    Some(CheckOutcome {
        exit_code: row.exit_code,
        output,
        snippet: row.snippet.clone(),
        collected: row.collected,
        duration: Duration::from_millis(row.duration_ms),
        tests,
        listed,
        known: Known::Taken(Taken {
            run: row.run.clone(),
            seq: row.seq,
            at: row.at,
            output: row.output,
            tests: row.tests,
        }),
        ..not_run(spec, end, row.reason.clone())
    })
}
