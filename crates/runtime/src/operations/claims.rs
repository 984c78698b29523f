//! What agents claim about the baseline, held against what the engine saw (EP-19).

use crate::contract::{Limits, RawResult, find};
use crate::workshop::{Job, Trouble};
use remand_kernel::evidence::{BaselineClaim, Row, RowPhase, baseline_discrepancies};
use remand_ledger::Reader;
use remand_ledger::query::CheckRow;
use serde_json::Value;

/// A row for each claim of the last dispatch of a task that the engine's baseline contradicts.
pub fn discrepancies(
    job: &Job,
    reader: &Reader,
    task: Option<&str>,
    measured: &[CheckRow],
    iteration: u32,
) -> Result<Vec<Row>, Trouble> {
    let dispatches = reader.dispatches(&job.site.run)?;
    let said = dispatches.iter().rev().filter(|row| row.task.as_deref() == task).find_map(|row| row.result);
    let Some(said) = said else { return Ok(Vec::new()) };
    let raw = RawResult { file: Some(reader.blob(said)?), answer: String::new() };
    let Ok(found) = find(&raw, &Limits::default()) else { return Ok(Vec::new()) };
    let claimed =
        found.value.pointer("/payload/baseline").and_then(Value::as_array).cloned().unwrap_or_default();
    let baseline: Vec<&CheckRow> =
        measured.iter().filter(|row| row.phase == RowPhase::Baseline && row.tier.is_some()).collect();
    let claims: Vec<BaselineClaim> = claimed.iter().filter_map(|claim| named(claim, &baseline)).collect();
    let rows: Vec<Row> = baseline.iter().map(|row| row.evidence()).collect();
    Ok(baseline_discrepancies(&claims, &rows, iteration))
}

/// A claim under the engine's name for the check: by name or by command. One that fits no check, and says what all of
/// them say, contradicts nothing.
fn named(claim: &Value, baseline: &[&CheckRow]) -> Option<BaselineClaim> {
    let text = |key: &str| claim.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_string();
    let (name, command) = (text("name"), text("command"));
    let passed = claim.get("passed")?.as_bool()?;
    let fits = |row: &&&CheckRow| {
        let typed = row.command.as_deref().unwrap_or_default();
        row.name == name
            || (!command.is_empty() && (typed == command || typed.starts_with(&format!("{command} "))))
    };
    let check = match baseline.iter().find(fits) {
        Some(row) => row.name.clone(),
        None if !baseline.is_empty() && baseline.iter().all(|row| row.passed) == passed => return None,
        None => name,
    };
    Some(BaselineClaim { check, passed })
}
