//! Counts of a run's findings.

use remand_kernel::finding::Severity;
use remand_kernel::state::FiledStatus;
use remand_ledger::query::FindingRow;
use remand_terminal::amount;
use serde::Serialize;

/// The numbers of open findings by severity, of known issues and follow-ups, and of all findings.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct FindingCounts {
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
pub fn count_findings(findings: &[FindingRow]) -> FindingCounts {
    let mut counts = FindingCounts { all: findings.len() as u64, ..FindingCounts::default() };
    for finding in findings {
        if is_open(finding.status) {
            match finding.severity {
                Severity::Blocker => counts.blocker += 1,
                Severity::Critical => counts.critical += 1,
                Severity::Major => counts.major += 1,
                Severity::Minor => counts.minor += 1,
            }
        }
        counts.known += u64::from(finding.known);
        counts.follow_ups += u64::from(finding.status == FiledStatus::FollowUp);
    }
    counts
}

impl FindingCounts {
    pub fn describe(&self) -> String {
        let by_severity = [
            ("blocker", self.blocker),
            ("critical", self.critical),
            ("major", self.major),
            ("minor", self.minor),
        ];
        let open: Vec<String> = by_severity
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
