//! Rules for splitting a plan into tasks: by size, and one task when in doubt.

use super::super::expectation::Expectation;
use super::super::problem::ContractProblem;
use super::super::schema::plan::{SplitPayload, SplitTask, WorkKind};
use super::plan;
use std::collections::BTreeSet;

/// The most concerns of one task.
const CONCERNS: usize = 2;
/// The most lines that one task changes if they are in more than `FILES` files.
const LINES: u32 = 50;
const FILES: usize = 2;

pub(super) fn split(it: &SplitPayload, expected: &Expectation) -> Vec<ContractProblem> {
    let tasks: Vec<_> = it.tasks.iter().map(|task| task.task.clone()).collect();
    let mut problems = plan::tasks(&tasks, expected);
    for (at, task) in it.tasks.iter().enumerate() {
        if let Some(why) = too_much(std::slice::from_ref(task)) {
            let path = format!("payload.tasks[{at}]");
            problems.push(ContractProblem::new(path, "a smaller task: split it", why));
        }
    }
    if it.tasks.len() > 1 && too_much(&it.tasks).is_none() {
        let found = format!(
            "{} tasks with {} concerns and {} lines in {} files in total, all one kind of work",
            it.tasks.len(),
            concerns(&it.tasks).len(),
            lines(&it.tasks),
            files(&it.tasks).len()
        );
        problems.push(ContractProblem::new(
            "payload.tasks",
            "one task: this plan is too small to split",
            found,
        ));
    }
    if let Some(need) = it.tasks.first().and_then(|first| first.task.depends_on.first()) {
        let expected = "no dependency: the first task runs now, the others run later";
        problems.push(ContractProblem::new("payload.tasks[0].depends_on", expected, format!("`{need}`")));
    }
    problems
}

/// Why these tasks together are too much for one task, if they are.
fn too_much(tasks: &[SplitTask]) -> Option<String> {
    let (concerns, lines, files) = (concerns(tasks).len(), lines(tasks), files(tasks).len());
    let has = |kind: WorkKind| tasks.iter().any(|task| task.work.contains(&kind));
    if concerns > CONCERNS {
        Some(format!("{concerns} concerns, more than {CONCERNS}"))
    } else if lines > LINES && files > FILES {
        Some(format!("{lines} lines in {files} files, more than {LINES} in more than {FILES}"))
    } else if has(WorkKind::Structural) && has(WorkKind::Runtime) {
        Some("structural work mixed with changes of behaviour".to_string())
    } else {
        None
    }
}

fn concerns(tasks: &[SplitTask]) -> BTreeSet<&str> {
    tasks.iter().flat_map(|task| &task.concerns).map(|concern| concern.0.trim()).collect()
}

fn files(tasks: &[SplitTask]) -> BTreeSet<&str> {
    tasks.iter().flat_map(|task| &task.task.files).map(|file| file.path.0.as_str()).collect()
}

fn lines(tasks: &[SplitTask]) -> u32 {
    tasks.iter().fold(0, |sum, task| sum.saturating_add(task.lines))
}
