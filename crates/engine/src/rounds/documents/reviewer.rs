//! `round_<nnn>/reviewer.md`: the reviewer's verdicts, issues and checks.

use super::super::sheet::RoundSheet;
use super::engineer::new_gaps;
use super::{bullets, table};
use remand_contract::markdown::{block, cell, inline};
use remand_contract::schema::gaps::ProposalJudgement;
use remand_kernel::gaps::Board;

pub fn page(sheet: &RoundSheet, board: &Board) -> String {
    let mut page = format!("# Round {}: reviewer\n", sheet.round);
    let Some(review) = &sheet.review else {
        let why = match &sheet.unreviewed {
            Some(why) => {
                format!("The reviewer returned no result: {}. The proposals are unreviewed.", inline(why))
            }
            None if sheet.closed_at.is_none() => {
                "The round was rolled back before it was reviewed.".to_string()
            }
            None => "There was nothing to review.".to_string(),
        };
        return format!("{page}\n{why}\n");
    };
    let issues: Vec<Vec<String>> = board
        .issues()
        .filter(|issue| issue.id.round == sheet.round)
        .map(|issue| {
            let severity = issue.severity.to_string();
            vec![issue.id.to_string(), issue.gap.to_string(), severity, cell(&issue.concern)]
        })
        .collect();
    let needs_revision =
        review.reviews.iter().any(|review| review.judgement == ProposalJudgement::NeedsRevision);
    if issues.is_empty() && !needs_revision && review.new_gaps.is_empty() {
        page.push_str("\n**No issues found.** Every proposal is approved.\n");
    }
    let rows: Vec<Vec<String>> = review
        .reviews
        .iter()
        .map(|review| {
            let judgement = match review.judgement {
                ProposalJudgement::Approved => "approved",
                ProposalJudgement::ApprovedWithNote => "approved with a note",
                ProposalJudgement::NeedsRevision => "**needs revision**",
            };
            vec![cell(&review.gap.0), judgement.to_string(), cell(&review.note)]
        })
        .collect();
    if !rows.is_empty() {
        page.push_str(&format!("\n## Proposals\n\n{}", table(&["Gap", "Judgement", "Note"], &rows)));
    }
    if !issues.is_empty() {
        page.push_str(&format!(
            "\n## Issues\n\n{}",
            table(&["Issue", "Gap", "Severity", "Concern"], &issues)
        ));
    }
    let checks = bullets(review.checks.iter().map(|check| block(&check.0, 2)));
    page.push_str(&format!("\n## Checks performed\n\n{checks}"));
    if !review.new_gaps.is_empty() {
        page.push_str(&format!("\n## New gaps\n\n{}", new_gaps(&review.new_gaps)));
    }
    page
}
