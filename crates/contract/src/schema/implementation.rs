//! The result of roles that change code or tests. It consists of claims, which the engine verifies.

use super::header::CommonPayload;
use super::words::NonBlankText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A report about changes to code or tests.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Implementation {
    /// The task, if there is one.
    #[serde(default)]
    #[schemars(extend("x-alias" = ["task_id"]))]
    pub task: String,
    /// Why this change should achieve the goal, in one sentence.
    #[serde(default)]
    pub hypothesis: String,
    /// The results of checks before the change.
    #[serde(default)]
    pub baseline: Vec<ClaimedCheck>,
    /// The changes, file by file.
    pub changes: Vec<ClaimedChange>,
    /// The results of checks after the change.
    #[serde(default)]
    pub self_check: Vec<ClaimedCheck>,
    /// Findings that you received and consider wrong.
    #[serde(default)]
    pub disputes: Vec<Dispute>,
    /// Work that you left out, and anything that prevents you from finishing.
    #[serde(default)]
    pub open: Vec<String>,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// The result of a check, as the agent reports it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClaimedCheck {
    #[schemars(extend("x-alias" = ["check_name", "check"]))]
    pub name: NonBlankText,
    #[serde(default)]
    pub command: String,
    pub passed: bool,
    #[serde(default)]
    pub exit_code: Option<i32>,
    #[serde(default)]
    #[schemars(extend("x-alias" = ["output_snippet"]))]
    pub output: String,
}

/// A change as the agent describes it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClaimedChange {
    #[schemars(extend("x-alias" = ["path"]))]
    pub file: NonBlankText,
    #[schemars(extend("x-alias" = ["description", "change"]))]
    pub what: NonBlankText,
    #[serde(default)]
    pub why: String,
    /// The tests that you added to the file and that must fail first.
    #[serde(default)]
    pub tests: Vec<ClaimedTest>,
}

/// A test that fails until its behaviour is implemented.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClaimedTest {
    pub name: NonBlankText,
    /// The criterion that the test checks.
    #[serde(default)]
    pub criterion: String,
    /// How the test currently fails: `assertion`, `stub` or `missing behaviour`.
    #[serde(default)]
    pub kind: String,
}

/// A finding that the agent disagrees with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dispute {
    /// The id of the finding.
    #[schemars(extend("x-alias" = ["id", "finding_id"]))]
    pub finding: NonBlankText,
    pub reason: NonBlankText,
}
