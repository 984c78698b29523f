//! `sanity`: finds every reason not to start a run on the issue, each with a remedy.

use super::super::Done;
use super::run_tracker::RunTracker;
use crate::checkout;
use crate::site::{Job, Trouble};
use remand_documents::tracker::{FOLDER, Reference, Tracker, TrackerIssue, TrackerStatus};
use remand_ledger::fact::{CheckoutFinding, CheckoutFindingKind, NoteKind};

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let reasons = reasons(job)?;
    let mut done = Done::with_signal(if reasons.is_empty() { "clean" } else { "refused" });
    for reason in reasons {
        done.note(NoteKind::Concern, reason);
    }
    Ok(done)
}

fn reasons(job: &Job) -> Result<Vec<String>, Trouble> {
    let run_tracker = RunTracker::of(job)?;
    let mut reasons = checkout_problems(job)?;
    let id = &run_tracker.issue;
    match run_tracker.base.issue(id) {
        None => reasons.push(format!(
            "there is no {FOLDER}/{id}.md in the commit that the run starts from; write it or create it with `remand issues new`, and commit it"
        )),
        Some(issue) => reasons.extend(issue_problems(job, issue, &run_tracker.base)?),
    }
    Ok(reasons)
}

/// Problems of the checkout. For example, the run would lack uncommitted work, which could conflict with it later.
fn checkout_problems(job: &Job) -> Result<Vec<String>, Trouble> {
    let mut reasons = Vec::new();
    let facts = checkout::facts_of(&job.site)?;
    for CheckoutFinding { kind, text } in facts.findings {
        match kind {
            CheckoutFindingKind::Dirty => {
                reasons.push(format!(
                    "{text}; commit or stash your changes, because a run starts from a commit"
                ));
            }
            CheckoutFindingKind::DetachedHead => {
                reasons.push(format!("{text}; switch to a branch with `git switch BRANCH`"));
            }
            CheckoutFindingKind::InProgress => reasons.push(format!("{text}; finish or abort it")),
            CheckoutFindingKind::OnDefaultBranch
            | CheckoutFindingKind::Submodules
            | CheckoutFindingKind::Lfs
            | CheckoutFindingKind::SparseCheckout
            | CheckoutFindingKind::ShallowClone => {}
        }
    }
    let branch = job.trees.branch();
    if facts.branch.as_deref() == Some(branch.as_str()) {
        reasons.push(format!(
            "{branch} is checked out; switch to the branch that the work is for with `git switch BRANCH`"
        ));
    }
    if job.trees.tip()?.commit != *job.trees.base() {
        reasons.push(format!(
            "{branch} already exists; delete it with `git branch -D {branch}`, or start another run"
        ));
    }
    Ok(reasons)
}

fn issue_problems(job: &Job, issue: &TrackerIssue, tracker: &Tracker) -> Result<Vec<String>, Trouble> {
    let id = issue.id();
    let mut reasons = Vec::new();
    match issue.status() {
        Some(TrackerStatus::Done) => {
            reasons.push(format!("{id} is already Done; set its status back to Todo if there is more to do"));
        }
        Some(TrackerStatus::Todo | TrackerStatus::InProgress) => {}
        None => reasons.push(format!(
            "{id} has no known status; write `status: Todo` into the front matter of {FOLDER}/{id}.md"
        )),
    }
    for written in issue.invalid_references(Reference::DependsOn) {
        reasons.push(format!(
            "{id} depends on `{written}`, which is not an issue id; correct `depends-on` in {FOLDER}/{id}.md"
        ));
    }
    for dependency in issue.depends_on() {
        match tracker.issue(&dependency).map(|other| other.status()) {
            Some(Some(TrackerStatus::Done)) => {}
            Some(Some(status @ (TrackerStatus::Todo | TrackerStatus::InProgress))) => reasons.push(format!(
                "{id} depends on {dependency}, which is {status} in the base; run `remand run --issue {dependency}` first, and merge it"
            )),
            Some(None) => reasons.push(format!("{id} depends on {dependency}, which has no status; correct {FOLDER}/{dependency}.md")),
            None => reasons.push(format!(
                "{id} depends on {dependency}, which does not exist; correct `depends-on` in {FOLDER}/{id}.md"
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
