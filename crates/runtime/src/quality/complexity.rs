//! How complex a plan is, before any of it is done: the size that effort is set against (PF-11).
//!
//! Every task counts one, and every file that it touches one, two or three by its risk: green, yellow, red. Tasks and
//! files are what every plan has, the engine checks them, and the risk of a file says how much of it must be thought
//! about. A planner's own estimate is not part of it: it would have to be on the same scale in every run.

use crate::contract::{Limits, RawResult, find};
use remand_ledger::query::RunRow;
use remand_ledger::{LedgerError, Reader};
use serde::Serialize;
use serde_json::Value;

/// The artifact that plans are in.
const PLAN: &str = "plan";

/// What a plan amounts to.
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

/// The complexity of a plan as a planner returned it.
pub fn of_plan(plan: &Value) -> Option<Complexity> {
    let tasks = plan.pointer("/payload/tasks").or_else(|| plan.get("tasks"))?.as_array()?;
    let mut complexity = Complexity { tasks: tasks.len() as u64, ..Complexity::default() };
    for file in tasks.iter().filter_map(|task| task.get("files")?.as_array()).flatten() {
        match file.get("risk").and_then(Value::as_str) {
            Some("red") => complexity.red += 1,
            Some("yellow") => complexity.yellow += 1,
            Some(_) | None => complexity.green += 1,
        }
    }
    Some(complexity)
}

/// The complexity of a run's plan as it stands; none for a run without one.
pub fn of_run(reader: &Reader, row: &RunRow) -> Result<Option<Complexity>, LedgerError> {
    let plan = reader.artifacts(&row.run)?.into_iter().find(|row| row.name == PLAN && row.part.is_empty());
    let Some(plan) = plan else {
        return Ok(None);
    };
    let raw = RawResult { file: Some(reader.blob(plan.blob)?), answer: String::new() };
    Ok(find(&raw, &Limits::default()).ok().and_then(|found| of_plan(&found.value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // PF-11
    #[test]
    fn tasks_count_one_and_files_by_their_risk() {
        let plan = json!({ "payload": { "tasks": [
            { "id": "a", "files": [{ "path": "x", "risk": "green" }, { "path": "y", "risk": "red" }] },
            { "id": "b", "files": [{ "path": "z", "risk": "yellow" }] },
        ]}});
        let complexity = of_plan(&plan).expect("a plan");
        assert_eq!(complexity, Complexity { tasks: 2, green: 1, yellow: 1, red: 1 });
        assert_eq!(complexity.size(), 8);
        assert_eq!(of_plan(&json!({ "payload": { "verdict": "done" } })), None);
    }
}
