//! Orders tasks into waves by their dependencies.

use super::schema::plan::PlannedTask;
use std::collections::BTreeSet;

/// The tasks that cannot be ordered, because they are part of a dependency cycle or depend on one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cycle that blocks {}", .0.join(", "))]
pub struct CircularDependency(pub Vec<String>);

/// Puts each task into the earliest wave that its dependencies allow, in the order of the plan. Ignores unknown
/// dependencies.
pub fn waves(tasks: &[PlannedTask]) -> Result<Vec<Vec<String>>, CircularDependency> {
    let ids: BTreeSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    let mut finished: BTreeSet<&str> = BTreeSet::new();
    let mut waves = Vec::new();
    let mut remaining: Vec<&PlannedTask> = tasks.iter().collect();
    while !remaining.is_empty() {
        let is_ready = |task: &&PlannedTask| {
            task.depends_on.iter().all(|id| finished.contains(id.as_str()) || !ids.contains(id.as_str()))
        };
        let (ready, waiting): (Vec<&PlannedTask>, Vec<&PlannedTask>) =
            remaining.into_iter().partition(is_ready);
        if ready.is_empty() {
            return Err(CircularDependency(waiting.iter().map(|task| task.id.clone()).collect()));
        }
        finished.extend(ready.iter().map(|task| task.id.as_str()));
        waves.push(ready.into_iter().map(|task| task.id.clone()).collect());
        remaining = waiting;
    }
    Ok(waves)
}
