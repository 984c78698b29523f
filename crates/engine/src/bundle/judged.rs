//! What became of each finding of a run.

use crate::artifacts;
use remand_ledger::query::{DefectResolution, FindingRow};
use remand_ledger::{LedgerError, Reader, RunId};
use std::collections::BTreeSet;

/// A finding that is a defect, and how it was resolved.
pub struct JudgedFinding<'f> {
    pub row: &'f FindingRow,
    pub resolution: DefectResolution,
}

impl JudgedFinding<'_> {
    pub fn is_open(&self) -> bool {
        let is_open = matches!(self.resolution, DefectResolution::Open | DefectResolution::KnownIssue);
        is_open || (self.row.known && self.resolution != DefectResolution::ReportedAgain)
    }
}

/// The findings of a run that are defects.
pub fn judged_findings<'f>(
    reader: &Reader,
    run: &RunId,
    findings: &'f [FindingRow],
) -> Result<Vec<JudgedFinding<'f>>, LedgerError> {
    let disputed = disputed_findings(reader, run)?;
    let defects = reader.defects(run)?;
    let judged = defects.iter().filter_map(|defect| {
        let row = findings.iter().find(|finding| finding.position == defect.position)?;
        let resolution = match defect.resolution {
            // The phase that reported it accepted the dispute, although the work changed for other reasons.
            DefectResolution::Corrected if disputed.contains(&row.id) => DefectResolution::Withdrawn,
            other => other,
        };
        Some(JudgedFinding { row, resolution })
    });
    Ok(judged.collect())
}

/// The ids of the findings that were disputed.
fn disputed_findings(reader: &Reader, run: &RunId) -> Result<BTreeSet<String>, LedgerError> {
    let mut disputed = BTreeSet::new();
    for blob in reader.dispatches(run)?.iter().filter_map(|row| row.result) {
        let Ok(result) = remand_contract::parse(&artifacts::content(reader, blob)?) else { continue };
        disputed.extend(artifacts::disputes(result).into_iter().map(|dispute| dispute.finding.0));
    }
    Ok(disputed)
}
