//! When a plan is one task and when it is several: by numbers, and in doubt one (OT-07).

use super::super::expectation::Expectation;
use super::super::problem::Problem;
use super::super::schema::plan::{Split, SplitTask, Work};
use super::plan;
use std::collections::BTreeSet;

/// A task has at most so many concerns.
const CONCERNS: usize = 2;
/// It changes at most so many lines, if that is in more than so many files.
const LINES: u32 = 50;
const FILES: usize = 2;

pub(super) fn split(it: &Split, expected: &Expectation) -> Vec<Problem> {
    let tasks: Vec<_> = it.tasks.iter().map(|task| task.task.clone()).collect();
    let mut problems = plan::tasks(&tasks, expected);
    for (at, task) in it.tasks.iter().enumerate() {
        if let Some(why) = too_much(std::slice::from_ref(task)) {
            let path = format!("payload.tasks[{at}]");
            problems.push(Problem::new(path, "a task that is small enough: split it", why));
        }
    }
    if it.tasks.len() > 1 && too_much(&it.tasks).is_none() {
        let found = format!(
            "{} tasks with {} concerns and {} lines in {} files together, of one kind of work",
            it.tasks.len(),
            concerns(&it.tasks).len(),
            lines(&it.tasks),
            files(&it.tasks).len()
        );
        problems.push(Problem::new("payload.tasks", "one task: a plan this small is not split", found));
    }
    if let Some(need) = it.tasks.first().and_then(|first| first.task.depends_on.first()) {
        let expected = "nothing: the first task is carried out now, and the others later";
        problems.push(Problem::new("payload.tasks[0].depends_on", expected, format!("`{need}`")));
    }
    problems
}

/// Why tasks taken together are too much for one, if they are.
fn too_much(tasks: &[SplitTask]) -> Option<String> {
    let (concerns, lines, files) = (concerns(tasks).len(), lines(tasks), files(tasks).len());
    let has = |kind: Work| tasks.iter().any(|task| task.work.contains(&kind));
    if concerns > CONCERNS {
        Some(format!("{concerns} concerns, more than {CONCERNS}"))
    } else if lines > LINES && files > FILES {
        Some(format!("{lines} lines in {files} files, more than {LINES} in more than {FILES}"))
    } else if has(Work::Structural) && has(Work::Runtime) {
        Some("structural work mixed with changed behaviour".to_string())
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
