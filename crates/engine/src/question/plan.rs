//! The plan that a gate asks about: its tasks, which of them run at once, and their risks.

use super::counted::counted;
use crate::artifacts::StoredTask;
use remand_contract::schema::plan::PlannedTask;
use remand_contract::schema::words::{ReportedRisk, ReportedSize};
use remand_contract::waves;
use serde::Serialize;

/// A plan, as the human who approves it needs it.
#[derive(Clone, Debug, Serialize)]
pub struct PlanOverview {
    pub tasks: Vec<TaskLine>,
    /// The ids of the tasks that can run at once, in order.
    pub waves: Vec<Vec<String>>,
    /// The maximum number of tasks that run at once.
    pub at_once: u16,
    pub files: RiskCounts,
}

/// One task of a plan.
#[derive(Clone, Debug, Serialize)]
pub struct TaskLine {
    pub id: String,
    pub title: String,
    /// The highest risk of its files.
    pub risk: ReportedRisk,
    pub size: ReportedSize,
    pub files: Vec<FileLine>,
}

/// One file of a task.
#[derive(Clone, Debug, Serialize)]
pub struct FileLine {
    pub path: String,
    pub risk: ReportedRisk,
}

/// How many files have each risk. A file counts once, with its highest risk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RiskCounts {
    pub green: usize,
    pub yellow: usize,
    pub red: usize,
}

impl PlanOverview {
    pub(super) fn new(tasks: Vec<StoredTask>, at_once: u16) -> PlanOverview {
        let tasks: Vec<PlannedTask> = tasks.into_iter().map(|stored| stored.task).collect();
        let mut by_path = std::collections::BTreeMap::new();
        for file in tasks.iter().flat_map(|task| &task.files) {
            let risk = by_path.entry(file.path.0.as_str()).or_insert(file.risk);
            *risk = file.risk.max(*risk);
        }
        let with = |risk: ReportedRisk| by_path.values().filter(|other| **other == risk).count();
        let files = RiskCounts {
            green: with(ReportedRisk::Green),
            yellow: with(ReportedRisk::Yellow),
            red: with(ReportedRisk::Red),
        };
        // A plan with a cycle is refused before anybody is asked about it.
        let waves = waves(&tasks).unwrap_or_default();
        PlanOverview { tasks: tasks.iter().map(TaskLine::new).collect(), waves, at_once, files }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let RiskCounts { green, yellow, red } = self.files;
        let mut lines = vec![format!(
            "{} in {}, at most {} at once; files by risk: {green} green, {yellow} yellow, {red} red",
            counted(self.tasks.len(), "task"),
            counted(self.waves.len(), "wave"),
            self.at_once,
        )];
        for (at, wave) in self.waves.iter().enumerate() {
            let tasks = self.tasks.iter().filter(|task| wave.contains(&task.id));
            lines.extend(tasks.map(|task| format!("wave {}: {}", at + 1, task.line())));
        }
        lines
    }
}

impl TaskLine {
    fn new(task: &PlannedTask) -> TaskLine {
        let files: Vec<FileLine> =
            task.files.iter().map(|file| FileLine { path: file.path.0.clone(), risk: file.risk }).collect();
        let risk = files.iter().map(|file| file.risk).max().unwrap_or(ReportedRisk::Green);
        TaskLine { id: task.id.clone(), title: task.title.0.clone(), risk, size: task.size, files }
    }

    fn line(&self) -> String {
        let files: Vec<String> =
            self.files.iter().map(|file| format!("{} ({})", file.path, file.risk.name())).collect();
        let size = match self.size {
            ReportedSize::Standard => "",
            ReportedSize::Large => ", large",
        };
        format!("{} ({}{size}): {}: {}", self.id, self.risk.name(), self.title, files.join(", "))
    }
}
