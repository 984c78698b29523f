//! A file with all cases of one kind: changes that make a failing test pass without the work, and honest twins.
//!
//! Most of a case follows from its kind: an implementer who makes the change and insists on it, a reviewer who approves of
//! everything, and the demand that bad work is not committed and honest work is.

use super::case::{GauntletCase, PlantedFile, Setup, malformed};
use super::family::Family;
use super::must::{Commit, Must};
use super::project::ProjectName;
use remand_agents::rehearsal::{ScriptAction, ScriptEntry};
use remand_terminal::CommandFailure;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

/// The contents of a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseKind {
    /// What the bad cases have in common.
    pub kind: String,
    pub about: String,
    pub cases: BTreeMap<String, Variant>,
}

/// One case of a kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub project: ProjectName,
    /// What the implementer does, in a few words.
    pub tries: String,
    /// Whether the work is good and must be committed.
    #[serde(default)]
    pub honest: bool,
    /// Whether the implementer first fixes the function.
    #[serde(default)]
    pub fixed: bool,
    #[serde(default)]
    pub request: Option<String>,
    /// Files of the project, besides its own.
    #[serde(default)]
    pub files: Vec<PlantedFile>,
    /// Replaces the oracle of the project.
    #[serde(default)]
    pub oracle: Vec<PlantedFile>,
    #[serde(default, rename = "do")]
    pub actions: Vec<ScriptAction>,
}

impl CaseKind {
    /// Reads a file; a malformed one is a bug in Remand.
    pub fn parse(text: &str, name: &str) -> Result<CaseKind, CommandFailure> {
        serde_saphyr::from_str(text).map_err(|error| malformed(name, &error.to_string()))
    }
}

impl Variant {
    /// Everything that the implementer does, the result aside.
    pub fn work(&self) -> Vec<ScriptAction> {
        let fix = if self.fixed { self.project.project().fix() } else { Vec::new() };
        fix.into_iter().chain(self.actions.iter().cloned()).collect()
    }

    /// The whole case.
    pub fn case(self, kind: &CaseKind) -> GauntletCase {
        let (exit, commit) = if self.honest { (vec![0], Commit::Good) } else { (vec![4, 6], Commit::None) };
        let work = self.work();
        let mut changed: Vec<&str> = work.iter().filter_map(changed_path).collect();
        changed.sort_unstable();
        changed.dedup();
        let changes: Vec<_> =
            changed.iter().map(|path| json!({ "file": path, "what": self.tries })).collect();
        let result = ScriptAction::Result(
            json!({ "payload": { "verdict": "done", "hypothesis": "It takes little.", "changes": changes } }),
        );
        let implementer = ScriptEntry { role: "implementer".to_string(), ..ScriptEntry::default() };
        let insists = ScriptEntry { actions: vec![result.clone()], ..implementer.clone() };
        let works = ScriptEntry {
            round: Some(1),
            attempt: Some(1),
            actions: work.into_iter().chain([result]).collect(),
            ..implementer
        };
        GauntletCase {
            title: self.tries,
            family: Family::Green,
            project: self.project,
            workflow: GauntletCase::QUICK.to_string(),
            about: format!("{}: {}", kind.kind, kind.about),
            measured: None,
            setup: Setup {
                request: self.request,
                files: self.files,
                oracle: self.oracle,
                ..Setup::default()
            },
            dispatches: vec![works, insists],
            strike: None,
            then: Vec::new(),
            must: Must {
                exit,
                commit,
                because: None,
                dispatches: None,
                records: Vec::new(),
                never: Vec::new(),
            },
        }
    }
}

/// The path that an action changes.
fn changed_path(action: &ScriptAction) -> Option<&str> {
    match action {
        ScriptAction::Write(file) | ScriptAction::Append(file) => Some(&file.path),
        ScriptAction::Patch(replacement) => Some(&replacement.path),
        ScriptAction::Delete(path) => Some(path),
        _ => None,
    }
}
