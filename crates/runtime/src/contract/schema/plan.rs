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

/// A plan as one task, or as several where it is too much for one (OT-07).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Split {
    pub summary: Text,
    /// The first one is carried out now; the others become issues of their own.
    #[schemars(length(min = 1))]
    pub tasks: Vec<SplitTask>,
    #[serde(default)]
    #[schemars(extend("x-alias" = ["risk", "overall_risk_summary"]))]
    pub overall_risk: Option<Risk>,
    #[serde(flatten)]
    pub said: Said,
}

/// A task that stands alone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SplitTask {
    #[serde(flatten)]
    pub task: Task,
    /// What it is about, one entry for each thing that could be done without the others.
    #[schemars(length(min = 1))]
    pub concerns: Vec<Text>,
    /// How many lines will change, about.
    pub lines: u32,
    /// Which kinds of work it takes.
    #[schemars(length(min = 1))]
    pub work: Vec<Work>,
    /// What is in the code already, for somebody who has not read it.
    #[serde(default)]
    pub context: String,
    /// What the plan says about this task.
    #[serde(default)]
    #[schemars(extend("x-alias" = ["plan_slice"]))]
    pub plan: String,
}

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-same" = {"structure": "structural", "refactoring": "structural", "behaviour": "runtime", "behavior": "runtime"}))]
pub enum Work {
    /// The code is put differently and does what it did.
    Structural,
    /// The code does something else.
    Runtime,
}

/// One task as a result of its own.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskPayload {
    pub task: Task,
    #[serde(flatten)]
    pub said: Said,
}
