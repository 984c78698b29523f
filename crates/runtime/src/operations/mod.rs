//! What the engine does itself, one operation a file. Each gets a job and gives back an ending.

mod baseline;
mod begun;
mod bundle;
mod checking;
mod claims;
mod commit;
mod cosmetic;
mod hand_over;
mod integrity;
mod log_defects;
mod look_back;
mod manifest;
mod merge;
mod prepare;
mod record_approach;
mod rounds;
mod take_back;
mod task_fix;
mod test_first;
mod tiers;
mod tracker;
mod verify;

pub(crate) use merge::MERGED;
pub(crate) use take_back::REVERT;

use crate::host::Ending;
use crate::workshop::{Job, Trouble};
use remand_kernel::event::Usage;
use remand_kernel::finding::{Category, Finding, FindingKind, Place, Severity};
use remand_kernel::{Outcome, Report};
use remand_ledger::fact::{Note, NoteKind};
use remand_ledger::{Blob, Facts};
use std::path::PathBuf;
use std::time::Instant;

/// Carries one operation out, for a task where it is about one.
type Operation = fn(&Job, Option<&str>) -> Result<Done, Trouble>;

/// The operations by the names that workflows use.
const OPERATIONS: &[(&str, Operation)] = &[
    ("prepare", |job, _| prepare::run(job)),
    ("sanity", |job, _| tracker::sanity(job)),
    ("baseline", |job, _| baseline::run(job)),
    ("quick-checks", verify::quick),
    ("checks", verify::cascade),
    ("integrate", |job, _| verify::integrate(job)),
    ("check-stubs", |job, _| test_first::stubs(job)),
    ("verify-red", |job, _| test_first::red(job)),
    ("entry-check", |job, _| test_first::entry(job)),
    ("merge", merge::run),
    ("take-back", |job, _| take_back::run(job)),
    ("look-back", |job, _| look_back::run(job)),
    ("record-approach", |job, _| record_approach::run(job)),
    ("bundle", |job, _| bundle::run(job)),
    ("commit", |job, _| commit::run(job)),
    ("hand-over", |job, _| hand_over::run(job)),
    ("start-issue", |job, _| tracker::start(job)),
    ("file-sub-issues", |job, _| tracker::file(job)),
    ("write-manifest", |job, _| manifest::run(job)),
    ("write-task-fix", |job, _| task_fix::run(job)),
    ("apply-cosmetic", |job, _| cosmetic::run(job)),
    ("close-issue", |job, _| tracker::close(job)),
    ("comment-issue", |job, _| tracker::comment(job)),
    ("back-to-todo", |job, _| tracker::back_to_todo(job)),
    ("discard-work-tree", |job, _| tracker::discard(job)),
    ("log-defects", |job, _| log_defects::run(job)),
    ("open-board", |job, _| rounds::open_board(job)),
    ("assign-gaps", |job, _| rounds::assign_gaps(job)),
    ("block-external", |job, _| rounds::block_external(job)),
    ("close-round", |job, _| rounds::close_round(job)),
    ("add-gaps", |job, _| rounds::add_gaps(job)),
    ("narrow-gaps", |job, _| rounds::narrow_gaps(job)),
    ("accept-complexity", |job, _| rounds::accept_complexity(job)),
    ("record-decision", |job, _| rounds::record_decision(job)),
    ("keep-best", |job, _| rounds::keep_best(job)),
    ("write-spec", |job, _| rounds::write_spec(job)),
    ("write-draft", |job, _| rounds::write_draft(job)),
];

/// Tells whether this version can carry out an operation.
pub fn is_available(name: &str) -> bool {
    OPERATIONS.iter().any(|(known, _)| *known == name)
}

/// What an operation has to say.
#[derive(Debug, Default)]
struct Done {
    report: Report,
    facts: Facts,
    blobs: Vec<Blob>,
}

/// Carries an operation out.
pub fn carry_out(job: &Job, name: &str, task: Option<&str>) -> Result<Ending, Trouble> {
    // Only failures of the environment are tried again, and these go away with time or not at all.
    if let Some(failures) = job.id.attempt.checked_sub(1).filter(|failures| *failures > 0) {
        job.back_off(failures, None)?;
    }
    let started = Instant::now();
    let Some((_, operation)) = OPERATIONS.iter().find(|(known, _)| *known == name) else {
        return Err(Trouble::denied(format!("this version cannot carry out the operation `{name}`")));
    };
    let done = operation(job, task)?;
    let time = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Ending {
        outcome: Outcome::Said(Box::new(done.report)),
        usage: Usage { money: Some(0), tokens: Some(0), time, ..Usage::default() },
        facts: done.facts,
        blobs: done.blobs,
    })
}

/// A folder that is thrown away, empty whatever an earlier process left in it.
fn scratch(job: &Job) -> Result<PathBuf, Trouble> {
    let folder = job.site.folder().join("scratch").join(job.id.to_string());
    crate::git::remove(&folder)?;
    crate::home::private_folder(&folder)?;
    Ok(folder)
}

impl Done {
    fn saying(says: &str) -> Done {
        Done { report: Report::saying(says), ..Done::default() }
    }

    fn note(&mut self, kind: NoteKind, text: impl Into<String>) {
        self.facts.notes.push(Note { kind, text: text.into(), files: Vec::new(), blob: None });
    }
}

/// The findings that this operation is about: those that were sent to its phase, and those that travel along.
fn addressed(job: &Job) -> Vec<&Finding> {
    let sent = job.state.inbox.get(job.id.phase.index()).into_iter().flatten();
    let mut at: Vec<u32> = sent.chain(&job.state.main.carried).copied().collect();
    at.sort_unstable();
    at.dedup();
    at.into_iter().filter_map(|at| job.state.findings.get(at as usize)).map(|filed| &filed.finding).collect()
}

/// A defect that the engine itself found.
fn finding(id: String, task: Option<&str>, claim: String, evidence: String) -> Finding {
    Finding {
        id,
        severity: Severity::Major,
        category: Category::Correctness,
        kind: Some(FindingKind::Production),
        injected_by: Vec::new(),
        task: task.map(str::to_string),
        place: Place::default(),
        claim,
        evidence,
        impact: String::new(),
        recommendation: String::new(),
        patch: None,
        repeats: None,
    }
}
