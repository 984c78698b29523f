//! What roles that change code or tests return. All of it is a claim: the engine looks for itself (CORE-06).

use super::header::Said;
use super::words::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Implementation {
    /// The task, where there is one.
    #[serde(default)]
    #[schemars(extend("x-alias" = ["task_id"]))]
    pub task: String,
    /// What was to be achieved by this change, in one sentence.
    #[serde(default)]
    pub hypothesis: String,
    /// How checks ended before the change.
    #[serde(default)]
    pub baseline: Vec<ClaimedCheck>,
    /// What was changed, file by file.
    pub changes: Vec<ClaimedChange>,
    /// What was run after the change.
    #[serde(default)]
    pub self_check: Vec<ClaimedCheck>,
    /// Findings that were sent to you and that you hold to be wrong.
    #[serde(default)]
    pub disputes: Vec<Dispute>,
    /// What was left out, or keeps the work from being finished.
    #[serde(default)]
    pub open: Vec<String>,
    #[serde(flatten)]
    pub said: Said,
}

/// A check as the agent says it ended.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClaimedCheck {
    #[schemars(extend("x-alias" = ["check_name", "check"]))]
    pub name: Text,
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
    pub file: Text,
    #[schemars(extend("x-alias" = ["description", "change"]))]
    pub what: Text,
    #[serde(default)]
    pub why: String,
    /// The tests that were written into it, where they are to fail first.
    #[serde(default)]
    pub tests: Vec<ClaimedTest>,
}

/// A test that fails until its behaviour is there.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClaimedTest {
    pub name: Text,
    /// The criterion that it shows.
    #[serde(default)]
    pub criterion: String,
    /// How it fails now: `assertion`, `stub` or `missing behaviour`.
    #[serde(default)]
    pub kind: String,
}

/// A finding that the agent disagrees with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dispute {
    /// The id of the finding.
    #[schemars(extend("x-alias" = ["id", "finding_id"]))]
    pub finding: Text,
    pub reason: Text,
}
