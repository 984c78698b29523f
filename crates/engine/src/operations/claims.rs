//! Compares what agents claim about the baseline with what the engine measured.

use super::planned::result_of;
use crate::site::{Job, Trouble};
use remand_contract::SchemaId;
use remand_contract::schema::implementation::{ClaimedCheck, Implementation};
use remand_kernel::evidence::{BaselineClaim, EvidenceRow, RowPhase, baseline_discrepancies};
use remand_ledger::Reader;
use remand_ledger::query::CheckRow;

/// A row for each claim of the last dispatch of a task that the engine's baseline contradicts.
pub fn discrepancies(
    job: &Job,
    reader: &Reader,
    task: Option<&str>,
    measured: &[CheckRow],
    iteration: u32,
) -> Result<Vec<EvidenceRow>, Trouble> {
    let dispatches = reader.dispatches(&job.site.run)?;
    let last = dispatches.iter().rev().find(|row| row.task.as_deref() == task && row.result.is_some());
    let Some(last) = last else { return Ok(Vec::new()) };
    let report: Option<Implementation> = result_of(reader, last, SchemaId::ImplementationReport)?;
    let claimed = report.map(|report| report.baseline).unwrap_or_default();
    let baseline: Vec<&CheckRow> =
        measured.iter().filter(|row| row.phase == RowPhase::Baseline && row.tier.is_some()).collect();
    let claims: Vec<BaselineClaim> = claimed.iter().filter_map(|claim| matched(claim, &baseline)).collect();
    let rows: Vec<EvidenceRow> = baseline.iter().map(|row| row.evidence()).collect();
    Ok(baseline_discrepancies(&claims, &rows, iteration))
}

/// A claim under the engine's name for the check, found by name or by command. A claim that fits no check, and says what
/// all of them say, contradicts nothing.
fn matched(claim: &ClaimedCheck, baseline: &[&CheckRow]) -> Option<BaselineClaim> {
    let (name, command, passed) = (claim.name.0.trim(), claim.command.trim(), claim.passed);
    let fits = |row: &&&CheckRow| {
        let typed = row.command.as_deref().unwrap_or_default();
        row.name == name
            || (!command.is_empty() && (typed == command || typed.starts_with(&format!("{command} "))))
    };
    let check = match baseline.iter().find(fits) {
        Some(row) => row.name.clone(),
        None if !baseline.is_empty() && baseline.iter().all(|row| row.passed) == passed => return None,
        None => name.to_string(),
    };
    Some(BaselineClaim { check, passed })
}
