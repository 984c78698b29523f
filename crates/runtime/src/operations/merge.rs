//! `merge`: a task's change goes into the run's tree, or a conflict sends the task back (EP-14).

use super::{Done, finding};
use crate::dispatch::is_test;
use crate::git::Merge;
use crate::workshop::{Job, LaneTree, Trouble};
use remand_ledger::fact::NoteKind;

/// What it says where a task's change is part of the run's tree now.
pub const MERGED: &str = "merged";

pub fn run(job: &Job, task: Option<&str>) -> Result<Done, Trouble> {
    let task = task.ok_or_else(|| Trouble::denied("only the change of a task can be merged"))?;
    let lane = LaneTree::as_it_is(job)?;
    match lane.merge(job, task)? {
        Merge::Merged(_) => {
            let mut done = Done::saying(MERGED);
            if let Some(text) = untested(job, &lane, task)? {
                done.note(NoteKind::Warning, text);
            }
            Ok(done)
        }
        Merge::Conflict { paths } => {
            let mut done = Done::saying("conflict");
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            let claim = format!(
                "the change of {task} conflicts with what was merged before, in {}",
                paths.join(", ")
            );
            let mut conflict = finding(format!("merge-{task}"), Some(task), claim, String::new());
            conflict.place.file = paths.into_iter().next().unwrap_or_default();
            conflict.recommendation = "make the change again on the tree as it is now".to_string();
            done.report.findings.push(conflict);
            Ok(done)
        }
    }
}

/// A change to code that touches no test is pointed out to the reviewers.
fn untested(job: &Job, lane: &LaneTree, task: &str) -> Result<Option<String>, Trouble> {
    let base = job.site.repository().tree_of(&lane.base)?;
    let changes = job.site.repository().changed(&base, &lane.tree)?;
    let prose =
        |path: &std::path::Path| path.extension().is_some_and(|ending| ending == "md" || ending == "txt");
    let code = changes.iter().any(|change| !prose(&change.path));
    let tested = changes.iter().any(|change| is_test(&change.path));
    Ok((code && !tested).then(|| format!("the change of {task} touches no test")))
}
