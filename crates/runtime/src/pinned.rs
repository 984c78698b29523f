//! What a run is pinned to: changing a file never changes a run under way (CORE-18).

use crate::checks::CheckSpec;
use crate::driver::{Prices, Row};
use crate::ordered;
use remand_kernel::Program;
use remand_kernel::gaps::Rules;
use remand_ledger::{BlobId, LedgerError, Reader, RunId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that decides how a run goes, as it was when the run began.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pinned {
    /// Of the program that began the run.
    pub version: String,
    pub workflow: PinnedFile,
    pub program: Program,
    /// By title: `check`, or `check/code` for a mode.
    pub roles: BTreeMap<String, PinnedRole>,
    pub checks: Vec<CheckSpec>,
    #[serde(default)]
    pub cache: Cache,
    #[serde(default)]
    pub rounds: RoundRules,
    /// Those that its roles are done by, by the name that roles have for them.
    pub agents: BTreeMap<String, PinnedAgent>,
    /// What their costs are reckoned by where they do not tell them.
    #[serde(default)]
    pub prices: Prices,
}

impl Pinned {
    /// What a run is pinned to, if this version can read it.
    pub fn of(reader: &Reader, run: &RunId) -> Result<Option<Pinned>, LedgerError> {
        let bytes = reader.blob(reader.run(&run.0)?.pinned)?;
        Ok(serde_json::from_slice(&bytes).ok())
    }

    /// What a run is pinned by: one text for all that says the same.
    pub fn text(&self) -> serde_json::Result<String> {
        text(self)
    }
}

fn text(pinned: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_value(pinned).map(|value| ordered::line(&value))
}

/// Whether results of checks that hold already are taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    #[default]
    On,
    Off,
}

/// The numbers by which rounds on a gap board go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct RoundRules {
    pub board: Rules,
    /// Characters that a result of a round has at least (SR-03).
    pub least: usize,
}

impl Default for RoundRules {
    fn default() -> RoundRules {
        RoundRules { board: Rules::default(), least: 100 }
    }
}

/// A file with its name and the hash of its content.
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
    /// Of the whole role file.
    pub hash: BlobId,
    pub prompt: String,
    /// The schema of its result.
    pub result: String,
    pub by: Choice,
    /// Who does it for some items, such as the focus of a review.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_item: BTreeMap<String, Choice>,
    pub may_write: Vec<MayWrite>,
    pub network: bool,
    /// Whether it may start programs.
    #[serde(default = "yes")]
    pub shell: bool,
    /// Whether its result is a delta of the design that it reads.
    #[serde(default)]
    pub delta: bool,
    /// What it must judge in every result, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<String>,
    /// Whether it sees a work tree, or documents only.
    #[serde(default = "yes")]
    pub tree: bool,
    /// Whether it goes on with its session when its work comes back.
    #[serde(default)]
    pub remembers: bool,
}

impl PinnedRole {
    /// Who does it for an item, or for none.
    pub fn choice(&self, item: Option<&str>) -> &Choice {
        item.and_then(|item| self.by_item.get(item)).unwrap_or(&self.by)
    }
}

fn yes() -> bool {
    true
}

/// Who does a role, and with what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// One of the run's agents.
    pub agent: String,
    /// As the agent names it; its own choice when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Time for one dispatch.
    pub seconds: u64,
}

/// A place that a role may write besides its report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MayWrite {
    /// The files that its task names; the whole tree when it works on no task.
    TaskFiles,
    /// The same without tests: test files that the task does not name, and test modules.
    TaskCode,
    Tree,
    Tests,
    Tracker,
    Knowledge,
}

/// Who is dispatched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PinnedAgent {
    /// Scripted agents, by the text of their script.
    Rehearsal(PinnedFile),
    /// A program, by its row.
    Cli(Box<Row>),
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    // CORE-18
    #[test]
    fn rows_that_say_the_same_are_pinned_by_the_same_text() {
        let row = "title = 'Mine'\ncommand = ['mine']\narguments = []\n\
                   [hear]\nend = [{ in = { told = { by = { name = 'a', kind = 1 }, at = 2 } } }]\n";
        let one: Row = toml::from_str(row).expect("a row");
        let mut other = one.clone();
        other.hear.end[0].lines.values_mut().for_each(|value| *value = ordered::reversed(value));
        assert_ne!(serde_json::to_string(&one).expect("JSON"), serde_json::to_string(&other).expect("JSON"));
        let pinned = |row: Row| text(&PinnedAgent::Cli(Box::new(row))).expect("a text");
        assert_eq!(pinned(one), pinned(other));
    }
}
