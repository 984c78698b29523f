//! The inputs of a run that are fixed when it starts. A later change of a file never affects the run.

use crate::conventions::Conventions;
use crate::given_change::GivenChange;
use remand_agents::driver::{AgentRow, Prices};
use remand_checks::CheckSpec;
use remand_kernel::Program;
use remand_kernel::gaps::BoardRules;
use remand_ledger::{BlobId, LedgerError, Reader, RunId};
use remand_notation::ordered;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything that determines the behaviour of a run, as it was at its start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pinned {
    /// The Remand version that started the run.
    pub version: String,
    pub workflow: PinnedFile,
    pub program: Program,
    /// By title: `check`, or `check/code` for a mode.
    pub roles: BTreeMap<String, PinnedRole>,
    pub checks: Vec<CheckSpec>,
    #[serde(default)]
    pub cache: Cache,
    #[serde(default)]
    pub proof: ProofDemand,
    #[serde(default, skip_serializing_if = "Guards::is_all")]
    pub guards: Guards,
    #[serde(default)]
    pub rounds: RoundRules,
    /// The agents for its roles, by name.
    pub agents: BTreeMap<String, PinnedAgent>,
    /// The conventions that agents get if they see the work tree.
    #[serde(default)]
    pub conventions: Conventions,
    /// Prices for agents that do not report their cost.
    #[serde(default)]
    pub prices: Prices,
    /// The change that the run judges; `None` if the run makes the change itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<GivenChange>,
}

impl Pinned {
    /// Reads the pinned inputs of a run; `None` if this version cannot read them.
    pub fn of(reader: &Reader, run: &RunId) -> Result<Option<Pinned>, LedgerError> {
        Ok(Pinned::parse(&reader.blob(reader.run(&run.0)?.pinned)?))
    }

    /// The stored value; `None` if another version wrote it in a form that this one cannot read.
    pub fn parse(bytes: &[u8]) -> Option<Pinned> {
        serde_json::from_slice(bytes).ok()
    }

    /// The value as it is stored; equal values give equal strings.
    pub fn text(&self) -> serde_json::Result<String> {
        text(self)
    }
}

fn text(pinned: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_value(pinned).map(|value| ordered::line(&value))
}

/// Whether valid results of checks are reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    #[default]
    On,
    Off,
}

/// What guards tests besides their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Guards {
    #[default]
    All,
    /// The text of the change.
    Syntax,
    /// The tests of the base on the changed code.
    OldTests,
    /// That tests can fail.
    Proof,
}

impl Guards {
    fn is_all(&self) -> bool {
        *self == Guards::All
    }

    /// Whether one of them is in use.
    pub fn has(self, guard: Guards) -> bool {
        self == Guards::All || self == guard
    }
}

/// Whether tests must be able to fail, and how long the engine looks for a mutant that they notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofDemand {
    /// Runs of earlier versions demand nothing.
    #[default]
    Nothing,
    /// The time is that of the tests themselves, but at least this.
    Proof { time: Duration },
}

/// The settings for rounds on a gap board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct RoundRules {
    pub board: BoardRules,
    /// Minimum length of a result in a round, in characters.
    #[serde(rename = "least")]
    pub min_length: usize,
}

impl Default for RoundRules {
    fn default() -> RoundRules {
        RoundRules { board: BoardRules::default(), min_length: 100 }
    }
}

/// A file with its content and hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedFile {
    pub name: String,
    pub hash: BlobId,
    pub text: String,
}

impl PinnedFile {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> PinnedFile {
        let text = text.into();
        PinnedFile { name: name.into(), hash: BlobId::of(text.as_bytes()), text }
    }
}

/// A role as a dispatch needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedRole {
    /// Hash of the whole role file.
    pub hash: BlobId,
    pub prompt: String,
    /// The schema of its result.
    pub result: String,
    pub by: AgentChoice,
    /// Overrides for some items, such as the focus of a review.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_item: BTreeMap<String, AgentChoice>,
    pub may_write: Vec<MayWrite>,
    pub network: bool,
    /// Whether it may start programs.
    #[serde(default = "yes")]
    pub shell: bool,
    /// Whether its result is a delta of the design that it reads.
    #[serde(default)]
    pub delta: bool,
    /// The ids of the criteria that it must judge in every result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<String>,
    /// Whether it sees a work tree; otherwise it sees only documents.
    #[serde(default = "yes")]
    pub tree: bool,
    /// Whether it resumes its session when its work comes back.
    #[serde(default)]
    pub remembers: bool,
}

impl PinnedRole {
    /// The agent for an item; `None` means a dispatch without an item.
    pub fn choice(&self, item: Option<&str>) -> &AgentChoice {
        item.and_then(|item| self.by_item.get(item)).unwrap_or(&self.by)
    }
}

fn yes() -> bool {
    true
}

/// The agent, model and time limit of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentChoice {
    /// One of the run's agents.
    pub agent: String,
    /// The agent's name for the model; `None` for the agent's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Time limit of one dispatch.
    pub seconds: u64,
}

/// The files that a role may write in addition to its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MayWrite {
    /// The files of its task; the whole tree without a task.
    TaskFiles,
    /// The files of its task, except test modules and test files that the task does not name.
    TaskCode,
    Tree,
    Tests,
    Tracker,
    Knowledge,
}

/// An agent of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PinnedAgent {
    /// Scripted agents, with their script.
    Rehearsal(PinnedFile),
    /// A program, with its agent row.
    Cli(Box<AgentRow>),
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    // CORE-18
    #[test]
    fn equal_agent_rows_are_pinned_as_equal_strings() {
        let row = "title = 'Mine'\ncommand = ['mine']\narguments = []\n\
                   [hear]\nend = [{ in = { told = { by = { name = 'a', kind = 1 }, at = 2 } } }]\n";
        let one: AgentRow = toml::from_str(row).expect("a row");
        let mut other = one.clone();
        other.output_rules.end[0].lines.values_mut().for_each(|value| *value = ordered::reversed(value));
        assert_ne!(serde_json::to_string(&one).expect("JSON"), serde_json::to_string(&other).expect("JSON"));
        let pinned = |row: AgentRow| text(&PinnedAgent::Cli(Box::new(row))).expect("JSON");
        assert_eq!(pinned(one), pinned(other));
    }
}
