//! Proofs that new and changed tests can fail.

use remand_kernel::finding::Location;
use serde::{Deserialize, Serialize};

/// What the tests of a change prove.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProofSummary {
    /// New and changed tests, and the tests that the request named.
    pub tests: Vec<ReportedTest>,
    pub mutants: Vec<MutantSummary>,
    /// The time that the proofs took.
    pub spent_ms: u64,
    /// The proofs in one sentence, with the number of mutants that were not tried.
    pub summary: String,
}

impl ProofSummary {
    /// Number of mutants that no test noticed.
    pub fn survivors(&self) -> usize {
        self.mutants.iter().filter(|mutant| mutant.fate == ReportedFate::Survived).count()
    }

    /// Whether the change alters behaviour and no test notices.
    pub fn is_unnoticed(&self) -> bool {
        let is_red = self.tests.iter().any(|test| test.proof == ReportedProof::RedAtBase);
        let is_killed = self.mutants.iter().any(|mutant| matches!(mutant.fate, ReportedFate::Killed { .. }));
        let is_alive =
            |mutant: &MutantSummary| matches!(mutant.fate, ReportedFate::Survived | ReportedFate::NotReached);
        !is_red && !is_killed && self.mutants.iter().any(is_alive)
    }
}

/// A test, and what shows that it can fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedTest {
    pub test: String,
    pub proof: ReportedProof,
}

/// What shows that a test can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportedProof {
    /// One of its assertions fails on the base's code.
    RedAtBase,
    /// It needs something that the change adds.
    MissingAtBase,
    /// It kills a mutant of the change.
    KillsMutant,
    /// Nothing does, although everything was tried.
    None,
    /// The change has no behaviour that it could notice, or it was not tried.
    Untried,
}

/// A small defect put into a changed line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantSummary {
    /// Equal for the same mutant in every report.
    pub identity: String,
    pub place: Location,
    /// What was changed, for example "`<` became `<=`".
    pub change: String,
    pub fate: ReportedFate,
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ReportedFate {
    /// A test failed because of it.
    Killed { test: String },
    /// Tests ran the line, and none failed.
    Survived,
    /// No test runs the line.
    NotReached,
    /// It did not build, or its tests took too long.
    Unjudged { why: String },
}
