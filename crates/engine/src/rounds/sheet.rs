//! The round sheet: assignments, proposals, review and failed dispatches of one round.

use remand_contract::schema::gaps::{GapProposals, GapReview, IssueAnswer, ReportedGap};
use remand_kernel::change::Digest;
use remand_kernel::gaps::{Board, GapId};
use remand_ledger::{BlobId, Millis};
use std::collections::BTreeMap;

/// One version of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentVersion {
    pub digest: Digest,
    pub blob: BlobId,
}

/// Everything that happened in one round.
#[derive(Clone, Debug, Default)]
pub struct RoundSheet {
    pub round: u32,
    /// The assigned gaps of each batch.
    pub batches: BTreeMap<String, Vec<GapId>>,
    /// The result of each batch; [`RoundSheet::add_result`] merges two results of one batch.
    pub proposals: BTreeMap<String, GapProposals>,
    /// The summaries of these results.
    pub summaries: BTreeMap<String, String>,
    pub review: Option<GapReview>,
    /// Why a requested review is missing.
    pub unreviewed: Option<String>,
    pub failures: Vec<FailedDispatch>,
    /// The engine's notes when it closed the round.
    pub remarks: Vec<String>,
    /// How the round ended; empty while it is open.
    pub end: String,
    /// The document when the round was closed.
    pub text: Option<DocumentVersion>,
    /// The board when the round was closed or rolled back.
    pub board: Option<Board>,
    pub started_at: Option<Millis>,
    pub closed_at: Option<Millis>,
}

/// A dispatch without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedDispatch {
    pub at: Millis,
    pub role: String,
    pub item: Option<String>,
    /// The kind of failure, and its detail.
    pub failure: String,
    pub is_retried: bool,
}

impl RoundSheet {
    pub fn of(round: u32) -> RoundSheet {
        RoundSheet { round, ..RoundSheet::default() }
    }

    /// Adds the result of a batch. A second result of the same batch does not have to repeat the first: answers and gaps
    /// of both count.
    pub fn add_result(&mut self, batch: &str, mut result: GapProposals) {
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

    /// Whether nothing has happened in the round.
    pub fn is_blank(&self) -> bool {
        self.batches.is_empty() && self.failures.is_empty() && self.proposals.is_empty()
    }

    /// The gap that each delivered batch must address next, if no engineer proposed anything.
    pub fn required_gaps(&self) -> BTreeMap<&str, &GapId> {
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
    use remand_contract::schema::gaps::IssueStance;
    use serde_json::json;

    // SR-06
    #[test]
    fn each_batch_must_address_its_first_gap_if_no_engineer_proposed_anything() {
        let gaps = |ids: &[&str]| ids.iter().map(|id| id.parse::<GapId>().unwrap()).collect::<Vec<_>>();
        let proposals = |payload| serde_json::from_value::<GapProposals>(payload).unwrap();
        let nothing = || proposals(json!({"verdict": "nothing", "summary": "s", "proposals": []}));
        let mut sheet = RoundSheet::of(1);
        sheet.batches.insert("batch-1".to_string(), gaps(&["GAP-A-001", "GAP-A-002"]));
        sheet.batches.insert("batch-2".to_string(), gaps(&["GAP-B-001"]));
        assert!(sheet.required_gaps().is_empty(), "nobody has delivered yet");
        for batch in ["batch-1", "batch-2"] {
            sheet.proposals.insert(batch.to_string(), nothing());
        }
        let required: Vec<String> = sheet.required_gaps().values().map(ToString::to_string).collect();
        assert_eq!(required, ["GAP-A-001", "GAP-B-001"]);
    }

    // SR-06, SR-10
    #[test]
    fn answers_and_gaps_of_both_results_of_a_batch_count() {
        let proposals = |payload| serde_json::from_value::<GapProposals>(payload).unwrap();
        let gap = |claim: &str| json!({"category": "FLOW", "severity": "low", "claim": claim});
        let answer = |issue: &str, stance: &str| json!({"issue": issue, "stance": stance, "position": "p", "rationale": "r", "trade_off": "t"});
        let mut sheet = RoundSheet::of(2);
        sheet.add_result(
            "batch-1",
            proposals(json!({
                "verdict": "nothing", "summary": "s", "new_gaps": [gap("one"), gap("two")],
                "answers": [answer("ISSUE-R1-001", "disagree"), answer("ISSUE-R1-002", "disagree")],
            })),
        );
        sheet.add_result(
            "batch-1",
            proposals(json!({
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
