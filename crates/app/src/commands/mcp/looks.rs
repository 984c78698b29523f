//! Reads runs: status, findings, evidence, and what agents were given.

use super::call::ToolCall;
use super::site::run_of;
use crate::commands::status::overview::Overview;
use crate::commands::status::run_status::RunStatus;
use crate::finding_counts::count_findings;
use remand_engine::bundle;
use remand_ledger::{BlobId, Reader};
use remand_terminal::CommandFailure;
use serde_json::{Value, json};

/// The longest text in one answer, in bytes.
const MAX_TEXT: usize = 60_000;

pub fn status(call: &ToolCall<'_>) -> Result<Value, CommandFailure> {
    let workplace = call.site.workplace()?;
    let Some(name) = call.arguments.text("run") else {
        return Ok(Overview::read(&workplace, workplace.reader_if_any()?.as_ref())?.json());
    };
    let reader = workplace.reader()?;
    Ok(RunStatus::read(&workplace, &reader, &run_of(&reader, Some(name))?)?.json())
}

pub fn findings(call: &ToolCall<'_>) -> Result<Value, CommandFailure> {
    let reader = call.site.workplace()?.reader()?;
    let run = run_of(&reader, call.arguments.text("run"))?;
    let findings = reader.findings(&run)?;
    Ok(json!({ "run": run, "tally": count_findings(&findings), "findings": findings }))
}

pub fn evidence(call: &ToolCall<'_>) -> Result<Value, CommandFailure> {
    let reader = call.site.workplace()?.reader()?;
    let run = run_of(&reader, call.arguments.text("run"))?;
    let row = reader.run(&run.0)?;
    Ok(json!({
        "run": run,
        "stage": row.stage,
        "branch": row.branch,
        "confidence": row.confidence,
        "totals": reader.totals(&run)?,
        "delivery": reader.deliveries(&run)?.pop(),
        "evidence": cut(bundle::text(&reader, &run)?),
    }))
}

pub fn brief(call: &ToolCall<'_>) -> Result<Value, CommandFailure> {
    let reader = call.site.workplace()?.reader()?;
    let run = run_of(&reader, call.arguments.text("run"))?;
    let Some(id) = call.arguments.text("dispatch") else {
        let dispatches = reader.dispatches(&run)?;
        let rows: Vec<Value> = dispatches
            .iter()
            .map(|row| {
                json!({
                    "dispatch": row.command, "phase": row.phase, "role": row.role, "task": row.task,
                    "status": row.status, "summary": row.summary, "failure": row.failure,
                })
            })
            .collect();
        return Ok(json!({ "run": run, "dispatches": rows }));
    };
    let row = reader.dispatch(&run, id)?.ok_or_else(|| {
        CommandFailure::user(format!("run {run} has no dispatch {id}"), "call `brief` without `dispatch`")
    })?;
    Ok(json!({
        "run": run,
        "dispatch": row.command,
        "role": row.role,
        "given": text(&reader, row.prompt)?,
        "returned": text(&reader, row.result)?,
        "summary": row.summary,
    }))
}

fn text(reader: &Reader, blob: Option<BlobId>) -> Result<Option<String>, CommandFailure> {
    let bytes = blob.map(|id| reader.blob(id)).transpose()?;
    Ok(bytes.map(|bytes| cut(String::from_utf8_lossy(&bytes).into_owned())))
}

/// The text, or its beginning and a line that says so.
pub fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let end = (0..=MAX_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let rest = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("\n[{rest} more bytes]\n"));
    }
    text
}
