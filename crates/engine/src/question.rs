//! The context of a gate: what led to the question, and which files the work will touch.

use crate::artifacts::{self, content};
use crate::pinned::Pinned;
use crate::ticket;
use remand_contract::schema::words::ReportedRisk;
use remand_kernel::ids::FlagId;
use remand_kernel::signal::Failure;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{DispatchRow, GateKind, GateRow};
use remand_ledger::{LedgerError, Reader};

/// The context of a gate, as lines.
pub fn context(reader: &Reader, gate: &GateRow) -> Result<Vec<String>, LedgerError> {
    let mut lines: Vec<String> = reader
        .notes(&gate.run)?
        .into_iter()
        .filter(|note| note.seq == gate.seq && is_relevant(note.kind))
        .map(|note| note.text)
        .collect();
    lines.extend(amendment(reader, gate)?);
    lines.extend(summaries(&reader.dispatches(&gate.run)?, gate));
    lines.extend(red_files(reader, gate)?);
    lines.extend(findings(reader, gate)?);
    lines.extend(flags(reader, gate)?);
    Ok(lines.iter().map(|line| remand_notation::clean(line).replace('\n', " ")).collect())
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
fn findings(reader: &Reader, gate: &GateRow) -> Result<Vec<String>, LedgerError> {
    let mut lines = Vec::new();
    for row in reader.artifacts(&gate.run)?.iter().filter(|row| row.seq == gate.seq && row.format == "yaml") {
        let Some(report) = ticket::report(&content(reader, row.blob)?) else { continue };
        let change = &report.proposed_change;
        let cap = Pinned::of(reader, &gate.run)?.map_or(0, |pinned| ticket::cap(&pinned.program));
        lines.extend([
            format!("trigger: {}", ticket::trigger(report.trigger)),
            format!("classification: {}: {}", ticket::category(report.category), report.category_rationale.0),
            format!("root cause: {}: {}", report.root_cause.section.0, report.root_cause.assumption.0),
            format!("evidence: {}", report.root_cause.evidence.0),
            format!("proposed change: {} ({})", change.approach.text.0, change.scope.0),
            format!("revision: {} of {cap}", report.revision),
        ]);
        lines.extend(ticket::checklist(&report).map(|(item, text)| format!("check: {item}: {text}")));
        if gate.withheld.iter().any(|option| option.exhausted.is_some()) {
            lines.push(format!("all {cap} revisions are used: re-scope the ticket"));
        }
    }
    Ok(lines)
}

/// The flags that an answer can set.
fn flags(reader: &Reader, gate: &GateRow) -> Result<Vec<String>, LedgerError> {
    let Some(Pinned { program, .. }) = Pinned::of(reader, &gate.run)? else { return Ok(Vec::new()) };
    let phase_at_gate = program.phase_named(&gate.phase).filter(|_| gate.kind == GateKind::Phase);
    let flags = phase_at_gate.map(|phase| program.phase(phase).sets.clone()).unwrap_or_default();
    let name = |flag: &FlagId| &program.flags[flag.index()];
    Ok(flags.iter().map(|flag| format!("`--set {0}` sets {0}; without it, {0} is off", name(flag))).collect())
}

/// The files whose risk is red, if the gate is about the plan.
fn red_files(reader: &Reader, gate: &GateRow) -> Result<Vec<String>, LedgerError> {
    let versions = reader.artifact_versions(&gate.run, "plan")?;
    let Some(plan) = versions.iter().filter(|row| row.seq == gate.seq).max_by_key(|row| row.version) else {
        return Ok(Vec::new());
    };
    let mut lines = Vec::new();
    for entry in artifacts::tasks(&content(reader, plan.blob)?) {
        let red = entry.task.files.iter().filter(|file| file.risk == ReportedRisk::Red);
        lines.extend(red.map(|file| format!("red: {} ({})", file.path.0, entry.task.id)));
    }
    Ok(lines)
}
