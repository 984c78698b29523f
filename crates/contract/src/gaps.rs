//! Converts the results of specification rounds for the gap board.

use super::problem::ContractProblem;
use super::schema::gaps::{
    GapInventory, GapProposals, GapReview, IssueStance, ProposalJudgement, ReportedGap,
};
use remand_kernel::event::Item;
use remand_kernel::gaps::{
    EngineerAnswer, EngineerOutput, GapId, NewGap, NewIssue, Proposal, ProposalVerdict, ReviewIssueId,
    ReviewerJudgement, ReviewerOutput, Stance,
};
use remand_ledger::BlobId;
use std::collections::BTreeMap;

/// The gaps of an inventory.
pub fn new_gaps(inventory: &GapInventory) -> Result<Vec<NewGap>, Vec<ContractProblem>> {
    let mut problems = Vec::new();
    let gaps = convert_gaps(&inventory.gaps, "payload.gaps", &mut problems);
    if problems.is_empty() { Ok(gaps) } else { Err(problems) }
}

/// Converts an engineer's result.
pub fn engineer_output(it: &GapProposals) -> Result<EngineerOutput, Vec<ContractProblem>> {
    let mut problems = Vec::new();
    let mut output = EngineerOutput::default();
    for (at, proposal) in it.proposals.iter().enumerate() {
        let path = format!("payload.proposals[{at}]");
        output.new_gaps.extend(convert_gaps(&proposal.new_gaps, &format!("{path}.new_gaps"), &mut problems));
        if let Some(gap) = gap_id(&proposal.gap.0, &format!("{path}.gap"), &mut problems) {
            output.proposals.push(Proposal {
                gap,
                solution: proposal.solution.0.clone(),
                section: proposal.section.0.clone(),
                replaces: proposal.replaces.clone(),
                text: proposal.text.0.clone(),
            });
        }
    }
    for (at, answer) in it.answers.iter().enumerate() {
        let path = format!("payload.answers[{at}]");
        let issue = match answer.issue.0.parse::<ReviewIssueId>() {
            Ok(issue) => issue,
            Err(_) => {
                problems.push(ContractProblem::new(
                    format!("{path}.issue"),
                    "an id such as `ISSUE-R2-001`",
                    format!("`{}`", answer.issue.0),
                ));
                continue;
            }
        };
        let stance = match answer.stance {
            IssueStance::Agree => Stance::Agree,
            IssueStance::Disagree => {
                let stated = [
                    ("position", &answer.position),
                    ("rationale", &answer.rationale),
                    ("trade_off", &answer.trade_off),
                ];
                for (field, text) in stated {
                    if text.trim().is_empty() {
                        let expected = "a non-empty string, because the stance is `disagree`";
                        problems.push(ContractProblem::new(format!("{path}.{field}"), expected, "nothing"));
                    }
                }
                Stance::Disagree {
                    position: answer.position.clone(),
                    rationale: answer.rationale.clone(),
                    alternative: answer.alternative.clone(),
                    trade_off: answer.trade_off.clone(),
                    alternative_trade_off: answer.alternative_trade_off.clone(),
                }
            }
        };
        output.answers.push(EngineerAnswer { issue, stance });
    }
    output.new_gaps.extend(convert_gaps(&it.new_gaps, "payload.new_gaps", &mut problems));
    if problems.is_empty() { Ok(output) } else { Err(problems) }
}

/// Converts a reviewer's result.
pub fn reviewer_output(it: &GapReview) -> Result<ReviewerOutput, Vec<ContractProblem>> {
    let mut problems = Vec::new();
    let mut output = ReviewerOutput {
        checks: it.checks.iter().map(|check| check.0.clone()).collect(),
        ..ReviewerOutput::default()
    };
    for (at, review) in it.reviews.iter().enumerate() {
        let path = format!("payload.reviews[{at}]");
        let Some(gap) = gap_id(&review.gap.0, &format!("{path}.gap"), &mut problems) else { continue };
        let needs_note = review.judgement != ProposalJudgement::Approved;
        if needs_note && review.note.trim().is_empty() {
            let expected = "a note, because the judgement is not `approved`";
            problems.push(ContractProblem::new(format!("{path}.note"), expected, "nothing"));
        }
        let judgement = match review.judgement {
            ProposalJudgement::Approved => ReviewerJudgement::Approved,
            ProposalJudgement::ApprovedWithNote => ReviewerJudgement::ApprovedWithNote(review.note.clone()),
            ProposalJudgement::NeedsRevision => ReviewerJudgement::NeedsRevision(review.note.clone()),
        };
        output.issues.extend(review.issues.iter().map(|issue| NewIssue {
            gap: gap.clone(),
            severity: issue.severity.into(),
            concern: issue.concern.0.clone(),
            trade_off: issue.trade_off.clone(),
        }));
        output.verdicts.push(ProposalVerdict { gap, judgement });
    }
    output.new_gaps = convert_gaps(&it.new_gaps, "payload.new_gaps", &mut problems);
    if problems.is_empty() { Ok(output) } else { Err(problems) }
}

/// The gaps as a list for the kernel. Their ids are those that an empty board would assign.
pub(super) fn items(gaps: &[ReportedGap]) -> Vec<Item> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    gaps.iter()
        .map(|gap| {
            let number = counts.entry(gap.category.as_str()).or_default();
            *number += 1;
            Item {
                id: format!("GAP-{}-{number:03}", gap.category),
                needs: Vec::new(),
                spec: BlobId::of(gap.claim.0.as_bytes()).digest(),
                files: Vec::new(),
            }
        })
        .collect()
}

fn convert_gaps(gaps: &[ReportedGap], path: &str, problems: &mut Vec<ContractProblem>) -> Vec<NewGap> {
    let mut converted = Vec::new();
    for (at, gap) in gaps.iter().enumerate() {
        let mut parse_id = |name: &Option<String>, field: &str| {
            let name = name.as_deref().map(str::trim).filter(|name| !name.is_empty())?;
            gap_id(name, &format!("{path}[{at}].{field}"), problems)
        };
        let split_from = parse_id(&gap.split_from, "split_from");
        let waits_for = parse_id(&gap.waits_for, "waits_for");
        converted.push(NewGap {
            category: gap.category.clone(),
            severity: gap.severity.into(),
            claim: gap.claim.0.clone(),
            sections: gap.sections.clone(),
            split_from,
            waits_for,
        });
    }
    converted
}

fn gap_id(text: &str, path: &str, problems: &mut Vec<ContractProblem>) -> Option<GapId> {
    let id = text.trim().parse::<GapId>();
    if id.is_err() {
        problems.push(ContractProblem::new(path, "an id such as `GAP-FLOW-001`", format!("`{text}`")));
    }
    id.ok()
}
