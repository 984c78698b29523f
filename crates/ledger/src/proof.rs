//! Proofs that the tests of a change can fail, as facts of the journal.

use serde::{Deserialize, Serialize};

/// What the engine found out about the tests of one change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeProof {
    /// `None` for the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The verification iteration, from 1.
    pub iteration: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<ProvenTest>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mutants: Vec<TriedMutant>,
    /// Mutants that were not tried.
    #[serde(skip_serializing_if = "is_zero")]
    pub untried: u32,
    /// The time spent, in milliseconds.
    pub spent_ms: u64,
    /// The maximum time, in milliseconds.
    pub budget_ms: u64,
}

/// A test that must be able to fail, and what shows that it can.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenTest {
    pub check: String,
    /// As the runner names it.
    pub test: String,
    pub origin: TestOrigin,
    pub proof: TestProof,
    /// The mutant that it kills, or why nothing is known; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Why a test must be able to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestOrigin {
    /// The change adds it.
    New,
    /// The change edits it.
    Changed,
    /// It failed before the change and passes now.
    Fixed,
}

/// What shows that a test can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestProof {
    /// One of its assertions fails on the code before the change.
    RedAtBase,
    /// On the code before the change it lacks something that the change adds.
    MissingAtBase,
    /// One of its assertions fails on a mutant.
    KillsMutant,
    /// Nothing does, although everything was tried.
    Nothing,
    /// The change has no behaviour that it could notice, or it was not tried.
    Untried,
}

/// A mutant of a changed line, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedMutant {
    /// Equal for the same alteration in later versions of the code.
    pub identity: String,
    pub file: String,
    /// From 1.
    pub line: u32,
    /// Empty outside functions.
    pub function: String,
    /// What is altered, such as `boundary`.
    pub kind: String,
    /// One sentence without the place.
    pub alteration: String,
    pub fate: MutantFate,
    /// The test that killed it, or why it could not be judged; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MutantFate {
    /// An assertion of a test failed because of it.
    Killed,
    /// No test failed.
    Survived,
    /// No test runs the code.
    NotReached,
    /// It did not build, took too long, or broke tests other than by an assertion.
    Unjudged,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
