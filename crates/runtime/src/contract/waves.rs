//! The order of tasks: waves from dependencies.

use super::schema::plan::Task;
use std::collections::BTreeSet;

/// Why tasks have no order: those that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tasks {} wait for each other", .0.join(", "))]
pub struct Circular(pub Vec<String>);

/// Tasks by wave: each as early as its dependencies allow, in the order of the plan. A dependency that no task has is
/// not waited for.
pub fn waves(tasks: &[Task]) -> Result<Vec<Vec<String>>, Circular> {
    let ids: BTreeSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    let mut finished: BTreeSet<&str> = BTreeSet::new();
    let mut waves = Vec::new();
    let mut left: Vec<&Task> = tasks.iter().collect();
    while !left.is_empty() {
        let is_ready = |task: &&Task| {
            task.depends_on.iter().all(|id| finished.contains(id.as_str()) || !ids.contains(id.as_str()))
        };
        let (ready, waiting): (Vec<&Task>, Vec<&Task>) = left.into_iter().partition(is_ready);
        if ready.is_empty() {
            return Err(Circular(waiting.iter().map(|task| task.id.clone()).collect()));
        }
        finished.extend(ready.iter().map(|task| task.id.as_str()));
        waves.push(ready.into_iter().map(|task| task.id.clone()).collect());
        left = waiting;
    }
    Ok(waves)
}
