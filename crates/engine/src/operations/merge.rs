//! `merge`: merges a task's change into the run's tree, or sends the task back with the conflict.

use super::{Done, finding};
use crate::row_names::MERGED;
use crate::site::{Job, LaneTree, Trouble};
use remand_git::TaskMerge;
use remand_ledger::fact::NoteKind;
use remand_source::{is_prose, is_test_file};

pub fn run(job: &Job, task: Option<&str>) -> Result<Done, Trouble> {
    let task = task.ok_or_else(|| {
        Trouble::denied("only the change of a task can be merged; this operation has no task")
    })?;
    let lane = LaneTree::as_it_is(job)?;
    match lane.merge(job, task)? {
        TaskMerge::Merged(_) => {
            let mut done = Done::with_signal(MERGED);
            if let Some(text) = untested_warning(job, &lane, task)? {
                done.note(NoteKind::Warning, text);
            }
            Ok(done)
        }
        TaskMerge::Conflict { paths } => {
            let mut done = Done::with_signal("conflict");
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            let claim = format!("the change of {task} conflicts with earlier merges in {}", paths.join(", "));
            let mut conflict = finding(format!("merge-{task}"), Some(task), claim, String::new());
            conflict.place.file = paths.into_iter().next().unwrap_or_default();
            conflict.recommendation = "redo the change on the current tree".to_string();
            done.report.findings.push(conflict);
            Ok(done)
        }
    }
}

/// A warning for reviewers if a task changes code but no tests.
fn untested_warning(job: &Job, lane: &LaneTree, task: &str) -> Result<Option<String>, Trouble> {
    let base = job.site.repository().tree_of(&lane.base)?;
    let changes = job.site.repository().changed(&base, &lane.tree)?;
    let has_code = changes.iter().any(|change| !is_prose(&change.path));
    let has_tests = changes.iter().any(|change| is_test_file(&change.path));
    Ok((has_code && !has_tests).then(|| format!("the change of {task} touches no test")))
}
