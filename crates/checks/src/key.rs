//! The cache key of a result: one hash over everything that the result of a check depends on.
//!
//! Software outside the work tree and the environment, such as system-wide packages of a tool, affects the key only through
//! the tool's version.

use super::action::CheckAction;
use super::context::FileScope;
use super::copied;
use super::environments::{packages, program_path};
use super::installed::{NODE_MODULES, environments, package_folders};
use super::result::{CheckEnd, CheckResult};
use super::spec::CheckSpec;
use super::stored::{ReadBack, read_back};
use super::tool_version::ToolVersions;
use remand_ledger::{BlobId, Reader};
use remand_notation::ordered;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

/// The version of the format of keys and results. A new version makes older stored results unreachable.
const FORMAT: u32 = 2;

/// The conditions that all checks of one occasion share.
#[derive(Clone, Copy)]
pub struct Conditions<'s> {
    /// The exact content of the work tree.
    pub tree: &'s str,
    /// The exact content that changed files are compared with.
    pub base: &'s str,
    pub files: FileScope<'s>,
    /// Excludes values that differ every time, such as the scratch folder.
    pub environment: &'s BTreeMap<OsString, OsString>,
    pub tools: &'s ToolVersions,
    /// Fingerprint of the packages in the checkout that the tree links to.
    pub installed: &'s str,
}

/// Results of earlier occasions, by key.
pub trait KnownResults {
    fn result(&self, key: BlobId) -> Option<CheckResult>;
}

impl KnownResults for Reader {
    fn result(&self, key: BlobId) -> Option<CheckResult> {
        // A result that cannot be read counts as absent: the check runs again.
        let row = Reader::result(self, key).ok().flatten()?;
        read_back(self, &row, ReadBack::TestsAndFailures).ok()
    }
}

impl KnownResults for BTreeMap<BlobId, CheckResult> {
    fn result(&self, key: BlobId) -> Option<CheckResult> {
        self.get(&key).cloned()
    }
}

/// Fingerprint of installed packages: for Node, the modification times and lock files of the package folders; for Python,
/// the interpreter and each package; and for copied files, each of them.
pub fn installed(checkout: &Path, specs: &[CheckSpec]) -> String {
    let mut fingerprint = String::new();
    // A check cannot load a folder that cannot be read, so the fingerprint leaves it out.
    for folder in
        package_folders(checkout, specs).into_iter().map(|folder| checkout.join(folder).join(NODE_MODULES))
    {
        let Ok(data) = folder.metadata() else { continue };
        fingerprint.push_str(&format!("{} {:?}\n", folder.display(), data.modified().ok()));
        for list in [".package-lock.json", ".modules.yaml", ".yarn-state.yml"] {
            if let Ok(bytes) = std::fs::read(folder.join(list)) {
                fingerprint.push_str(&format!("{list} {}\n", BlobId::of(&bytes)));
            }
        }
    }
    for environment in environments(checkout, specs).into_values() {
        let settings = std::fs::read(environment.join("pyvenv.cfg")).unwrap_or_default();
        let interpreter = environment.join(program_path(".", "python"));
        fingerprint.push_str(&format!("{} {}\n", stamp(&interpreter), BlobId::of(&settings)));
        for folder in packages(&environment).into_iter().map(|folder| environment.join(folder)) {
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let entries: BTreeSet<String> = entries.map(|entry| stamp(&entry.path())).collect();
            fingerprint.extend(entries.into_iter().map(|entry| format!("{entry}\n")));
        }
    }
    fingerprint.push_str(&copied::fingerprint(checkout, specs));
    fingerprint
}

/// A file or folder with its modification time.
fn stamp(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    format!("{} {:?}", real.display(), real.metadata().and_then(|data| data.modified()).ok())
}

impl Conditions<'_> {
    /// The key of a check under these conditions.
    pub fn key(&self, spec: &CheckSpec) -> BlobId {
        // A check of individual files depends on which files changed, and on their earlier content.
        let is_by_file = matches!(spec.action, CheckAction::BuiltIn(_)) || !spec.each.is_empty();
        let files = match self.files {
            FileScope::Changed(files) if is_by_file => json!({ "base": self.base, "files": files }),
            FileScope::Changed(_) | FileScope::Whole => json!(null),
        };
        let environment: Vec<(String, String)> = self
            .environment
            .iter()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .collect();
        let all = json!({
            "form": FORMAT,
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

/// Whether a result depends on the tree alone: another run would end the same way.
pub fn is_reusable(spec: &CheckSpec, result: &CheckResult) -> bool {
    let ran = result.exit_code.is_some() || matches!(spec.action, CheckAction::BuiltIn(_));
    match result.end {
        CheckEnd::Passed | CheckEnd::Failed | CheckEnd::Vacuous => ran,
        CheckEnd::TimedOut
        | CheckEnd::Skipped
        | CheckEnd::NoFiles
        | CheckEnd::Environment
        | CheckEnd::Cancelled => false,
    }
}
