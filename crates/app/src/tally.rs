//! Counts of a run's findings.

use remand_kernel::finding::Severity;
use remand_kernel::state::FiledStatus;
use remand_ledger::query::FindingRow;
use remand_terminal::amount;
use serde::Serialize;

/// Open findings by severity, and those kept for later.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub blocker: u64,
    pub critical: u64,
    pub major: u64,
    pub minor: u64,
    /// Open findings that the run accepted as known issues.
    pub known: u64,
    #[serde(rename = "follow-ups")]
    pub follow_ups: u64,
    pub all: u64,
}

/// Counts the findings of a run.
pub fn tally(findings: &[FindingRow]) -> Tally {
    let mut tally = Tally { all: findings.len() as u64, ..Tally::default() };
    for finding in findings {
        if is_open(finding.status) {
            match finding.severity {
                Severity::Blocker => tally.blocker += 1,
                Severity::Critical => tally.critical += 1,
                Severity::Major => tally.major += 1,
                Severity::Minor => tally.minor += 1,
            }
        }
        tally.known += u64::from(finding.known);
        tally.follow_ups += u64::from(finding.status == FiledStatus::FollowUp);
    }
    tally
}

impl Tally {
    pub fn words(&self) -> String {
        let by = [
            ("blocker", self.blocker),
            ("critical", self.critical),
            ("major", self.major),
            ("minor", self.minor),
        ];
        let open: Vec<String> = by
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        if self.all == 0 {
            return "none".to_string();
        }
        let mut parts =
            vec![format!("{} open", if open.is_empty() { "none".to_string() } else { open.join(", ") })];
        if self.known > 0 {
            parts.push(amount::counted(self.known, "known issue"));
        }
        if self.follow_ups > 0 {
            parts.push(amount::counted(self.follow_ups, "follow-up"));
        }
        parts.push(format!("{} in all", self.all));
        parts.join("; ")
    }
}

/// Whether a finding still needs work; advice and follow-ups do not.
pub fn is_open(status: FiledStatus) -> bool {
    match status {
        FiledStatus::Open | FiledStatus::PassedOn => true,
        FiledStatus::FollowUp | FiledStatus::Advice | FiledStatus::Superseded | FiledStatus::Settled => false,
    }
}
