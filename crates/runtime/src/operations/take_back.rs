//! `take-back`: the changes of tasks that did not get through are undone, and others' work is kept (EP-20).

use super::Done;
use crate::workshop::{Job, Trouble};
use remand_kernel::evidence::RowPhase;
use remand_kernel::step::given_up;
use remand_ledger::fact::{Check, NoteKind};
use remand_ledger::query::CheckFilter;

/// How the row of evidence on a task begins whose change was taken back.
pub const REVERT: &str = "revert-";

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let tasks = given_up(&job.program, &job.state);
    let names: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let taken = {
        let _main = job.site.hold_main();
        job.trees.take_back(&names, &job.id.to_string())?
    };
    let mut done = Done::saying("reverted");
    for path in &taken.overwritten {
        let text = format!(
            "`{}` is back to what it was at the base: it could not be undone otherwise",
            path.display()
        );
        done.note(NoteKind::Warning, text);
    }
    let rows = job.site.reader()?.checks(&job.site.run, CheckFilter::default())?;
    let latest = |task: &str| {
        let of_task =
            rows.iter().filter(|row| row.task.as_deref() == Some(task) && row.phase == RowPhase::After);
        of_task.map(|row| row.iteration).max().unwrap_or(1)
    };
    done.facts.checks = tasks.iter().map(|task| reverted(task, latest(task))).collect();
    done.report.wrote.push(("code".to_string(), taken.state.tree.digest()));
    Ok(done)
}

fn reverted(task: &str, iteration: u32) -> Check {
    Check {
        task: Some(task.to_string()),
        phase: RowPhase::After,
        name: format!("{REVERT}{task}"),
        tool: "git".to_string(),
        command: None,
        exit_code: None,
        snippet: "the change of this task was taken back".to_string(),
        output: None,
        passed: false,
        verdict: None,
        severity: None,
        round: 1,
        tier: None,
        iteration,
        collected: None,
        duration_ms: 0,
        reason: "the task did not get through".to_string(),
        tests: None,
        reuse: None,
    }
}
