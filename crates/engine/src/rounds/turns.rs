//! The results of engineers and reviewer in a round, prepared for the gap board.
//!
//! A valid result may refer to gaps or objections that are unknown, or not open to its author in this round. Those parts
//! are left out and reported; the rest counts.

use super::sheet::RoundSheet;
use crate::site::Trouble;
use remand_contract::{engineer_output, reviewer_output};
use remand_kernel::gaps::{
    Board, EngineerOutput, EngineerTurn, GapId, GapStatus, NewGap, Proposal, ReviewerOutput, ReviewerTurn,
};
use std::collections::BTreeSet;

/// The turns of engineer and reviewer in a round, and the parts of their results that were left out.
#[derive(Clone, Debug)]
pub struct RoundTurns {
    pub engineer: EngineerTurn,
    /// The gaps assigned to the engineers that delivered a result.
    pub asked: Vec<GapId>,
    pub reviewer: ReviewerTurn,
    pub left_out: Vec<String>,
}

impl RoundTurns {
    pub fn of(board: &Board, sheet: &RoundSheet) -> Result<RoundTurns, Trouble> {
        let mut left_out = Vec::new();
        let mut engineer = EngineerOutput::default();
        for (batch, result) in &sheet.proposals {
            let output = engineer_output(result).map_err(|problems| contract_violation(batch, &problems))?;
            engineer.proposals.extend(output.proposals);
            engineer.answers.extend(output.answers);
            engineer.new_gaps.extend(output.new_gaps);
        }
        let proposed = keep_proposals(board, &mut engineer, &mut left_out);
        keep_answers(board, &mut engineer, &mut left_out);
        keep_known_parents(board, &mut engineer.new_gaps, &mut left_out);
        let reviewer = match (&sheet.review, &sheet.unreviewed) {
            (Some(review), _) => {
                let mut output =
                    reviewer_output(review).map_err(|problems| contract_violation("review", &problems))?;
                keep_verdicts(board, &proposed, &mut output, &mut left_out);
                keep_known_parents(board, &mut output.new_gaps, &mut left_out);
                ReviewerTurn::Delivered(output)
            }
            (None, Some(why)) => ReviewerTurn::Failed { why: why.clone() },
            (None, None) => ReviewerTurn::Skipped,
        };
        let delivered = sheet.batches.iter().filter(|(batch, _)| sheet.proposals.contains_key(*batch));
        let asked = delivered.flat_map(|(_, gaps)| gaps).cloned().collect();
        Ok(RoundTurns { engineer: EngineerTurn::Delivered(engineer), asked, reviewer, left_out })
    }
}

impl RoundTurns {
    /// The engineers' proposals.
    pub fn proposals(&self) -> impl Iterator<Item = &Proposal> {
        let output = match &self.engineer {
            EngineerTurn::Delivered(output) => Some(output),
            EngineerTurn::Failed { .. } => None,
        };
        output.into_iter().flat_map(|output| &output.proposals)
    }
}

/// Keeps the first proposal for each gap that is open to proposals.
fn keep_proposals(board: &Board, output: &mut EngineerOutput, left_out: &mut Vec<String>) -> BTreeSet<GapId> {
    let mut proposed = BTreeSet::new();
    output.proposals.retain(|proposal| {
        let gap = &proposal.gap;
        let why = match board.gap(gap) {
            None => Some("the gap is not on the board".to_string()),
            Some(gap) if !gap.status.is_workable() => Some(format!("it is {}", gap.status)),
            Some(_) if proposed.contains(gap) => Some("another engineer has a proposal for it".to_string()),
            Some(_) => None,
        };
        match why {
            Some(why) => left_out.push(format!("the proposal for {gap} is left out: {why}")),
            None => {
                proposed.insert(gap.clone());
                return true;
            }
        }
        false
    });
    proposed
}

fn keep_answers(board: &Board, output: &mut EngineerOutput, left_out: &mut Vec<String>) {
    let mut answered = BTreeSet::new();
    output.answers.retain(|answer| {
        let is_known = board.issues().any(|issue| issue.id == answer.issue);
        let kept = is_known && answered.insert(answer.issue);
        if !kept {
            let why = if is_known { "it is already answered" } else { "the issue is not on the board" };
            left_out.push(format!("the answer to {} is left out: {why}", answer.issue));
        }
        kept
    });
}

/// Keeps verdicts and objections about proposals of this round, or about unreviewed proposals of earlier rounds.
fn keep_verdicts(
    board: &Board,
    proposed: &BTreeSet<GapId>,
    output: &mut ReviewerOutput,
    left_out: &mut Vec<String>,
) {
    let has_proposal = |gap: &GapId| {
        let is_unreviewed = board.gap(gap).is_some_and(|gap| gap.status == GapStatus::Proposed);
        is_unreviewed || proposed.contains(gap)
    };
    output.verdicts.retain(|verdict| {
        let kept = has_proposal(&verdict.gap);
        if !kept {
            left_out.push(format!("the review of {} is left out: it has no proposal", verdict.gap));
        }
        kept
    });
    output.issues.retain(|issue| {
        let kept = has_proposal(&issue.gap);
        if !kept {
            let what = format!("the issue \"{}\" about {}", issue.concern, issue.gap);
            left_out.push(format!("{what} is left out: the gap has no proposal"));
        }
        kept
    });
}

/// Makes a gap independent if it was split from an unknown gap.
fn keep_known_parents(board: &Board, gaps: &mut [NewGap], left_out: &mut Vec<String>) {
    for gap in gaps {
        if let Some(from) = gap.split_from.take_if(|from| board.gap(from).is_none()) {
            left_out.push(format!(
                "a new gap is split from {from}, which is not on the board; it is kept as a separate gap"
            ));
        }
    }
}

fn contract_violation(what: &str, problems: &[remand_contract::ContractProblem]) -> Trouble {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Trouble::denied(format!("the result of {what} in the ledger violates its contract: {}", lines.join("; ")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use remand_kernel::gaps::{BoardRules, GapSeverity};
    use serde_json::json;

    fn board() -> Board {
        let gap = NewGap {
            category: "FLOW".to_string(),
            severity: GapSeverity::High,
            claim: "not stated".to_string(),
            sections: vec!["Login".to_string()],
            split_from: None,
            waits_for: None,
        };
        Board::open(vec![gap], BoardRules::default()).unwrap()
    }

    // SR-10
    #[test]
    fn only_engineers_that_delivered_count_as_asked() {
        let nothing = json!({"verdict": "nothing", "summary": "s", "proposals": []});
        let id = |text: &str| text.parse::<GapId>().unwrap();
        let mut sheet = RoundSheet::of(1);
        sheet.batches.insert("batch-1".to_string(), vec![id("GAP-FLOW-001")]);
        sheet.batches.insert("batch-2".to_string(), vec![id("GAP-FLOW-002")]);
        sheet.proposals.insert("batch-1".to_string(), serde_json::from_value(nothing).unwrap());
        assert_eq!(RoundTurns::of(&board(), &sheet).unwrap().asked, [id("GAP-FLOW-001")]);
    }

    // SR-05
    #[test]
    fn reviews_without_a_proposal_are_left_out_and_reported() {
        let review = json!({
            "verdict": "reviewed", "summary": "s", "checks": ["all"],
            "reviews": [{
                "gap": "GAP-FLOW-001", "judgement": "needs-revision", "note": "no",
                "issues": [{"severity": "high", "concern": "Five at least."}],
            }],
        });
        let sheet = RoundSheet { review: Some(serde_json::from_value(review).unwrap()), ..RoundSheet::of(1) };
        let turns = RoundTurns::of(&board(), &sheet).unwrap();
        let ReviewerTurn::Delivered(output) = &turns.reviewer else { panic!("{turns:?}") };
        assert!(output.verdicts.is_empty() && output.issues.is_empty());
        let expected = [
            "the review of GAP-FLOW-001 is left out: it has no proposal",
            "the issue \"Five at least.\" about GAP-FLOW-001 is left out: the gap has no proposal",
        ];
        assert_eq!(turns.left_out, expected);
    }
}
