//! Rules for splitting a plan into tasks: no task is too large, and a small plan stays one task.

use super::super::expectation::Expectation;
use super::super::problem::ContractProblem;
use super::super::schema::plan::{SplitPayload, SplitTask, WorkKind};
use super::plan;
use std::collections::BTreeSet;

/// The maximum number of concerns of one task.
const MAX_CONCERNS: usize = 2;
/// The maximum number of lines that one task changes in more than `FEW_FILES` files.
const MAX_LINES: u32 = 50;
/// A task that changes no more files than this may change any number of lines.
const FEW_FILES: usize = 2;

pub(super) fn split(it: &SplitPayload, expected: &Expectation) -> Vec<ContractProblem> {
    let tasks: Vec<_> = it.tasks.iter().map(|task| task.task.clone()).collect();
    let mut problems = plan::tasks(&tasks, expected);
    for (at, task) in it.tasks.iter().enumerate() {
        if let Some(reason) = too_large(std::slice::from_ref(task)) {
            let path = format!("payload.tasks[{at}]");
            problems.push(ContractProblem::new(path, "a smaller task: split it", reason));
        }
    }
    if it.tasks.len() > 1 && too_large(&it.tasks).is_none() {
        let found = format!(
            "{} tasks with {} concerns and {} lines in {} files in total, and one kind of work",
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
    if let Some(dependency) = it.tasks.first().and_then(|first| first.task.depends_on.first()) {
        let expected = "no dependency: the first task runs now, the others run later";
        problems.push(ContractProblem::new(
            "payload.tasks[0].depends_on",
            expected,
            format!("`{dependency}`"),
        ));
    }
    problems
}

/// Why these tasks together are too large for one task, if they are.
fn too_large(tasks: &[SplitTask]) -> Option<String> {
    let (concerns, lines, files) = (concerns(tasks).len(), lines(tasks), files(tasks).len());
    let has = |kind: WorkKind| tasks.iter().any(|task| task.work.contains(&kind));
    if concerns > MAX_CONCERNS {
        Some(format!("{concerns} concerns; at most {MAX_CONCERNS} are allowed"))
    } else if lines > MAX_LINES && files > FEW_FILES {
        Some(format!(
            "{lines} lines in {files} files; with more than {FEW_FILES} files, at most {MAX_LINES} lines are allowed"
        ))
    } else if has(WorkKind::Structural) && has(WorkKind::Runtime) {
        Some("structural work together with changes of behaviour".to_string())
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
