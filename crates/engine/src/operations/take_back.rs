//! `take-back`: reverts the changes of tasks that did not pass, and keeps the work of the others.

use super::Done;
use crate::row_names::REVERT;
use crate::site::{Job, Trouble};
use remand_checks::{CheckEnd, CheckResult, Occasion};
use remand_kernel::evidence::RowPhase;
use remand_kernel::step::tasks_to_give_up;
use remand_ledger::fact::{Check, NoteKind};
use remand_ledger::query::CheckFilter;

/// The result if the tree has the content of the base again.
const NOTHING_LEFT: &str = "nothing-left";

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let tasks = tasks_to_give_up(&job.program, &job.state);
    let names: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let reverted_state = {
        let _main = job.site.hold_main();
        job.trees.undo_tasks(&names, &job.id.to_string())?
    };
    let is_empty = reverted_state.state.tree == job.trees.base_tree()?;
    // A run of an earlier version may have a workflow without a route for this result.
    let mut done =
        Done::with_signal(if is_empty && has_route(job, NOTHING_LEFT) { NOTHING_LEFT } else { "reverted" });
    for path in &reverted_state.overwritten {
        let text = format!(
            "`{}` was reset to the base, because the change could not be reverted separately",
            path.display()
        );
        done.note(NoteKind::Warning, text);
    }
    let rows = job.site.reader()?.checks(&job.site.run, CheckFilter::default())?;
    let last_iteration = |task: &str| {
        let of_task =
            rows.iter().filter(|row| row.task.as_deref() == Some(task) && row.phase == RowPhase::After);
        of_task.map(|row| row.iteration).max().unwrap_or(1)
    };
    done.facts.checks = tasks.iter().map(|task| revert_check(task, last_iteration(task))).collect();
    done.report.wrote.push(("code".to_string(), reverted_state.state.tree.digest()));
    Ok(done)
}

fn has_route(job: &Job, result: &str) -> bool {
    let phase = job.program.phase_named(job.phase());
    let signal = job.program.signal_named(result);
    phase.zip(signal).is_some_and(|(phase, signal)| job.program.phase(phase).route(signal).is_some())
}

/// The evidence that the change of a task was reverted.
fn revert_check(task: &str, iteration: u32) -> Check {
    let reason = "the task did not pass".to_string();
    let result = CheckResult {
        tool: "git".to_string(),
        snippet: "the change of this task was reverted".to_string(),
        ..CheckResult::of_engine(&format!("{REVERT}{task}"), None, CheckEnd::Failed, reason)
    };
    let occasion = Occasion { task: Some(task.to_string()), phase: RowPhase::After, round: 1, iteration };
    occasion.fact(&result)
}
