//! What one round left behind: assignments, results, mishaps.

use super::history::Text;
use crate::contract::schema::gaps::{GapProposals, GapReview, IssueAnswer, ReportedGap};
use remand_kernel::gaps::{Board, GapId};
use remand_ledger::Millis;
use std::collections::BTreeMap;

/// Everything that happened in one round.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    pub round: u32,
    /// The gaps of each batch, once they were assigned.
    pub batches: BTreeMap<String, Vec<GapId>>,
    /// The result of each batch; see [`Sheet::deliver`] for one that brings two.
    pub proposals: BTreeMap<String, GapProposals>,
    /// The summaries of these results.
    pub said: BTreeMap<String, String>,
    pub review: Option<GapReview>,
    /// Why there is no review, where one was asked for.
    pub unreviewed: Option<String>,
    pub mishaps: Vec<Mishap>,
    /// What the engine had to say when the round was closed.
    pub remarks: Vec<String>,
    /// What the close of the round said; empty before.
    pub end: String,
    /// The document and the board when the round was over, or was rolled back.
    pub text: Option<Text>,
    pub board: Option<Board>,
    pub begun_at: Option<Millis>,
    pub closed_at: Option<Millis>,
}

/// A dispatch that brought no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mishap {
    pub at: Millis,
    pub role: String,
    pub item: Option<String>,
    /// The failure and its detail.
    pub what: String,
    pub tried_again: bool,
}

impl Sheet {
    pub fn of(round: u32) -> Sheet {
        Sheet { round, ..Sheet::default() }
    }

    /// Takes the result of a batch. Who was asked again need not repeat itself: answers and gaps of the first time
    /// count beside those of the second.
    pub fn deliver(&mut self, batch: &str, mut result: GapProposals) {
        if let Some(before) = self.proposals.remove(batch) {
            let is_new = |answer: &IssueAnswer| {
                !result.answers.iter().any(|other| other.issue.0.trim() == answer.issue.0.trim())
            };
            let answers: Vec<IssueAnswer> = before.answers.into_iter().filter(is_new).collect();
            result.answers.splice(0..0, answers);
            let is_new = |gap: &ReportedGap| {
                !result.new_gaps.iter().any(|other| other.claim.0.trim() == gap.claim.0.trim())
            };
            let gaps: Vec<ReportedGap> = before.new_gaps.into_iter().filter(is_new).collect();
            result.new_gaps.splice(0..0, gaps);
        }
        self.proposals.insert(batch.to_string(), result);
    }

    /// Tells whether anything happened in the round.
    pub fn is_blank(&self) -> bool {
        self.batches.is_empty() && self.mishaps.is_empty() && self.proposals.is_empty()
    }

    /// The gaps that are given by name, by batch: the first of each, once the engineers had their turn and had nothing.
    pub fn by_name(&self) -> BTreeMap<&str, &GapId> {
        if self.proposals.values().any(|result| !result.proposals.is_empty()) {
            return BTreeMap::new();
        }
        let delivered = self.batches.iter().filter(|(batch, _)| self.proposals.contains_key(*batch));
        delivered.filter_map(|(batch, gaps)| Some((batch.as_str(), gaps.first()?))).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::contract::schema::gaps::IssueStance;
    use serde_json::json;

    // SR-06
    #[test]
    fn each_batch_is_given_a_gap_of_its_own_by_name() {
        let gaps = |ids: &[&str]| ids.iter().map(|id| id.parse::<GapId>().unwrap()).collect::<Vec<_>>();
        let said = |payload| serde_json::from_value::<GapProposals>(payload).unwrap();
        let nothing = || said(json!({"verdict": "nothing", "summary": "s", "proposals": []}));
        let mut sheet = Sheet::of(1);
        sheet.batches.insert("batch-1".to_string(), gaps(&["GAP-A-001", "GAP-A-002"]));
        sheet.batches.insert("batch-2".to_string(), gaps(&["GAP-B-001"]));
        assert!(sheet.by_name().is_empty(), "before anybody had a turn");
        for batch in ["batch-1", "batch-2"] {
            sheet.proposals.insert(batch.to_string(), nothing());
        }
        let named: Vec<String> = sheet.by_name().values().map(ToString::to_string).collect();
        assert_eq!(named, ["GAP-A-001", "GAP-B-001"]);
    }

    // SR-06, SR-10
    #[test]
    fn what_a_batch_said_first_counts_beside_what_it_says_when_asked_again() {
        let said = |payload| serde_json::from_value::<GapProposals>(payload).unwrap();
        let gap = |claim: &str| json!({"category": "FLOW", "severity": "low", "claim": claim});
        let answer = |issue: &str, stance: &str| json!({"issue": issue, "stance": stance, "position": "p", "rationale": "r"});
        let mut sheet = Sheet::of(2);
        sheet.deliver(
            "batch-1",
            said(json!({
                "verdict": "nothing", "summary": "s", "new_gaps": [gap("one"), gap("two")],
                "answers": [answer("ISSUE-R1-001", "disagree"), answer("ISSUE-R1-002", "disagree")],
            })),
        );
        sheet.deliver(
            "batch-1",
            said(json!({
                "verdict": "nothing", "summary": "s", "new_gaps": [gap("two"), gap("three")],
                "answers": [answer("ISSUE-R1-002", "agree")],
            })),
        );
        let kept = &sheet.proposals["batch-1"];
        let answers: Vec<(&str, IssueStance)> =
            kept.answers.iter().map(|answer| (answer.issue.0.as_str(), answer.stance)).collect();
        assert_eq!(answers, [("ISSUE-R1-001", IssueStance::Disagree), ("ISSUE-R1-002", IssueStance::Agree)]);
        let claims: Vec<&str> = kept.new_gaps.iter().map(|gap| gap.claim.0.as_str()).collect();
        assert_eq!(claims, ["one", "two", "three"]);
    }
}
