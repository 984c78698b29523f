//! The cases that there are, embedded.

use super::case::{Case, Measured};
use super::family::Family;
use crate::exit::Failure;
use remand_workflow::diagnostic::nearest;

macro_rules! cases {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../gauntlet/cases/", $name, ".yaml")))),*]
    };
}

/// Name and text of each case, in the order in which they are played.
pub const CASES: &[(&str, &str)] = cases![
    "honest/adds-tests",
    "honest/feature",
    "honest/node",
    "honest/python",
    "honest/rust",
    "claims/approves-a-blocker",
    "claims/changes-nothing",
    "claims/empty-diff",
    "claims/forged-baseline",
    "claims/forged-ledger",
    "claims/forged-output",
    "claims/forged-review",
    "claims/no-result",
    "claims/says-tests-pass",
    "tampering/build-script",
    "tampering/commits-itself",
    "tampering/deletes-failing-test",
    "tampering/deletes-test-file",
    "tampering/edits-ci-quietly",
    "tampering/edits-ci",
    "tampering/edits-engine-settings",
    "tampering/edits-own-hook",
    "tampering/expects-the-defect",
    "tampering/forging-runner",
    "tampering/ignored-file",
    "tampering/ignores-failing-test",
    "tampering/installs-git-hook",
    "tampering/load-tests-hook",
    "tampering/no-op-runner",
    "tampering/package-json-forgery",
    "tampering/package-json-script",
    "tampering/puts-test-back",
    "tampering/renames-test-away",
    "tampering/replaces-git-link",
    "tampering/rewrites-history",
    "tampering/shadows-the-runner",
    "tampering/skips-node-test",
    "tampering/skips-test",
    "tampering/special-cases-review",
    "tampering/special-cases-test",
    "tampering/weakens-assertion",
    "escapes/answers-own-gate",
    "escapes/daemon",
    "escapes/disk",
    "escapes/hard-link",
    "escapes/interpreter",
    "escapes/kills-engine",
    "escapes/memory",
    "escapes/mount",
    "escapes/other-task-files",
    "escapes/other-worktrees",
    "escapes/parent-folder",
    "escapes/proc",
    "escapes/processes",
    "escapes/reads-environment",
    "escapes/reads-keys",
    "escapes/rename",
    "escapes/reviewer-edits",
    "escapes/shedding-daemon",
    "escapes/shell",
    "escapes/symlink",
    "escapes/tcp",
    "escapes/udp",
    "escapes/unix-socket",
    "confusion/alias-bomb",
    "confusion/binary",
    "confusion/contradicts-task",
    "confusion/floods-output",
    "confusion/huge",
    "confusion/invalid-utf8",
    "confusion/malformed",
    "confusion/odd-file-names",
    "confusion/other-task",
    "confusion/own-error",
    "confusion/prompt-injection",
    "confusion/terminal-escapes",
    "confusion/truncated",
    "confusion/two-results",
    "confusion/wrong-role",
    "confusion/wrong-schema",
    "loops/a-b-a",
    "loops/endless-major",
    "loops/endless-minor",
    "loops/healthy-rounds",
    "loops/rephrased-finding",
    "loops/reversal",
    "loops/same-fix-again",
    "loops/same-hypothesis",
    "loops/twelve-steps",
    "interruptions/cancelled",
    "interruptions/crashes",
    "interruptions/engine-killed",
    "interruptions/fails-with-result",
    "interruptions/hangs-once",
    "interruptions/hangs",
    "interruptions/refuses-to-end",
];

/// A case that is to be played.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Such as `claims/changes-nothing`.
    pub name: &'static str,
    /// With placeholders, as it stands in its file.
    pub text: &'static str,
    pub case: Case,
}

/// The cases of these names, families, or both; all when none is given.
pub fn chosen(wanted: &[String]) -> Result<Vec<Choice>, Failure> {
    for word in wanted {
        if !CASES.iter().any(|(name, _)| fits(name, word)) {
            return Err(unknown(word));
        }
    }
    let fitting =
        CASES.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|word| fits(name, word)));
    fitting.map(|(name, text)| Ok(Choice { name, text, case: Case::parse(text, name)? })).collect()
}

impl Choice {
    pub fn family(&self) -> Family {
        self.case.family
    }

    /// The name within its family.
    pub fn short(&self) -> &'static str {
        self.name.split_once('/').map_or(self.name, |(_, short)| short)
    }

    pub fn is_measured_lie(&self) -> bool {
        self.case.measured == Some(Measured::Lie)
    }
}

fn fits(name: &str, word: &str) -> bool {
    name == word || name.split_once('/').is_some_and(|(family, short)| family == word || short == word)
}

fn unknown(word: &str) -> Failure {
    let families = Family::ALL.iter().map(|family| family.name());
    let names = CASES.iter().flat_map(|(name, _)| [*name, name.rsplit('/').next().unwrap_or(name)]);
    let near = nearest(word, families.chain(names));
    let hint = match near {
        Some(near) => format!("did you mean `{near}`? `remand gauntlet --list` shows all"),
        None => "`remand gauntlet --list` shows all".to_string(),
    };
    Failure::user(format!("there is no family and no case `{word}`"), hint)
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
