//! The operations: work that the engine does itself. Each has its own file.

mod baseline;
mod bundle;
mod checking;
mod claims;
mod commit;
mod cosmetic;
mod focus_areas;
mod hand_over;
mod instructions;
mod integrity;
mod log_defects;
mod look_back;
mod manifest;
mod measurement;
mod merge;
mod names;
mod old_tests;
mod other_build;
mod planned;
mod prepare;
mod proving;
mod record_approach;
mod red_results;
mod rounds;
mod sides;
mod take_back;
mod take_change;
mod task_baseline;
mod task_fix;
mod test_first;
mod tested_change;
mod tiers;
mod tracker;
mod verify;

pub use crate::row_names::{OLD_TESTS, PROOF};

use crate::site::{Job, Trouble};
use crate::turn::CommandEnding;
use remand_git::TreeId;
use remand_kernel::event::Usage;
use remand_kernel::finding::{Category, Finding, FindingKind, Location, Severity};
use remand_kernel::{EngineOperation, Outcome, Report};
use remand_ledger::fact::{Artifact, Note, NoteKind};
use remand_ledger::query::GateRow;
use remand_ledger::{Blob, Facts, Reader};
use std::time::Instant;

/// The result of an operation.
#[derive(Debug, Default)]
struct Done {
    report: Report,
    facts: Facts,
    blobs: Vec<Blob>,
}

/// Runs one operation.
pub fn operate(job: &Job, operation: EngineOperation, task: Option<&str>) -> Result<CommandEnding, Trouble> {
    let started = Instant::now();
    let done = perform(job, operation, task)?;
    let time = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(CommandEnding {
        outcome: Outcome::Said(Box::new(done.report)),
        usage: Usage { money: Some(0), tokens: Some(0), time, ..Usage::default() },
        facts: done.facts,
        blobs: done.blobs,
    })
}

/// The files that differ between two trees.
fn changed_files(job: &Job, before: &TreeId, after: &TreeId) -> Result<Vec<String>, Trouble> {
    let changed = job.site.repository().changed(before, after)?;
    Ok(changed.into_iter().map(|change| change.path.display().to_string()).collect())
}

fn perform(job: &Job, operation: EngineOperation, task: Option<&str>) -> Result<Done, Trouble> {
    match operation {
        EngineOperation::Prepare => prepare::run(job),
        EngineOperation::Sanity => tracker::sanity(job),
        EngineOperation::FocusAreas => focus_areas::run(job),
        EngineOperation::Baseline => baseline::run(job),
        EngineOperation::TakeChange => take_change::run(job),
        EngineOperation::QuickChecks => verify::quick(job, task),
        EngineOperation::Checks => verify::all(job, task),
        EngineOperation::Integrate => verify::integrate(job),
        EngineOperation::CheckStubs => test_first::stubs(job),
        EngineOperation::VerifyRed => test_first::red(job),
        EngineOperation::EntryCheck => test_first::entry(job),
        EngineOperation::Merge => merge::run(job, task),
        EngineOperation::TakeBack => take_back::run(job),
        EngineOperation::LookBack => look_back::run(job),
        EngineOperation::RecordApproach => record_approach::run(job),
        EngineOperation::ProposeInstructions => instructions::propose(job),
        EngineOperation::ApproveInstructions => instructions::approve(job),
        EngineOperation::Bundle => bundle::run(job),
        EngineOperation::Commit => commit::run(job),
        EngineOperation::HandOver => hand_over::run(job),
        EngineOperation::StartIssue => tracker::start(job),
        EngineOperation::FileSubIssues => tracker::file(job),
        EngineOperation::WriteManifest => manifest::run(job),
        EngineOperation::WriteTaskFix => task_fix::run(job),
        EngineOperation::ApplyCosmetic => cosmetic::run(job),
        EngineOperation::CloseIssue => tracker::close(job),
        EngineOperation::CommentIssue => tracker::comment(job),
        EngineOperation::BackToTodo => tracker::back_to_todo(job),
        EngineOperation::DiscardWorkTree => tracker::discard(job),
        EngineOperation::LogDefects => log_defects::run(job),
        EngineOperation::OpenBoard => rounds::open_board(job),
        EngineOperation::AssignGaps => rounds::assign_gaps(job),
        EngineOperation::BlockExternal => rounds::block_external(job),
        EngineOperation::CloseRound => rounds::close_round(job),
        EngineOperation::AddGaps => rounds::add_gaps(job),
        EngineOperation::JudgeProgress => rounds::judge_progress(job),
        EngineOperation::NarrowGaps => rounds::narrow_gaps(job),
        EngineOperation::AcceptComplexity => rounds::accept_complexity(job),
        EngineOperation::RecordDecision => rounds::record_decision(job),
        EngineOperation::KeepBest => rounds::keep_best(job),
        EngineOperation::WriteSpec => rounds::write_spec(job),
        EngineOperation::WriteDraft => rounds::write_draft(job),
    }
}

impl Done {
    fn with_signal(signal: &str) -> Done {
        Done { report: Report::saying(signal), ..Done::default() }
    }

    /// Adds a document as an artifact, and reports it as written if the workflow lets the phase write it.
    fn add_artifact(&mut self, job: &Job, name: &str, format: &str, text: &str) {
        let blob = job.site.blob(text);
        let digest = blob.id.digest();
        self.facts.artifacts.push(Artifact {
            name: name.to_string(),
            part: String::new(),
            digest,
            blob: blob.id,
            by: job.phase().to_string(),
            format: format.to_string(),
        });
        self.blobs.push(blob);
        let phase = job.program.phase(job.id.phase);
        let writes = phase.writes.iter().any(|id| job.program.artifacts[id.index()] == name);
        if writes {
            self.report.wrote.push((name.to_string(), digest));
        }
    }

    fn note(&mut self, kind: NoteKind, text: impl Into<String>) {
        self.facts.notes.push(Note::new(kind, text));
    }
}

/// The gate that was answered last.
fn last_answer(job: &Job, reader: &Reader) -> Result<Option<GateRow>, Trouble> {
    Ok(reader.gates(&job.site.run)?.into_iter().rfind(|gate| gate.option.is_some()))
}

/// The findings that were sent to this operation's phase, and those that the main line carries.
fn addressed_findings(job: &Job) -> Vec<&Finding> {
    let sent = job.state.inbox.get(job.id.phase.index()).into_iter().flatten();
    let mut indexes: Vec<u32> = sent.chain(&job.state.main.carried).copied().collect();
    indexes.sort_unstable();
    indexes.dedup();
    let filed = indexes.into_iter().filter_map(|index| job.state.findings.get(index as usize));
    filed.map(|filed| &filed.finding).collect()
}

/// A major finding that the engine itself reports.
fn finding(id: String, task: Option<&str>, claim: String, evidence: String) -> Finding {
    Finding {
        id,
        severity: Severity::Major,
        category: Category::Correctness,
        kind: Some(FindingKind::Production),
        injected_by: Vec::new(),
        task: task.map(str::to_string),
        place: Location::default(),
        claim,
        evidence,
        impact: String::new(),
        recommendation: String::new(),
        patch: None,
        repeats: None,
    }
}
