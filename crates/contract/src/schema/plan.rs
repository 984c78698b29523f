//! The result of a planner: tasks with risks, sizes and dependencies.

use super::decision::DecisionRecord;
use super::header::CommonPayload;
use super::implementation::Dispute;
use super::spec::CriterionRecord;
use super::words::{NonBlankText, ReportedRisk, ReportedSize, TaskType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tasks with risks, sizes and dependencies.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Plan")]
pub struct PlanPayload {
    pub summary: NonBlankText,
    #[schemars(length(min = 1))]
    pub tasks: Vec<PlannedTask>,
    /// The highest risk of any file.
    #[serde(default)]
    #[schemars(extend("x-alias" = ["risk", "overall_risk_summary"]))]
    pub overall_risk: Option<ReportedRisk>,
    #[serde(default)]
    pub decisions: Vec<DecisionRecord>,
    /// An answer to each finding that binds the plan.
    #[serde(default)]
    pub constraints: Vec<ConstraintAnswer>,
    /// Findings that you received and consider wrong.
    #[serde(default)]
    pub disputes: Vec<Dispute>,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// How the plan deals with a finding that binds it: the tasks that meet it, or the reason to dispute it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Constraint")]
pub struct ConstraintAnswer {
    /// The id of the finding.
    #[schemars(extend("x-alias" = ["finding"]))]
    pub id: NonBlankText,
    /// The ids of the tasks that meet it.
    #[serde(default)]
    pub met_by: Vec<String>,
    /// Why it is wrong. Only with the verdict `disputed`.
    #[serde(default)]
    pub disputed: String,
}

/// One task.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Task")]
pub struct PlannedTask {
    /// An id such as `task-01`.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"), length(max = 64))]
    pub id: String,
    pub title: NonBlankText,
    #[serde(default)]
    pub description: String,
    /// Every file that the task changes, each with its risk.
    #[schemars(length(min = 1), extend("x-alias" = ["files_to_modify"]))]
    pub files: Vec<TaskFile>,
    /// `large` if any file is red.
    #[serde(default)]
    pub size: ReportedSize,
    #[serde(default, rename = "type")]
    #[schemars(extend("x-alias" = ["task_type"]))]
    pub kind: TaskType,
    /// Ids of the tasks that must be finished first.
    #[serde(default)]
    #[schemars(extend("x-alias" = ["dependencies", "needs"]))]
    pub depends_on: Vec<String>,
    #[schemars(length(min = 1))]
    pub acceptance_criteria: Vec<CriterionRecord>,
    /// Pointers such as `design#payload.decisions[id='D-8']`.
    #[serde(default)]
    pub relevant_context: Vec<String>,
    /// What other tasks may rely on.
    #[serde(default)]
    pub contracts: Vec<String>,
    /// Signatures of new symbols, such as `fn total(items: &[Item]) -> u32`. Tests are written against them.
    #[serde(default)]
    pub signatures: Vec<String>,
    #[serde(default)]
    pub test_design: String,
    /// Tests that the task removes or weakens, by name or file. All other tests must stay as strict as they are.
    #[serde(default)]
    #[schemars(extend("x-alias" = ["removes-tests"]))]
    pub removes_tests: Vec<String>,
}

/// One file of a task.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskFile {
    /// Relative to the work tree.
    pub path: NonBlankText,
    #[schemars(extend("x-alias" = ["risk_level", "risk_classification"]))]
    pub risk: ReportedRisk,
    /// What the task changes in the file.
    #[serde(default)]
    pub change: String,
}

/// A plan as one task, or as several tasks if it is too large for one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Split")]
pub struct SplitPayload {
    pub summary: NonBlankText,
    /// The first task runs now; the others become separate issues.
    #[schemars(length(min = 1))]
    pub tasks: Vec<SplitTask>,
    #[serde(default)]
    #[schemars(extend("x-alias" = ["risk", "overall_risk_summary"]))]
    pub overall_risk: Option<ReportedRisk>,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// An independent task.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SplitTask {
    #[serde(flatten)]
    pub task: PlannedTask,
    /// The concerns of the task: one entry for each part that could be done without the others.
    #[schemars(length(min = 1))]
    pub concerns: Vec<NonBlankText>,
    /// The approximate number of lines that will change.
    pub lines: u32,
    /// The kinds of work that the task needs.
    #[schemars(length(min = 1))]
    pub work: Vec<WorkKind>,
    /// What the code already contains, for someone who has not read it.
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
#[schemars(rename = "Work")]
pub enum WorkKind {
    /// The code is restructured; its behaviour stays the same.
    Structural,
    /// The behaviour of the code changes.
    Runtime,
}

/// A single task as a result.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskPayload {
    pub task: PlannedTask,
    #[serde(flatten)]
    pub common: CommonPayload,
}
