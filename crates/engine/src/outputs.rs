//! The documents about a run that people read: results that no phase writes as an artifact, and the decisions log.

use crate::artifacts;
use crate::clock;
use crate::site::Trouble;
use remand_contract::pointers::{Documents, Pointer};
use remand_contract::schema::decision::DecisionRecord;
use remand_contract::schema::plan::PlannedTask;
use remand_contract::schema::words::ReportedSize;
use remand_contract::{AcceptedResult, SchemaId, decision_note, rendered_report, to_yaml};
use remand_kernel::evidence::{self, EvidenceRow, GateDemand, GateResult, RowPhase, TaskSize};
use remand_kernel::finding::Severity;
use remand_ledger::fact::{Decision, Note};
use remand_ledger::query::{CheckRow, NoteRow};
use remand_ledger::{LedgerError, Reader, RunId};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The file name of the decisions log.
pub const DECISIONS: &str = "decisions.yaml";

/// A document about one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputDocument {
    pub name: &'static str,
    pub part: String,
    pub format: &'static str,
    pub text: String,
}

/// The subject of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewSubject {
    /// The code, or a document.
    pub scope: String,
    /// The perspective of the reviewer.
    pub focus: String,
}

impl ReviewSubject {
    /// The name of the documents about one round of the review.
    fn part(&self, round: u32) -> String {
        format!("{}-{}-r{round}", self.scope, self.focus)
    }
}

/// The documents about a review: the findings for people, and the verdict as data.
pub fn review(
    schema: SchemaId,
    result: &AcceptedResult,
    subject: &ReviewSubject,
    round: u32,
    model: &str,
) -> Vec<OutputDocument> {
    let ReviewSubject { scope, focus } = subject;
    let heading = format!("# Review of {scope}: {focus}, round {round}\n\n**Model:** {model}\n\n");
    let findings = heading + &rendered_report(schema, &result.value, 2);
    let count = |severity| result.findings.iter().filter(|finding| finding.severity == severity).count();
    let verdict = json!({
        "reviewer_model": model,
        "review_focus": focus,
        "scope": scope,
        "round": round,
        "verdict": result.says,
        "findings_count": {
            "blocker": count(Severity::Blocker),
            "critical": count(Severity::Critical),
            "major": count(Severity::Major),
            "minor": count(Severity::Minor),
        },
        "summary": result.summary,
    });
    let part = subject.part(round);
    vec![
        OutputDocument { name: "review-findings", part: part.clone(), format: "md", text: findings },
        OutputDocument { name: "review-verdicts", part, format: "yaml", text: to_yaml(&verdict) },
    ]
}

/// The document about a result that is neither a review nor an artifact; `None` if other documents show it.
pub fn report(
    schema: SchemaId,
    result: &AcceptedResult,
    part: &str,
    gate: Option<Value>,
) -> Option<OutputDocument> {
    let (name, part) = match schema {
        SchemaId::ImplementationReport => ("implementation-reports", part),
        SchemaId::VerificationReport => ("verification-reports", part),
        SchemaId::KnowledgeOutput => (schema.name(), ""),
        // The documents of the rounds show these.
        SchemaId::GapInventory | SchemaId::GapProposals | SchemaId::GapReview => return None,
        SchemaId::CompletionContract
        | SchemaId::ResearchOutput
        | SchemaId::SpecOutput
        | SchemaId::DesignOutput
        | SchemaId::PlanOutput
        | SchemaId::SplitOutput
        | SchemaId::Task
        | SchemaId::ReviewFindings
        | SchemaId::Finding
        | SchemaId::Verdict
        | SchemaId::Diagnosis
        | SchemaId::FindingsReport
        | SchemaId::Document => (schema.name(), part),
    };
    let mut value = result.value.clone();
    if let (Some(gate), Some(payload)) = (gate, value["payload"].as_object_mut()) {
        payload.insert("evidence_gate".to_string(), gate);
    }
    Some(OutputDocument { name, part: part.to_string(), format: "yaml", text: to_yaml(&value) })
}

/// The state of a task's evidence gate, from the engine's own rows; of the whole run without a task.
pub fn evidence_gate(reader: &Reader, run: &RunId, slug: &str, task: Option<&str>) -> Result<Value, Trouble> {
    let rows = reader.gate_checks(run, task.unwrap_or(slug))?;
    let evidence: Vec<EvidenceRow> = rows.iter().map(CheckRow::evidence).collect();
    let size = match task {
        Some(task) => task_size(reader, run, task)?,
        None => TaskSize::Standard,
    };
    let checks: Vec<&CheckRow> = rows.iter().filter(|row| row.phase == RowPhase::After).collect();
    let passed = checks.iter().filter(|row| row.passed).count();
    let mut gate = json!({
        "gate_status": "passed",
        "total_checks": checks.len(),
        "passed": passed,
        "failed": checks.len() - passed,
        "checks": checks.iter().map(|row| check(row)).collect::<Vec<Value>>(),
    });
    if let GateResult::Failed(reasons) = evidence::rule(&evidence, size, GateDemand::Proof) {
        gate["gate_status"] = json!("failed");
        gate["reasons"] = json!(reasons);
    }
    Ok(gate)
}

fn check(row: &CheckRow) -> Value {
    let mut check = json!({ "name": row.name, "passed": row.passed });
    if let Some(command) = &row.command {
        check["command"] = json!(command);
    }
    if let Some(code) = row.exit_code {
        check["exit_code"] = json!(code);
    }
    if !row.passed && !row.snippet.trim().is_empty() {
        check["output"] = json!(row.snippet);
    }
    check
}

fn task_size(reader: &Reader, run: &RunId, task: &str) -> Result<TaskSize, Trouble> {
    let rows = reader.artifacts(run)?;
    let Some(plan) = rows.iter().find(|row| row.name == "plan" && row.format == "yaml") else {
        return Ok(TaskSize::Standard);
    };
    let tasks = artifacts::tasks(&artifacts::content(reader, plan.blob)?);
    let size = tasks.into_iter().find(|entry| entry.task.id == task).map(|entry| entry.task.size);
    Ok(match size {
        Some(ReportedSize::Large) => TaskSize::Large,
        Some(ReportedSize::Standard) | None => TaskSize::Standard,
    })
}

/// The decisions that the tasks of a plan point to, each with the files of those tasks.
pub fn planned_decisions(tasks: &[PlannedTask], documents: &Documents) -> Vec<Note> {
    let mut planned: BTreeMap<String, (DecisionRecord, Vec<String>)> = BTreeMap::new();
    for task in tasks {
        let pointers = task.relevant_context.iter().filter_map(|pointer| Pointer::parse(pointer).ok());
        let records =
            pointers.filter_map(|pointer| DecisionRecord::deserialize(pointer.resolve(documents).ok()?).ok());
        for record in records {
            let (_, files) = planned.entry(record.id.clone()).or_insert_with(|| (record.clone(), Vec::new()));
            files.extend(task.files.iter().map(|file| file.path.0.clone()));
        }
    }
    planned.values().map(|(record, files)| decision_note(record.into(), files)).collect()
}

/// The notes without the decisions that the same role replaced later.
pub fn without_superseded(notes: Vec<NoteRow>) -> Vec<NoteRow> {
    let decision = |note: &NoteRow| {
        note.decision.as_ref().map(|decision| (decision.id.clone(), decision.decided_by.clone()))
    };
    let mut latest = BTreeSet::new();
    let mut kept: Vec<NoteRow> =
        notes.into_iter().rev().filter(|note| decision(note).is_none_or(|id| latest.insert(id))).collect();
    kept.reverse();
    kept
}

/// The decisions log of a run: the decisions of roles and the answers of people, in order; `None` if there are none.
pub fn decisions(reader: &Reader, run: &RunId) -> Result<Option<String>, LedgerError> {
    let mut entries: Vec<(i64, Map<String, Value>)> = Vec::new();
    let mut noted: Vec<(Decision, BTreeSet<String>, i64)> = Vec::new();
    for NoteRow { decision, files, at, .. } in reader.notes(run)? {
        let Some(decision) = decision else { continue };
        // A revision repeats the decisions that it keeps, and a plan adds the files that they concern.
        match noted.iter_mut().find(|(earlier, _, _)| *earlier == decision) {
            Some((_, known, _)) => known.extend(files),
            None => noted.push((decision, files.into_iter().collect(), at.0)),
        }
    }
    for (index, (decision, files, at)) in noted.iter().enumerate() {
        let Ok(Value::Object(mut entry)) = serde_json::to_value(decision) else { continue };
        let replaces = |later: &Decision| later.id == decision.id && later.decided_by == decision.decided_by;
        if noted[index + 1..].iter().any(|(later, _, _)| replaces(later)) {
            entry.insert("status".to_string(), json!("superseded"));
        }
        if !files.is_empty() {
            entry.insert("files".to_string(), json!(files));
        }
        entries.push((*at, entry));
    }
    for gate in reader.gates(run)? {
        if let (Some(option), Some(at), false) = (&gate.option, gate.answered_at, gate.auto) {
            let mut entry = Map::new();
            entry.insert("id".to_string(), json!(gate.phase));
            entry.insert("title".to_string(), json!(gate.question));
            entry.insert("selected".to_string(), json!(option));
            entry.insert("decided_by".to_string(), json!(gate.by.as_deref().unwrap_or("somebody")));
            if let Some(note) = gate.note.as_deref().filter(|note| !note.trim().is_empty()) {
                entry.insert("rationale".to_string(), json!(note));
            }
            entries.push((at.0, entry));
        }
    }
    if entries.is_empty() {
        return Ok(None);
    }
    entries.sort_by_key(|(at, _)| *at);
    let dated = entries.into_iter().map(|(at, mut entry)| {
        entry.insert("date".to_string(), json!(clock::iso(remand_ledger::Millis(at))));
        Value::Object(entry)
    });
    Ok(Some(to_yaml(&json!({ "run": run, "decisions": dated.collect::<Vec<Value>>() }))))
}
