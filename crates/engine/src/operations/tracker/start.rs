//! `start-issue`: sets the issue to In Progress in its file, the README and its parent's list.

use super::super::Done;
use super::run_tracker::{RunTracker, issues_of_other_runs};
use crate::site::{Job, Trouble};
use crate::tracker::Edit;
use remand_documents::tracker::TrackerStatus;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut run_tracker = RunTracker::of(job)?;
    let Some(issue) = run_tracker.base.issue(&run_tracker.issue) else {
        return Ok(Done::with_signal("not-found"));
    };
    let is_in_progress = issue.status() == Some(TrackerStatus::InProgress);
    let mut done = Done::with_signal("started");
    if !is_in_progress {
        let others = issues_of_other_runs(job, &job.site.reader()?)?;
        run_tracker.add(Edit::Move {
            issue: run_tracker.issue.clone(),
            to: TrackerStatus::InProgress,
            others,
        });
    }
    run_tracker.save(job, &mut done)?;
    let tracker = run_tracker.tracker();
    let text = tracker.issue(&run_tracker.issue).map(|issue| issue.text().to_string()).unwrap_or_default();
    done.add_artifact(job, &job.program.subject, "md", &text);
    Ok(done)
}
