//! Proofs that new and changed tests can fail.

use remand_kernel::finding::Location;
use serde::{Deserialize, Serialize};

/// What the tests of a change prove.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProofSummary {
    /// New and changed tests, and the tests that the request named.
    pub tests: Vec<ProvenTest>,
    pub mutants: Vec<MutantSummary>,
    /// Time spent on mutants.
    pub spent_ms: u64,
    /// Mutants that the budget left untried.
    pub untried: u32,
}

impl ProofSummary {
    /// Number of mutants that no test noticed.
    pub fn survivors(&self) -> usize {
        self.mutants.iter().filter(|mutant| mutant.fate == MutantFate::Survived).count()
    }
}

/// A test, and what shows that it can fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenTest {
    pub test: String,
    pub proof: TestProof,
}

/// What shows that a test can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestProof {
    /// It fails on the base's code.
    RedAtBase,
    /// It kills a mutant of the change.
    KillsMutant,
    /// Nothing does.
    None,
}

/// A small defect put into a changed line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantSummary {
    /// Equal for the same mutant in every report.
    pub identity: String,
    pub place: Location,
    /// What was changed, for example "`<` became `<=`".
    pub change: String,
    pub fate: MutantFate,
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MutantFate {
    /// A test failed because of it.
    Killed { test: String },
    /// Tests ran the line, and none failed.
    Survived,
    /// No test runs the line.
    NotReached,
    /// It did not build, or its tests took too long.
    Unjudged { why: String },
}
