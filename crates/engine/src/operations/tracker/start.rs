//! `start-issue`: sets the issue to In Progress in its file, the README and its parent's list.

use super::super::Done;
use super::account::{Account, others};
use crate::site::{Job, Trouble};
use crate::tracker::Edit;
use remand_documents::tracker::TrackerStatus;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut account = Account::of(job)?;
    let Some(issue) = account.base.issue(&account.issue) else {
        return Ok(Done::saying("not-found"));
    };
    let is_in_progress = issue.status() == Some(TrackerStatus::InProgress);
    let mut done = Done::saying("started");
    if !is_in_progress {
        let others = others(job, &job.site.reader()?)?;
        account.add(Edit::Move { issue: account.issue.clone(), to: TrackerStatus::InProgress, others });
    }
    account.keep(job, &mut done)?;
    let tracker = account.tracker();
    let text = tracker.issue(&account.issue).map(|issue| issue.text().to_string()).unwrap_or_default();
    done.keep(job, &job.program.subject, "md", &text);
    Ok(done)
}
