//! The settings that all runs of one process share.

use super::agent_slots::AgentSlots;
use crate::activity::ActivityBoard;
use crate::config::{NewNames, Sandbox};
use crate::home::Home;
use crate::redact::Redactor;
use crate::store::Store;
use crate::turn::CommandEnding;
use remand_checks::ToolVersions;
use remand_git::Repository;
use remand_kernel::Outcome;
use remand_kernel::signal::Failure;
use remand_ledger::Facts;
use remand_process::confine::Enforcement;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// Settings and services that all runs of a process share.
#[derive(Debug)]
pub struct Settings {
    pub home: Home,
    pub store: Arc<dyn Store>,
    pub repository: Repository,
    /// This program: it plays rehearsals and sets up the sandbox.
    pub program: PathBuf,
    /// The part of the environment that agents and checks inherit.
    pub environment: BTreeMap<OsString, OsString>,
    /// All environment variables of checks.
    pub check_environment: BTreeMap<OsString, OsString>,
    /// Variables that only agents inherit.
    pub agent_environment: BTreeMap<OsString, OsString>,
    pub sandbox: Sandbox,
    /// The names that a change may add.
    pub names: NewNames,
    /// The user's home, where toolchains keep their caches. It is the `HOME` of checks; agents get another.
    pub user_home: OsString,
    pub redactor: Redactor,
    /// The sandbox rules that this machine can enforce.
    pub enforcement: Enforcement,
    pub agent_slots: AgentSlots,
    /// Versions of the tools that checks use.
    pub tools: ToolVersions,
    pub activity: ActivityBoard,
}

impl Settings {
    /// Removes secrets from every string of an ending before it reaches the ledger.
    pub fn redact_ending(&self, mut ending: CommandEnding) -> CommandEnding {
        let redacted_parts =
            redacted(&self.redactor, &ending.outcome).zip(redacted(&self.redactor, &ending.facts));
        let unreadable = || {
            let detail = "the result is no longer valid after its secrets were removed".to_string();
            (Outcome::Failed { failure: Failure::Denied, detail, in_a_row: 0 }, Facts::default())
        };
        (ending.outcome, ending.facts) = redacted_parts.unwrap_or_else(unreadable);
        ending
    }
}

/// The value with secrets removed from its strings; `None` if the result is not a valid value of its type.
fn redacted<T: Clone + Serialize + DeserializeOwned>(redactor: &Redactor, value: &T) -> Option<T> {
    let original = serde_json::to_value(value).ok()?;
    let mut json = original.clone();
    redactor.redact_value(&mut json);
    if json == original { Some(value.clone()) } else { serde_json::from_value(json).ok() }
}
