//! What a person needs to know to answer a gate: what led to it, and what the work will touch (EP-12).

use crate::dispatch::document;
use crate::papers;
use crate::pinned::Pinned;
use remand_kernel::ids::FlagId;
use remand_kernel::signal::Failure;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{DispatchRow, GateKind, GateRow};
use remand_ledger::{LedgerError, Reader};
use serde_json::Value;

/// The context of a gate, a line each.
pub fn context(reader: &Reader, gate: &GateRow) -> Result<Vec<String>, LedgerError> {
    let mut lines: Vec<String> = reader
        .notes(&gate.run)?
        .into_iter()
        .filter(|note| note.seq == gate.seq && matters(note.kind))
        .map(|note| note.text)
        .collect();
    lines.extend(amended(reader, gate)?);
    lines.extend(summaries(&reader.dispatches(&gate.run)?, gate));
    lines.extend(red_files(reader, gate)?);
    lines.extend(findings(reader, gate)?);
    lines.extend(flags(reader, gate)?);
    Ok(lines.iter().map(|line| crate::contract::clean(line).replace('\n', " ")).collect())
}

/// What was said at earlier gates to change what the run is about.
fn amended(reader: &Reader, gate: &GateRow) -> Result<Option<String>, LedgerError> {
    let subject = reader.run(&gate.run.0)?.subject;
    let versions = reader.artifact_versions(&gate.run, &subject)?;
    let ([first, ..], Some(last)) = (versions.as_slice(), versions.last()) else { return Ok(None) };
    let (first, last) = (reader.blob(first.blob)?, reader.blob(last.blob)?);
    let more =
        last.strip_prefix(first.as_slice()).map(|more| String::from_utf8_lossy(more).trim().to_string());
    Ok(more.filter(|more| !more.is_empty()).map(|more| format!("{subject} as amended by you: {more}")))
}

/// Notes that came with the event that opened the gate, of a kind that people decide by.
fn matters(kind: NoteKind) -> bool {
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

/// What the phase before the gate has to say of its work.
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
            let told = match row.failure.as_deref() == Some(Failure::OverBudget.name()) {
                true => format!("stopped at the limit on {summary}; whoever goes on begins anew"),
                false => summary.to_string(),
            };
            Some(format!("{}{item}: {told}", row.role))
        })
        .collect()
}

/// What is said of a design that does not work, where the gate is about revising it (DR-09).
fn findings(reader: &Reader, gate: &GateRow) -> Result<Vec<String>, LedgerError> {
    let mut lines = Vec::new();
    for row in reader.artifacts(&gate.run)?.iter().filter(|row| row.seq == gate.seq && row.format == "yaml") {
        let stored = String::from_utf8_lossy(&reader.blob(row.blob)?).into_owned();
        let Some(report) = papers::typed(&stored) else { continue };
        let change = &report.proposed_change;
        let cap = Pinned::of(reader, &gate.run)?.map_or(0, |pinned| papers::cap(&pinned.program));
        lines.extend([
            format!("trigger: {}", papers::trigger(report.trigger)),
            format!("classification: {}: {}", papers::category(report.category), report.category_rationale.0),
            format!("root cause: {}: {}", report.root_cause.section.0, report.root_cause.assumption.0),
            format!("evidence: {}", report.root_cause.evidence.0),
            format!("proposed change: {} ({})", change.approach.text.0, change.scope.0),
            format!("revision: {} of {cap} at most", report.revision),
        ]);
        lines.extend(papers::checklist(&report).map(|(item, words)| format!("check: {item}: {words}")));
        if gate.withheld.iter().any(|option| option.exhausted.is_some()) {
            lines.push(format!("all {cap} revisions are used up: the ticket needs re-scoping"));
        }
    }
    Ok(lines)
}

/// What can be said besides the answer.
fn flags(reader: &Reader, gate: &GateRow) -> Result<Vec<String>, LedgerError> {
    let Some(Pinned { program, .. }) = Pinned::of(reader, &gate.run)? else { return Ok(Vec::new()) };
    let asked = program.phase_named(&gate.phase).filter(|_| gate.kind == GateKind::Phase);
    let flags = asked.map(|phase| program.phase(phase).sets.clone()).unwrap_or_default();
    let name = |flag: &FlagId| &program.flags[flag.index()];
    Ok(flags.iter().map(|flag| format!("with `--set {0}`: yes to {0}; without it: no", name(flag))).collect())
}

/// The red files of the plan, where the gate is about it.
fn red_files(reader: &Reader, gate: &GateRow) -> Result<Vec<String>, LedgerError> {
    let versions = reader.artifact_versions(&gate.run, "plan")?;
    let Some(plan) = versions.iter().filter(|row| row.seq == gate.seq).max_by_key(|row| row.version) else {
        return Ok(Vec::new());
    };
    let text = String::from_utf8_lossy(&reader.blob(plan.blob)?).into_owned();
    let tasks = document(&text).and_then(|plan| plan.pointer("/payload/tasks")?.as_array().cloned());
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    Ok(tasks
        .unwrap_or_default()
        .iter()
        .flat_map(|task| {
            let files = task.get("files").and_then(Value::as_array).cloned().unwrap_or_default();
            let red = files.into_iter().filter(|file| text(file, "risk") == "red");
            red.map(|file| format!("red: {} ({})", text(&file, "path"), text(task, "id"))).collect::<Vec<_>>()
        })
        .collect())
}
