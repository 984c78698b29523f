//! The checks of a judged change and their tests, compared with the base.

use remand_kernel::evidence::Tier;
use remand_kernel::finding::Location;
use serde::{Deserialize, Serialize};

/// One check on the judged change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSummary {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// As a person would type it; `None` if the engine checks without a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The folder in which the command starts, relative to the repository; empty for its root.
    #[serde(default)]
    pub folder: String,
    /// `None` if no process ran or the engine ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    pub duration_ms: u64,
    pub verdict: CheckVerdict,
    /// The verdict on the base; `None` if the check was not measured there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict_at_base: Option<CheckVerdict>,
    pub origin: CheckOrigin,
    /// Why the check ended this way; empty for a plain pass or failure.
    #[serde(default)]
    pub reason: String,
    /// The most informative part of the output.
    #[serde(default)]
    pub snippet: String,
    /// In the runner's order. Tests that no longer exist are listed too.
    #[serde(default)]
    pub tests: Vec<TestSummary>,
}

impl CheckSummary {
    pub fn count(&self, change: TestChange) -> usize {
        self.tests.iter().filter(|test| test.change == change).count()
    }
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    Passed,
    Failed,
    TimedOut,
    /// Succeeded without running a test.
    Vacuous,
    /// The change cannot affect it, or a check that it needs did not pass.
    Skipped,
    /// A tool is missing, or the process could not start.
    CouldNotRun,
}

impl CheckVerdict {
    pub fn name(self) -> &'static str {
        match self {
            CheckVerdict::Passed => "passed",
            CheckVerdict::Failed => "failed",
            CheckVerdict::TimedOut => "timed out",
            CheckVerdict::Vacuous => "ran no test",
            CheckVerdict::Skipped => "not run",
            CheckVerdict::CouldNotRun => "could not run",
        }
    }

    /// Whether the check ran and did not pass.
    pub fn is_failure(self) -> bool {
        match self {
            CheckVerdict::Failed | CheckVerdict::TimedOut => true,
            CheckVerdict::Passed
            | CheckVerdict::Vacuous
            | CheckVerdict::Skipped
            | CheckVerdict::CouldNotRun => false,
        }
    }
}

/// Where a result comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CheckOrigin {
    /// By a process of this run.
    Now,
    /// From the cache: an earlier run measured the same content.
    Reused { run: String },
}

/// One test, compared with the base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestSummary {
    /// As the runner names it.
    pub name: String,
    pub change: TestChange,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Location>,
    /// What the runner printed about a failure; empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// What a change did to a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestChange {
    /// Passed on the base and fails now.
    Regressed,
    /// Ran on the base and no longer exists.
    Gone,
    /// New, and fails.
    NewRed,
    /// New, passes and fails on the same tree.
    NewFlaky,
    /// Ran on the base; passes and fails on the same tree.
    Flaky,
    /// Failed on the base and still fails.
    StillRed,
    /// Ran on the base and is skipped now.
    SwitchedOff,
    /// Failed on the base and passes now.
    Fixed,
    /// New, and passes.
    New,
    /// Skipped on both.
    Skipped,
    Passed,
}

impl TestChange {
    /// Worst first.
    pub const ALL: [TestChange; 11] = [
        TestChange::Regressed,
        TestChange::Gone,
        TestChange::NewRed,
        TestChange::NewFlaky,
        TestChange::Flaky,
        TestChange::StillRed,
        TestChange::SwitchedOff,
        TestChange::Fixed,
        TestChange::New,
        TestChange::Skipped,
        TestChange::Passed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            TestChange::Regressed => "regressed",
            TestChange::Gone => "gone",
            TestChange::NewRed => "new and red",
            TestChange::NewFlaky => "new and flaky",
            TestChange::Flaky => "flaky",
            TestChange::StillRed => "still red",
            TestChange::SwitchedOff => "switched off",
            TestChange::Fixed => "fixed",
            TestChange::New => "new",
            TestChange::Skipped => "skipped",
            TestChange::Passed => "passed",
        }
    }

    /// Whether the test is worse than on the base.
    pub fn is_worse(self) -> bool {
        match self {
            TestChange::Regressed
            | TestChange::Gone
            | TestChange::NewRed
            | TestChange::NewFlaky
            | TestChange::SwitchedOff => true,
            // The base may have the same flaw, and one run did not show it.
            TestChange::Flaky
            | TestChange::StillRed
            | TestChange::Fixed
            | TestChange::New
            | TestChange::Skipped
            | TestChange::Passed => false,
        }
    }
}
