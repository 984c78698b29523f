//! Waits for news of a run, for less time than clients allow for a call.

use super::answers::described;
use super::call::{POLL, ToolCall};
use super::site::{McpSite, run_of};
use remand_engine::lock::DriverLock;
use remand_ledger::query::RunStage;
use remand_ledger::{RunChange, RunView};
use remand_terminal::CommandFailure;
use serde_json::{Value, json};
use std::time::Instant;

/// The largest part of a run in one answer, in changes and in bytes.
const MAX_CHANGES: usize = 60;
const MAX_BYTES: usize = 40_000;

/// Returns what happened to a run since a cursor.
pub fn wait(call: &ToolCall<'_>) -> Result<Value, CommandFailure> {
    let workplace = call.site.workplace()?;
    let reader = workplace.reader()?;
    let run = run_of(&reader, call.arguments.text("run"))?;
    let since = call.arguments.number("since").unwrap_or(0);
    let wants_change = call.arguments.text("until") == Some("change");
    let deadline = Instant::now() + call.patience();
    let mut seen = None;
    let view = loop {
        let version = reader.data_version()?;
        let is_driven = DriverLock::holder(&workplace.home.run(&run)).is_some();
        // Whether anybody drives the run changes without the ledger.
        if seen != Some((version, is_driven)) {
            seen = Some((version, is_driven));
            let view = reader.run_view(&run)?;
            // An answer that no process has taken yet will move the run.
            let is_settled = view.requests == 0;
            let asks = view.row.stage != RunStage::Running || view.gates.iter().any(|gate| gate.seq > since);
            if (is_settled && asks) || (wants_change && view.seq > since) {
                break view;
            }
        }
        if Instant::now() >= deadline {
            break reader.run_view(&run)?;
        }
        std::thread::sleep(POLL);
    };
    let changes = reader.changes_since(&run, since)?;
    Ok(news(call.site, &workplace, &view, changes, since))
}

fn news(
    site: &McpSite,
    workplace: &crate::workplace::Workplace,
    view: &RunView,
    changes: Vec<RunChange>,
    since: u64,
) -> Value {
    let all = changes.len();
    let (mut listed, mut bytes, mut cursor) = (Vec::new(), 0, since);
    for change in changes {
        let json = brief(&change);
        bytes += json.to_string().len();
        if !listed.is_empty() && (bytes > MAX_BYTES || listed.len() == MAX_CHANGES) {
            break;
        }
        cursor = change.seq;
        listed.push(json);
    }
    let row = &view.row;
    let gates: Vec<Value> = view.gates.iter().map(|gate| described(site, workplace, gate)).collect();
    let needs_you = matches!(row.stage, RunStage::Waiting | RunStage::Paused | RunStage::Interrupted);
    json!({
        "run": row.run,
        "stage": row.stage,
        "place": row.place,
        "over": row.stage.is_over(),
        "needs_you": needs_you || !view.gates.is_empty(),
        "reason": row.reason,
        "confidence": row.confidence,
        "used": row.used,
        "cursor": cursor,
        "more": listed.len() < all,
        "changes": listed,
        "gates": gates,
    })
}

/// A change without what only programs need.
fn brief(change: &RunChange) -> Value {
    let rulings: Vec<Value> = change
        .rulings
        .iter()
        .map(|it| json!({ "phase": it.phase, "task": it.task, "signal": it.signal, "action": it.action, "to": it.target, "why": it.why }))
        .collect();
    let commands: Vec<&str> = change.commands.iter().map(|command| command.text.as_str()).collect();
    let checks: Vec<Value> = change
        .checks
        .iter()
        .map(|check| json!({ "check": check.name, "passed": check.passed, "exit_code": check.exit_code }))
        .collect();
    let notes: Vec<&str> = change.notes.iter().map(|note| note.text.as_str()).collect();
    let mut json = json!({ "seq": change.seq, "at": change.at });
    for (name, list) in [
        ("rulings", json!(rulings)),
        ("commands", json!(commands)),
        ("checks", json!(checks)),
        ("notes", json!(notes)),
    ] {
        if list.as_array().is_some_and(|list| !list.is_empty()) {
            json[name] = list;
        }
    }
    json
}
