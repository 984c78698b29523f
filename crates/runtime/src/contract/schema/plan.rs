//! What a planner returns: tasks with risks, sizes and dependencies (EP-10).

use super::decision::Decision;
use super::header::Said;
use super::spec::Criterion;
use super::words::{Risk, Size, TaskType, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    pub summary: Text,
    #[schemars(length(min = 1))]
    pub tasks: Vec<Task>,
    /// The highest risk of any file.
    #[serde(default)]
    #[schemars(extend("x-alias" = ["risk", "overall_risk_summary"]))]
    pub overall_risk: Option<Risk>,
    #[serde(default)]
    pub decisions: Vec<Decision>,
    #[serde(flatten)]
    pub said: Said,
}

/// One task.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// As in `task-01`.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"), length(max = 64))]
    pub id: String,
    pub title: Text,
    #[serde(default)]
    pub description: String,
    /// Every file that the task changes, each with its risk.
    #[schemars(length(min = 1), extend("x-alias" = ["files_to_modify"]))]
    pub files: Vec<TaskFile>,
    /// `large` as soon as a file is red.
    #[serde(default)]
    pub size: Size,
    #[serde(default, rename = "type")]
    #[schemars(extend("x-alias" = ["task_type"]))]
    pub kind: TaskType,
    /// Ids of tasks that must be finished before.
    #[serde(default)]
    #[schemars(extend("x-alias" = ["dependencies", "needs"]))]
    pub depends_on: Vec<String>,
    #[schemars(length(min = 1))]
    pub acceptance_criteria: Vec<Criterion>,
    /// Pointers such as `design#payload.decisions[id='D-8']`.
    #[serde(default)]
    pub relevant_context: Vec<String>,
    /// What other tasks may rely on.
    #[serde(default)]
    pub contracts: Vec<String>,
    /// Signatures of new symbols, as in `fn total(items: &[Item]) -> u32`; tests are written against them.
    #[serde(default)]
    pub signatures: Vec<String>,
    #[serde(default)]
    pub test_design: String,
    /// Tests that the task takes out or makes weaker, by name or by file; all others must stay as strict as they are.
    #[serde(default)]
    #[schemars(extend("x-alias" = ["removes-tests"]))]
    pub removes_tests: Vec<String>,
}

/// One file of a task.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskFile {
    /// Relative to the work tree.
    pub path: Text,
    #[schemars(extend("x-alias" = ["risk_level", "risk_classification"]))]
    pub risk: Risk,
    /// What happens to it.
    #[serde(default)]
    pub change: String,
}

/// One task as a result of its own.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskPayload {
    pub task: Task,
    #[serde(flatten)]
    pub said: Said,
}
