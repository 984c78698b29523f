//! A gate for the human who answers it: what led to the question, the plan it asks about, what follows from each option.

mod counted;
mod implication;
mod plan;
mod rounds;

pub use plan::{FileLine, PlanOverview, RiskCounts, TaskLine};

use crate::artifacts::{self, content};
use crate::pinned::Pinned;
use crate::ticket;
use implication::Implications;
use remand_kernel::Program;
use remand_kernel::finding::Severity;
use remand_kernel::ids::FlagId;
use remand_kernel::program::{Phase, Work};
use remand_kernel::signal::{Failure, IMPLICIT, OSCILLATION};
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{DispatchRow, GateKind, GateRow};
use remand_ledger::{LedgerError, Reader};

/// Maximum number of lines of a patch that a gate shows.
const MAX_PATCH_LINES: usize = 200;

/// Everything that a human needs to answer a gate.
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    /// What led to the question, one line each.
    pub context: Vec<String>,
    /// The plan, if the gate asks about one.
    pub plan: Option<PlanOverview>,
    /// The artifacts that the gate asks about.
    pub documents: Vec<String>,
    /// What follows from each option, in the order of the gate's options.
    pub implications: Vec<String>,
    /// Milliseconds from the start of the run to the question.
    pub elapsed: u64,
}

impl ApprovalRequest {
    pub fn read(reader: &Reader, gate: &GateRow) -> Result<ApprovalRequest, LedgerError> {
        let pinned = Pinned::of(reader, &gate.run)?;
        let program = pinned.as_ref().map(|pinned| &pinned.program);
        let phase = program.and_then(|program| asking_phase(program, gate));
        let plan = match (program, phase) {
            (Some(program), Some(phase)) => plan(reader, gate, program, phase)?,
            (Some(_) | None, _) => None,
        };
        let mut lines: Vec<String> = reader
            .notes(&gate.run)?
            .into_iter()
            .filter(|note| note.seq == gate.seq && is_relevant(note.kind))
            .map(|note| note.text)
            .collect();
        lines.extend(
            pinned
                .as_ref()
                .map(|pinned| rounds::lines(reader, gate, pinned))
                .transpose()?
                .unwrap_or_default(),
        );
        lines.extend(amendment(reader, gate)?);
        lines.extend(summaries(&reader.dispatches(&gate.run)?, gate));
        lines.extend(plan.iter().flat_map(PlanOverview::lines));
        lines.extend(repeated_approach(reader, gate)?);
        lines.extend(findings(reader, gate, program)?);
        if gate.kind == GateKind::Origin {
            lines.extend(origins(reader, gate)?);
        }
        if let (Some(program), Some(phase)) = (program, phase) {
            lines.extend(patches(reader, gate, program, phase)?);
            lines.extend(flags(gate, program, phase));
        }
        let view = reader.run_view(&gate.run)?;
        let elapsed = gate.opened_at.0.saturating_sub(view.row.created_at.0);
        let implications = gate.options.iter().map(|option| match program {
            Some(program) => {
                Implications { program, detail: view.detail.as_ref(), plan: plan.as_ref() }.of(gate, option)
            }
            // A build that cannot read the workflow of the run still shows its words.
            None => option.action.clone().unwrap_or_else(|| implication::of_hold(option, gate)),
        });
        Ok(ApprovalRequest {
            context: lines.iter().map(|line| remand_notation::clean(line).replace('\n', " ")).collect(),
            documents: match (program, phase) {
                (Some(program), Some(phase)) => documents(reader, gate, program, phase)?,
                (Some(_) | None, _) => Vec::new(),
            },
            implications: implications.collect(),
            elapsed: u64::try_from(elapsed).unwrap_or(0),
            plan,
        })
    }
}

/// The phase of the workflow that asks; `None` for a hold.
fn asking_phase<'p>(program: &'p Program, gate: &GateRow) -> Option<&'p Phase> {
    let phase = program.phase_named(&gate.phase).filter(|_| gate.kind == GateKind::Phase)?;
    Some(program.phase(phase))
}

/// The plan that the gate reads, if its tasks are the items of a sub-flow.
fn plan(
    reader: &Reader,
    gate: &GateRow,
    program: &Program,
    phase: &Phase,
) -> Result<Option<PlanOverview>, LedgerError> {
    let at_once = program.phases.iter().find_map(|phase| match &phase.work {
        Work::Flow { at_once, .. } => Some(*at_once),
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Operation { .. }
        | Work::Ask { .. } => None,
    });
    let Some(at_once) = at_once else { return Ok(None) };
    for artifact in &phase.reads {
        let versions = reader.artifact_versions(&gate.run, &program.artifacts[artifact.index()])?;
        let Some(latest) = versions.iter().filter(|row| row.seq <= gate.seq).max_by_key(|row| row.version)
        else {
            continue;
        };
        let tasks = artifacts::tasks(&content(reader, latest.blob)?);
        if !tasks.is_empty() {
            return Ok(Some(PlanOverview::new(tasks, at_once)));
        }
    }
    Ok(None)
}

/// The artifacts that the asking phase reads, if the run has them.
fn documents(
    reader: &Reader,
    gate: &GateRow,
    program: &Program,
    phase: &Phase,
) -> Result<Vec<String>, LedgerError> {
    let mut names = Vec::new();
    for artifact in &phase.reads {
        let name = &program.artifacts[artifact.index()];
        if !reader.artifact_versions(&gate.run, name)?.is_empty() {
            names.push(name.clone());
        }
    }
    Ok(names)
}

/// The text that was added to the subject by answers at earlier gates.
fn amendment(reader: &Reader, gate: &GateRow) -> Result<Option<String>, LedgerError> {
    let subject = reader.run(&gate.run.0)?.subject;
    let versions = reader.artifact_versions(&gate.run, &subject)?;
    let ([first, ..], Some(last)) = (versions.as_slice(), versions.last()) else { return Ok(None) };
    let (first, last) = (reader.blob(first.blob)?, reader.blob(last.blob)?);
    let added =
        last.strip_prefix(first.as_slice()).map(|added| String::from_utf8_lossy(added).trim().to_string());
    Ok(added.filter(|added| !added.is_empty()).map(|added| format!("you added to the {subject}: {added}")))
}

/// Whether notes of this kind help a human to answer.
fn is_relevant(kind: NoteKind) -> bool {
    match kind {
        NoteKind::Concern
        | NoteKind::Warning
        | NoteKind::Unenforced
        | NoteKind::Degradation
        | NoteKind::Regression
        | NoteKind::Violation => true,
        NoteKind::Decision
        | NoteKind::Lesson
        | NoteKind::Proposal
        | NoteKind::Mapped
        | NoteKind::Interrupted => false,
    }
}

/// The summaries of the phase before the gate.
fn summaries(dispatches: &[DispatchRow], gate: &GateRow) -> Vec<String> {
    let before = |row: &&DispatchRow| row.seq < gate.seq;
    let Some(last) = dispatches.iter().filter(before).max_by_key(|row| row.seq) else {
        return Vec::new();
    };
    dispatches
        .iter()
        .filter(before)
        .filter(|row| row.phase == last.phase && row.visit == last.visit)
        .filter_map(|row| {
            let summary = row.summary.as_deref().filter(|summary| !summary.is_empty())?;
            let item = row.item.as_deref().map_or_else(String::new, |item| format!(" ({item})"));
            let text = match row.failure.as_deref() == Some(Failure::OverBudget.name()) {
                true => format!("stopped at the limit on {summary}; if you continue, it starts from scratch"),
                false => summary.to_string(),
            };
            Some(format!("{}{item}: {text}", row.role))
        })
        .collect()
}

/// The findings about the design, if the gate is about revising it.
fn findings(reader: &Reader, gate: &GateRow, program: Option<&Program>) -> Result<Vec<String>, LedgerError> {
    let mut lines = Vec::new();
    for row in reader.artifacts(&gate.run)?.iter().filter(|row| row.seq == gate.seq && row.format == "yaml") {
        let Some(report) = ticket::report(&content(reader, row.blob)?) else { continue };
        let change = &report.proposed_change;
        let cap = program.map_or(0, ticket::cap);
        let number = u16::try_from(report.revision).unwrap_or(u16::MAX);
        lines.extend([
            format!("trigger: {}", ticket::trigger(report.trigger)),
            format!("classification: {}: {}", ticket::category(report.category), report.category_rationale.0),
            format!("root cause: {}: {}", report.root_cause.section.0, report.root_cause.assumption.0),
            format!("evidence: {}", report.root_cause.evidence.0),
            format!("proposed change: {} ({})", change.approach.text.0, change.scope.0),
            format!("revision: {}", ticket::revision_count(number, cap)),
        ]);
        if report.oscillation.tried_before.answer {
            let words = &report.oscillation.tried_before.explanation.0;
            lines.push(format!("the findings say that this was tried before: {words}"));
        }
        let is_capped = gate.withheld.iter().any(|option| option.exhausted.is_some());
        let items = ticket::checklist(&report, number, cap)
            .into_iter()
            .filter(|item| !is_capped || item.applies_at_cap);
        lines.extend(items.map(|item| format!("check: {}: {}", item.title, item.statement)));
        if is_capped {
            lines.push(format!("all {cap} revisions are used: re-scope the ticket"));
        }
    }
    Ok(lines)
}

/// Which failed approach the proposal repeats, if a detector found that.
fn repeated_approach(reader: &Reader, gate: &GateRow) -> Result<Vec<String>, LedgerError> {
    let Some(before) = gate.seq.checked_sub(1) else { return Ok(Vec::new()) };
    let name = IMPLICIT[OSCILLATION.index()].0;
    let rulings = reader.rulings(&gate.run, before)?.into_iter();
    let detected = rulings.filter(|row| row.seq == gate.seq && row.ruling.signal == name);
    Ok(detected.map(|row| row.ruling.why).collect())
}

/// The proposed changes that the gate reads, line by line.
fn patches(
    reader: &Reader,
    gate: &GateRow,
    program: &Program,
    phase: &Phase,
) -> Result<Vec<String>, LedgerError> {
    let mut lines = Vec::new();
    for artifact in &phase.reads {
        let versions = reader.artifact_versions(&gate.run, &program.artifacts[artifact.index()])?;
        let patch = versions.iter().filter(|row| row.seq <= gate.seq && row.format == "diff");
        if let Some(latest) = patch.max_by_key(|row| row.version) {
            let text = content(reader, latest.blob)?;
            lines.extend(text.lines().take(MAX_PATCH_LINES).map(str::to_string));
            let left = text.lines().count().saturating_sub(MAX_PATCH_LINES);
            if left > 0 {
                lines.push(format!("and {left} more lines"));
            }
        }
    }
    Ok(lines)
}

/// The findings that wait to be sent back, with the phases that injected them.
fn origins(reader: &Reader, gate: &GateRow) -> Result<Vec<String>, LedgerError> {
    let findings = reader.findings(&gate.run)?.into_iter();
    let waiting = findings.filter(|row| row.seq == gate.seq && row.severity > Severity::Minor);
    Ok(waiting
        .map(|row| {
            let origin = match row.injected_by.is_empty() {
                true => "names no phase".to_string(),
                false => format!("injected by {}", row.injected_by.join(", ")),
            };
            format!("{} ({}), {origin}: {}", row.id, row.severity.name(), row.claim)
        })
        .collect())
}

/// The flags that an answer can set.
fn flags(gate: &GateRow, program: &Program, phase: &Phase) -> Vec<String> {
    // A flag matters only to a run that continues.
    let continues = phase.routes.iter().any(|(signal, route)| {
        gate.options.iter().any(|option| option.name == program.signal(*signal)) && !route.action.is_end()
    });
    if !continues {
        return Vec::new();
    }
    let name = |flag: &FlagId| &program.flags[flag.index()];
    let line = |flag| format!("`--set {0}` sets {0}; without it, {0} is off", name(flag));
    phase.sets.iter().map(line).collect()
}
