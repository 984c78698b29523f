//! The result of one check. The same type is used from the process to the gate.

use super::snippet::{Interest, MAX_CHARACTERS, snippet};
use super::spec::CheckSpec;
use remand_kernel::change::TestResult;
use remand_kernel::evidence::Tier;
use remand_ledger::BlobId;
use remand_ledger::fact::Reuse;
use std::time::Duration;

/// The tool that evidence names if the engine checks without a program.
const ENGINE: &str = "remand";

/// The result of one check, with everything that the evidence records. `stored.rs` converts it to a fact of the ledger
/// and to a row of the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    pub name: String,
    pub tool: String,
    /// `None` for a record that is not a check of any tier.
    pub tier: Option<Tier>,
    /// As a person would type it; `None` if the engine checks without a program.
    pub command: Option<String>,
    pub end: CheckEnd,
    /// `None` if no process ran, or if the engine ended it.
    pub exit_code: Option<i32>,
    /// The whole output, both streams in the order in which they were written.
    pub output: Vec<u8>,
    /// The most informative part of the output, at most 500 characters.
    pub snippet: String,
    /// Number of tests that ran; `None` if the check does not report tests.
    pub collected: Option<u32>,
    /// The number of failing tests, if each of them also failed before the change and is allowed to keep failing;
    /// otherwise 0.
    pub red_before: u32,
    pub duration: Duration,
    pub tests: Vec<TestResult>,
    pub listing: TestListing,
    /// Why the check ended this way; empty for a plain pass or failure.
    pub reason: String,
    pub steadiness: Steadiness,
    /// How this result relates to results of other occasions; `None` if it is valid for this occasion only.
    pub reuse: Option<Reuse>,
    /// For a reused result: the output and tests that the ledger already keeps.
    pub stored: StoredBlobs,
}

/// Blobs of the ledger that belong to a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredBlobs {
    pub output: Option<BlobId>,
    pub tests: Option<BlobId>,
}

/// Whether several runs on one tree ended alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steadiness {
    /// No run is known to have ended differently.
    Steady,
    Flaky,
}

/// How much of a suite `tests` covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestListing {
    /// A test that is absent did not run.
    All,
    /// Covers some members of a workspace; an absent test may belong to another member.
    Members,
    /// Covers changed files; an absent file is unchanged.
    ChangedFiles,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckEnd {
    Passed,
    Failed,
    /// Succeeded without running a test, which proves nothing.
    Vacuous,
    TimedOut,
    /// Not run: a check that it needs did not pass, or the change cannot affect it.
    Skipped,
    /// Not run: it looks at individual files, and there is none for it.
    NoFiles,
    /// Not run: a tool is missing, or its process cannot be started. Not a defect of the work.
    Environment,
    /// Interrupted or not started because the run was cancelled.
    Cancelled,
}

impl CheckResult {
    /// A result without a process, with the reason as its snippet.
    pub fn not_run(spec: &CheckSpec, end: CheckEnd, reason: String) -> CheckResult {
        CheckResult {
            tool: spec.tool.clone(),
            command: spec.action.typed(),
            snippet: snippet(&reason, Interest::End),
            ..CheckResult::of_engine(&spec.name, Some(spec.tier), end, reason)
        }
    }

    /// A result that the engine found without a program.
    pub fn of_engine(name: &str, tier: Option<Tier>, end: CheckEnd, reason: String) -> CheckResult {
        CheckResult {
            name: name.to_string(),
            tool: ENGINE.to_string(),
            tier,
            command: None,
            end,
            exit_code: None,
            output: Vec::new(),
            snippet: reason.chars().take(MAX_CHARACTERS).collect(),
            collected: None,
            red_before: 0,
            duration: Duration::ZERO,
            tests: Vec::new(),
            listing: TestListing::All,
            reason,
            steadiness: Steadiness::Steady,
            reuse: None,
            stored: StoredBlobs::default(),
        }
    }

    pub fn passed(&self) -> bool {
        self.end == CheckEnd::Passed
    }

    /// Whether the result is evidence about the work, good or bad.
    pub fn counts(&self) -> bool {
        match self.end {
            CheckEnd::Passed | CheckEnd::Failed | CheckEnd::TimedOut => true,
            CheckEnd::Vacuous
            | CheckEnd::Skipped
            | CheckEnd::NoFiles
            | CheckEnd::Environment
            | CheckEnd::Cancelled => false,
        }
    }

    /// Whether the result was reused: nothing ran for it.
    pub fn is_reused(&self) -> bool {
        matches!(self.reuse, Some(Reuse::Taken { .. }))
    }

    /// The reason, if the check did not run because the environment lacks something.
    pub fn missing_from_environment(&self) -> Option<&str> {
        (self.end == CheckEnd::Environment).then_some(self.reason.as_str())
    }

    /// Adds to the reason.
    pub fn add_reason(&mut self, more: &str) {
        if !self.reason.is_empty() {
            self.reason.push_str("; ");
        }
        self.reason.push_str(more);
    }
}

/// The results of one check that count as evidence, among results on earlier trees.
pub fn earlier<'r>(results: &'r [CheckResult], check: &'r str) -> impl Iterator<Item = &'r CheckResult> {
    results.iter().filter(move |result| result.name == check && result.counts())
}
