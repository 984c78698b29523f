//! `sanity`: everything that must stop a run on an issue before anybody is paid, each with its remedy (OT-01).

use super::super::Done;
use super::account::Account;
use crate::git::Hygiene;
use crate::workshop::{Job, Trouble};
use remand_documents::tracker::{FOLDER, Issue, Reference, Status, Tracker};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let reasons = reasons(job)?;
    let mut done = Done::saying(if reasons.is_empty() { "clean" } else { "refused" });
    for reason in reasons {
        done.note(NoteKind::Concern, reason);
    }
    Ok(done)
}

fn reasons(job: &Job) -> Result<Vec<String>, Trouble> {
    let account = Account::of(job)?;
    let mut reasons = of_checkout(job)?;
    let id = &account.issue;
    match account.base.issue(id) {
        None => reasons.push(format!(
            "there is no {FOLDER}/{id}.md in the commit that the run starts from; write it, or `remand issues new`, and commit it"
        )),
        Some(issue) => reasons.extend(of_issue(job, issue, &account.base)?),
    }
    Ok(reasons)
}

/// What the checkout must be like: what is not committed would be missed, or be in the way later.
fn of_checkout(job: &Job) -> Result<Vec<String>, Trouble> {
    let mut reasons = Vec::new();
    for seen in job.site.repository().hygiene(job.site.trees.base())? {
        match seen {
            Hygiene::Dirty { .. } => {
                reasons.push(format!("{seen}; commit or stash it, since a run starts from a commit"));
            }
            Hygiene::DetachedHead => {
                reasons.push(format!("{seen}; go to a branch with `git switch BRANCH`"));
            }
            Hygiene::InProgress { .. } => reasons.push(format!("{seen}; end it, or give it up")),
            Hygiene::OnDefaultBranch { .. }
            | Hygiene::Submodules { .. }
            | Hygiene::Lfs { .. }
            | Hygiene::SparseCheckout
            | Hygiene::ShallowClone => {}
        }
    }
    let branch = job.trees.branch();
    if job.site.repository().head()?.branch.as_deref() == Some(branch.as_str()) {
        reasons.push(format!(
            "{branch} is checked out; go to the branch that the work is for with `git switch BRANCH`"
        ));
    }
    if job.trees.tip()?.commit != *job.trees.base() {
        reasons.push(format!(
            "{branch} exists already; delete it with `git branch -D {branch}`, or start another run"
        ));
    }
    Ok(reasons)
}

fn of_issue(job: &Job, issue: &Issue, tracker: &Tracker) -> Result<Vec<String>, Trouble> {
    let id = issue.id();
    let mut reasons = Vec::new();
    match issue.status() {
        Some(Status::Done) => {
            reasons.push(format!("{id} is Done already; set its status back if there is more to do"));
        }
        Some(Status::Todo | Status::InProgress) => {}
        None => reasons.push(format!(
            "{id} has no status that is known; write `status: Todo` into the front matter of {FOLDER}/{id}.md"
        )),
    }
    for written in issue.unread_references(Reference::DependsOn) {
        reasons.push(format!(
            "{id} depends on `{written}`, which is no id of an issue; correct `depends-on` in {FOLDER}/{id}.md"
        ));
    }
    for on in issue.depends_on() {
        match tracker.issue(&on).map(|other| other.status()) {
            Some(Some(Status::Done)) => {}
            Some(Some(status @ (Status::Todo | Status::InProgress))) => reasons.push(format!(
                "{id} depends on {on}, which is {status} in the base; run `remand run --issue {on}` first, and merge it"
            )),
            Some(None) => reasons.push(format!("{id} depends on {on}, which has no status; correct {FOLDER}/{on}.md")),
            None => reasons.push(format!(
                "{id} depends on {on}, which does not exist; correct `depends-on` in {FOLDER}/{id}.md"
            )),
        }
    }
    if let Some(run) = issue.value("needs-run")
        && !job.site.repository().holds_run(job.trees.base(), run)?
    {
        reasons.push(format!(
            "{id} needs the work of run {run}, which is not in the base; merge its branch with `git merge remand/{run}`"
        ));
    }
    Ok(reasons)
}
