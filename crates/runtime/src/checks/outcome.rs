//! What became of one check.

use remand_kernel::change::TestResult;
use remand_kernel::evidence::Tier;
use remand_ledger::{BlobId, Millis, RunId};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What became of one check, with everything that the evidence records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOutcome {
    pub name: String,
    pub tool: String,
    pub tier: Tier,
    /// As a person would type it; none for what the engine does without a program.
    pub command: Option<String>,
    pub end: End,
    /// None where no process ran, or it was ended from outside.
    pub exit_code: Option<i32>,
    /// All of it, both streams in the order in which they were written.
    pub output: Vec<u8>,
    /// The telling part, at most 500 characters.
    pub snippet: String,
    /// How many tests were run; none where the check does not tell.
    pub collected: Option<u32>,
    pub duration: Duration,
    pub tests: Vec<TestResult>,
    pub listed: Listed,
    /// Why, for every end but a plain pass or failure.
    pub reason: String,
    pub steadiness: Steadiness,
    pub known: Known,
}

/// Whether several runs on one tree ended alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steadiness {
    /// As far as is known.
    Steady,
    Flaky,
}

/// What an outcome has to do with outcomes of other occasions; the key names all that it depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// It holds for this occasion only.
    Unkept,
    /// It holds wherever the key comes up again.
    Keep(BlobId),
    /// Nothing that was kept for the key holds.
    Withdraw(BlobId),
    /// Nothing was run.
    Taken(Taken),
}

/// The row that an outcome was taken over from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    pub run: RunId,
    pub seq: u64,
    pub at: Millis,
    pub output: Option<BlobId>,
    pub tests: Option<BlobId>,
}

/// How much `tests` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Listed {
    /// A test that is not in it was not run.
    All,
    /// It tells of some members of a workspace only; what is not in it may be of another one.
    Members,
    /// It tells of changed files only; what is not in it may be as it was.
    Part,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Passed,
    Failed,
    /// Ended well without a single test, which proves nothing.
    Vacuous,
    TimedOut,
    /// Not run, since what it needs did not pass, the change cannot affect it, or there is nothing to look at.
    Skipped,
    /// Not run, since a tool or the means to start it are missing: no defect of the work.
    Environment,
    /// Not run to its end, since the run was cancelled.
    Cancelled,
}

impl CheckOutcome {
    pub fn passed(&self) -> bool {
        self.end == End::Passed
    }

    /// Whether it says anything about the work, good or bad.
    pub fn counts(&self) -> bool {
        match self.end {
            End::Passed | End::Failed | End::TimedOut => true,
            End::Vacuous | End::Skipped | End::Environment | End::Cancelled => false,
        }
    }

    /// Whether it was taken over, so that nothing was run for it.
    pub fn is_taken(&self) -> bool {
        matches!(self.known, Known::Taken(_))
    }

    /// What the environment lacks, where that is why it was not run (CORE-10).
    pub fn lacks(&self) -> Option<&str> {
        (self.end == End::Environment).then_some(self.reason.as_str())
    }
}
