//! Compares the claims of agents about the baseline with the engine's measurements.

use super::planned::result_of;
use crate::site::{Job, Trouble};
use remand_contract::SchemaId;
use remand_contract::schema::implementation::{ClaimedCheck, Implementation};
use remand_kernel::evidence::{BaselineClaim, EvidenceRow, RowPhase, baseline_discrepancies};
use remand_ledger::Reader;
use remand_ledger::query::CheckRow;

/// An evidence row for each claim of the task's last dispatch that contradicts the engine's baseline.
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
    let claims: Vec<BaselineClaim> =
        claimed.iter().filter_map(|claim| match_claim(claim, &baseline)).collect();
    let rows: Vec<EvidenceRow> = baseline.iter().map(|row| row.evidence()).collect();
    Ok(baseline_discrepancies(&claims, &rows, iteration))
}

/// The claim, with the engine's name for its check. The check is found by name or by command. A claim that matches no
/// check is dropped if it agrees with the baseline as a whole.
fn match_claim(claim: &ClaimedCheck, baseline: &[&CheckRow]) -> Option<BaselineClaim> {
    let (name, command, passed) = (claim.name.0.trim(), claim.command.trim(), claim.passed);
    let is_match = |row: &&&CheckRow| {
        let row_command = row.command.as_deref().unwrap_or_default();
        row.name == name
            || (!command.is_empty()
                && (row_command == command || row_command.starts_with(&format!("{command} "))))
    };
    let check = match baseline.iter().find(is_match) {
        Some(row) => row.name.clone(),
        None if !baseline.is_empty() && baseline.iter().all(|row| row.passed) == passed => return None,
        None => name.to_string(),
    };
    Some(BaselineClaim { check, passed })
}
