//! `start-issue`: the issue is In Progress, in its file, the README and its parent's list (OT-03).

use super::super::Done;
use super::account::{Account, keep, others};
use crate::tracker::Edit;
use crate::workshop::{Job, Trouble};
use remand_documents::tracker::Status;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut account = Account::of(job)?;
    let Some(issue) = account.base.issue(&account.issue) else {
        return Ok(Done::saying("not-found"));
    };
    let is_begun = issue.status() == Some(Status::InProgress);
    let mut done = Done::saying("started");
    if !is_begun {
        let others = others(job, &job.site.reader()?)?;
        account.add(Edit::Move { issue: account.issue.clone(), to: Status::InProgress, others });
    }
    account.keep(job, &mut done)?;
    let tracker = account.tracker();
    let text = tracker.issue(&account.issue).map(|issue| issue.text().to_string()).unwrap_or_default();
    keep(job, &mut done, &job.program.subject, "md", &text);
    Ok(done)
}
