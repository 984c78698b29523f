//! The trace of a run: the workflow, its phases, and in each the agents, operations, checks and gates.

use crate::SCHEMA;
use crate::attribute::{Attributes, nanos, provider, resource, scope};
use crate::identity::{span_id, task_id, trace_id};
use crate::record::RunRecord;
use remand_ledger::Millis;
use remand_ledger::fact::Delivery;
use remand_ledger::query::{CheckRow, DispatchRow, DispatchStatus, GateRow, OperationRow, RunStage};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// All spans are internal to the process that drives the run.
const INTERNAL: u8 = 1;
const STATUS_ERROR: u8 = 2;

/// Which spans to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportRange<'s> {
    /// The whole run as it is now. Spans that have not ended end at the last event.
    Whole,
    /// Spans that have ended, except those with these ids. The workflow and its phases end with the run.
    New(&'s BTreeSet<String>),
}

/// A trace and the ids of its spans.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceExport {
    pub body: Value,
    pub ids: Vec<String>,
}

/// One span before it is written.
struct Span {
    key: String,
    parent: Option<String>,
    name: String,
    from: Millis,
    /// `None` while it goes on.
    to: Option<Millis>,
    attributes: Attributes,
    failed: bool,
}

/// The trace of a run as OTLP, or `None` if the range has no spans.
pub fn traces(record: &RunRecord, range: ExportRange<'_>) -> Option<TraceExport> {
    let (run, now) = (&record.row.run, record.row.updated_at);
    let (mut written, mut ids) = (Vec::new(), Vec::new());
    for span in spans(record) {
        let id = span_id(run, &span.key);
        let to = match (range, span.to) {
            (ExportRange::Whole, to) => to.unwrap_or(now),
            (ExportRange::New(sent), Some(to)) if !sent.contains(&id) => to,
            (ExportRange::New(_), _) => continue,
        };
        let mut json = json!({
            "traceId": trace_id(run),
            "spanId": id,
            "name": span.name,
            "kind": INTERNAL,
            "startTimeUnixNano": nanos(span.from),
            "endTimeUnixNano": nanos(to.max(span.from)),
            "attributes": span.attributes.into_json(),
            "status": if span.failed { json!({ "code": STATUS_ERROR }) } else { json!({}) },
        });
        if let (Some(parent), Some(fields)) = (span.parent, json.as_object_mut()) {
            fields.insert("parentSpanId".to_string(), Value::String(span_id(run, &parent)));
        }
        written.push(json);
        ids.push(id);
    }
    let version = &record.row.version;
    let body = json!({ "resourceSpans": [{
        "resource": resource(version),
        "scopeSpans": [{ "scope": scope(version), "spans": written, "schemaUrl": SCHEMA }],
    }] });
    (!ids.is_empty()).then_some(TraceExport { body, ids })
}

fn spans(record: &RunRecord) -> Vec<Span> {
    let mut spans = vec![workflow(record)];
    let mut phases: BTreeMap<String, Span> = BTreeMap::new();
    let mut inner = Vec::new();
    let mut add = |phase: &str, task: Option<&str>, visit: u16, span: Span| {
        let key = phase_key(phase, task, visit);
        match phases.get_mut(&key) {
            Some(outer) => {
                outer.from = outer.from.min(span.from);
                outer.to = outer.to.zip(span.to).map(|(one, other)| one.max(other));
            }
            None => {
                let attributes = Attributes::default()
                    .text("remand.phase.name", phase)
                    .number("remand.phase.visit", visit)
                    .text_if("remand.task.id", task.map(|task| task_id(&record.row.run, task)));
                let name = format!("phase {phase}");
                let (parent, from, to) = (Some(RUN.to_string()), span.from, span.to);
                phases.insert(key.clone(), Span { key, parent, name, from, to, attributes, failed: false });
            }
        }
        inner.push(span);
    };
    for row in &record.dispatches {
        add(&row.phase, row.task.as_deref(), row.visit, agent(row));
    }
    for row in &record.operations {
        add(&row.phase, row.task.as_deref(), row.visit, operation(row));
    }
    let is_over = record.row.stage.is_over();
    // More can happen in a phase until the run is over.
    spans.extend(phases.into_values().map(|span| Span { to: span.to.filter(|_| is_over), ..span }));
    spans.extend(inner);
    spans.extend(record.gates.iter().filter(|gate| !gate.auto).map(gate));
    spans.extend(record.checks.iter().enumerate().map(|(at, row)| check(record, at, row)));
    spans
}

const RUN: &str = "run";

fn phase_key(phase: &str, task: Option<&str>, visit: u16) -> String {
    format!("phase\n{phase}\n{}\n{visit}", task.unwrap_or_default())
}

fn workflow(record: &RunRecord) -> Span {
    let row = &record.row;
    let head = match &record.delivery {
        Some(Delivery::Committed { commit, .. }) => Some(commit),
        Some(Delivery::Refused { .. } | Delivery::HandedOver { .. } | Delivery::Nothing) | None => None,
    };
    let failed = matches!(row.stage, RunStage::Failed | RunStage::Stopped);
    let attributes = Attributes::default()
        .text("gen_ai.operation.name", "invoke_workflow")
        .text("gen_ai.workflow.name", &row.workflow)
        .text("remand.run.id", &row.run.0)
        .text("remand.run.stage", stage(row.stage))
        .text("remand.run.mode", &row.mode)
        .text("remand.run.confidence", &row.confidence)
        .number("remand.run.remands", record.remands)
        .text("vcs.ref.base.revision", &row.base)
        .text("vcs.ref.head.name", &row.branch)
        .text_if("vcs.ref.head.revision", head)
        .text_if("error.type", failed.then(|| stage(row.stage)));
    Span {
        key: RUN.to_string(),
        parent: None,
        name: format!("invoke_workflow {}", row.workflow),
        from: row.created_at,
        to: row.stage.is_over().then_some(row.updated_at),
        attributes,
        failed,
    }
}

/// The stage as `--json` writes it.
fn stage(stage: RunStage) -> String {
    stage.name().replace(' ', "-")
}

fn agent(row: &DispatchRow) -> Span {
    let spent = row.spent.as_ref();
    // In the conventions, input includes what came from the cache.
    let input = spent.map(|kinds| kinds.input.saturating_add(kinds.cached).saturating_add(kinds.stored));
    let attributes = Attributes::default()
        .text("gen_ai.operation.name", "invoke_agent")
        .text_if("gen_ai.provider.name", row.driver.as_deref().map(provider))
        .text("gen_ai.agent.name", &row.role)
        .text("gen_ai.agent.id", format!("{}/{}", row.run, row.command))
        .text_if("gen_ai.conversation.id", row.session.as_ref())
        .text_if("gen_ai.request.model", row.model.as_ref())
        .number_if("gen_ai.usage.input_tokens", input)
        .number_if("gen_ai.usage.output_tokens", spent.map(|kinds| kinds.output))
        .number_if("gen_ai.usage.cache_read.input_tokens", spent.map(|kinds| kinds.cached))
        .number_if("gen_ai.usage.cache_creation.input_tokens", spent.map(|kinds| kinds.stored))
        .number_if("remand.cost.micros", row.money)
        .number("remand.dispatch.attempt", row.attempt)
        .text_if("remand.dispatch.signal", row.says.as_ref())
        .text_if("remand.dispatch.driver", row.driver.as_ref())
        .text_if("error.type", row.failure.as_ref());
    Span {
        key: row.command.clone(),
        parent: Some(phase_key(&row.phase, row.task.as_deref(), row.visit)),
        name: format!("invoke_agent {}", row.role),
        from: row.started_at,
        to: row.completed_at,
        attributes,
        failed: row.failure.is_some() || row.status == DispatchStatus::Error,
    }
}

fn operation(row: &OperationRow) -> Span {
    let attributes = Attributes::default()
        .text("remand.operation.name", &row.name)
        .text_if("remand.operation.signal", row.result.as_ref())
        .text_if("error.type", row.failure.as_ref());
    Span {
        key: row.command.clone(),
        parent: Some(phase_key(&row.phase, row.task.as_deref(), row.visit)),
        name: format!("operation {}", row.name),
        from: row.started_at,
        to: row.completed_at,
        attributes,
        failed: row.failure.is_some(),
    }
}

fn gate(row: &GateRow) -> Span {
    let attributes = Attributes::default()
        .text("remand.gate.id", &row.command)
        .text("remand.phase.name", &row.phase)
        .flag("remand.gate.mandatory", row.mandatory)
        .text_if("remand.gate.option", row.option.as_ref());
    Span {
        key: format!("gate\n{}", row.command),
        parent: Some(RUN.to_string()),
        name: format!("gate {}", row.phase),
        from: row.opened_at,
        to: row.answered_at.or(row.withdrawn_at),
        attributes,
        failed: false,
    }
}

fn check(record: &RunRecord, at: usize, row: &CheckRow) -> Span {
    let ended_with = |operation: &&OperationRow| {
        operation.completed_at == Some(row.at) && (row.task.is_none() || operation.task == row.task)
    };
    let parent = record.operations.iter().find(ended_with).map_or(RUN.to_string(), |it| it.command.clone());
    let result = if row.passed { "success" } else { "failure" };
    let test = row.collected.map(|_| if row.passed { "pass" } else { "fail" });
    let attributes = Attributes::default()
        .text("cicd.pipeline.task.name", &row.name)
        .text("cicd.pipeline.task.run.id", format!("{}/{}/{at}", row.run, row.seq))
        .text("cicd.pipeline.task.run.result", result)
        .text_if("test.case.result.status", test)
        .number_if("remand.check.collected", row.collected)
        .number_if("process.exit.code", row.exit_code)
        .flag("remand.check.reused", row.origin.is_some())
        .flag("remand.check.superseded", row.superseded)
        .text_if("remand.task.id", row.task.as_deref().map(|task| task_id(&row.run, task)));
    let took = if row.origin.is_some() { 0 } else { i64::try_from(row.duration_ms).unwrap_or(i64::MAX) };
    Span {
        key: format!("check\n{}\n{at}", row.seq),
        parent: Some(parent),
        name: format!("check {}", row.name),
        from: Millis(row.at.0.saturating_sub(took)),
        to: Some(row.at),
        attributes,
        failed: !row.passed,
    }
}
