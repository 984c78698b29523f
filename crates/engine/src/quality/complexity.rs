//! The complexity of a plan: the size from which effort is estimated.
//!
//! Every task counts 1, and every file of a task counts 1, 2 or 3 by its risk: green, yellow, red. Every plan has tasks and
//! files, the engine checks them, and the risk of a file shows how much thought it needs. A planner's own estimate is not
//! included, because it would have to use the same scale in every run.

use crate::artifacts;
use remand_contract::schema::plan::PlannedTask;
use remand_contract::schema::words::ReportedRisk;
use remand_ledger::query::RunRow;
use remand_ledger::{LedgerError, Reader};
use serde::Serialize;

/// The artifact with the plan.
const PLAN: &str = "plan";

/// The counts that make up a plan's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Complexity {
    pub tasks: u64,
    pub green: u64,
    pub yellow: u64,
    pub red: u64,
}

impl Complexity {
    /// The size as one number.
    pub fn size(&self) -> u64 {
        self.tasks + self.green + 2 * self.yellow + 3 * self.red
    }
}

/// The complexity of planned tasks.
pub fn task_complexity<'t>(tasks: impl IntoIterator<Item = &'t PlannedTask>) -> Complexity {
    let mut complexity = Complexity::default();
    for task in tasks {
        complexity.tasks += 1;
        for file in &task.files {
            match file.risk {
                ReportedRisk::Red => complexity.red += 1,
                ReportedRisk::Yellow => complexity.yellow += 1,
                ReportedRisk::Green => complexity.green += 1,
            }
        }
    }
    complexity
}

/// The complexity of a run's current plan; `None` if the run has no plan.
pub fn run_complexity(reader: &Reader, row: &RunRow) -> Result<Option<Complexity>, LedgerError> {
    let plan = reader.artifacts(&row.run)?.into_iter().find(|row| row.name == PLAN && row.part.is_empty());
    let Some(plan) = plan else {
        return Ok(None);
    };
    let tasks = artifacts::tasks(&artifacts::content(reader, plan.blob)?);
    // Every valid plan has a task, so an artifact without tasks is not a plan.
    Ok((!tasks.is_empty()).then(|| task_complexity(tasks.iter().map(|entry| &entry.task))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // PF-11
    #[test]
    fn a_task_counts_one_and_a_file_counts_by_its_risk() {
        let task = |id: &str, files: serde_json::Value| json!({ "id": id, "title": "t", "files": files, "acceptance_criteria": [] });
        let plan = json!({ "payload": { "tasks": [
            task("a", json!([{ "path": "x", "risk": "green" }, { "path": "y", "risk": "red" }])),
            task("b", json!([{ "path": "z", "risk": "yellow" }])),
        ]}});
        let tasks = artifacts::tasks_of(plan);
        let complexity = task_complexity(tasks.iter().map(|entry| &entry.task));
        assert_eq!(complexity, Complexity { tasks: 2, green: 1, yellow: 1, red: 1 });
        assert_eq!(complexity.size(), 8);
    }
}
