//! `round_<nnn>/engineer.md`: the engineers' proposals.

use super::super::sheet::RoundSheet;
use super::{bullets, table};
use remand_contract::markdown::{block, cell, code, fenced, inline};
use remand_contract::schema::gaps::{GapProposal, GapProposals, IssueStance, ReportedGap};
use remand_contract::schema::words::ReportedConfidence;
use remand_kernel::gaps::{Board, GapSeverity};

pub fn page(sheet: &RoundSheet, board: &Board) -> String {
    let mut page = format!("# Round {}: engineer\n", sheet.round);
    if sheet.proposals.is_empty() {
        page.push_str("\nNo engineer returned a result; see `summary.md` for the reason.\n");
    }
    for (batch, result) in &sheet.proposals {
        let summary = sheet.summaries.get(batch).map(|text| inline(text)).filter(|text| !text.is_empty());
        let gaps: Vec<String> =
            sheet.batches.get(batch).into_iter().flatten().map(ToString::to_string).collect();
        let assigned = if gaps.is_empty() { "no gap".to_string() } else { gaps.join(", ") };
        page.push_str(&format!("\n**{}**, assigned {assigned}.", inline(batch)));
        page.push_str(&summary.map_or_else(|| "\n".to_string(), |summary| format!(" {summary}\n")));
        for proposal in &result.proposals {
            page.push_str(&proposal_section(proposal, board));
        }
        page.push_str(&answers(result));
        if !result.new_gaps.is_empty() {
            page.push_str(&format!("\n## New gaps\n\n{}", new_gaps(&result.new_gaps)));
        }
    }
    page
}

fn proposal_section(proposal: &GapProposal, board: &Board) -> String {
    let gap = board.gaps().find(|gap| gap.id.to_string() == proposal.gap.0);
    let claim = gap.map_or_else(String::new, |gap| format!(": {}", inline(&gap.claim)));
    let confidence = match proposal.confidence {
        ReportedConfidence::High => "high",
        ReportedConfidence::Medium => "medium",
        ReportedConfidence::Low => "low",
    };
    let mut text = format!(
        "\n## {}{claim}\n\n**Confidence:** {confidence} · **Section:** {}\n\n{}\n\n### Text\n\n{}",
        inline(&proposal.gap.0),
        inline(&proposal.section.0),
        block(&proposal.solution.0, 0),
        fenced(&proposal.text.0, "markdown", 0),
    );
    if !proposal.replaces.trim().is_empty() {
        text.push_str(&format!("\nIt replaces:\n\n{}", fenced(&proposal.replaces, "markdown", 0)));
    }
    for (title, items) in [("Examples", &proposal.examples), ("Trade-offs", &proposal.trade_offs)] {
        if !items.is_empty() {
            text.push_str(&format!("\n### {title}\n\n{}", bullets(items.iter().map(|item| block(item, 2)))));
        }
    }
    if !proposal.new_gaps.is_empty() {
        text.push_str(&format!("\n### New gaps\n\n{}", new_gaps(&proposal.new_gaps)));
    }
    text
}

fn answers(result: &GapProposals) -> String {
    if result.answers.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = result
        .answers
        .iter()
        .map(|answer| {
            let stance = match answer.stance {
                IssueStance::Agree => "agrees",
                IssueStance::Disagree => "**disagrees**",
            };
            let cells = [&answer.position, &answer.rationale, &answer.alternative].map(|text| cell(text));
            [cell(&answer.issue.0), stance.to_string()].into_iter().chain(cells).collect()
        })
        .collect();
    let head = ["Issue", "Stance", "Position", "Rationale", "Alternative"];
    format!("\n## Answers to issues\n\n{}", table(&head, &rows))
}

/// Reported gaps, which have no ids yet.
pub fn new_gaps(gaps: &[ReportedGap]) -> String {
    bullets(gaps.iter().map(|gap| {
        let severity = GapSeverity::from(gap.severity);
        let from = gap.split_from.as_deref().filter(|from| !from.is_empty());
        let from = from.map_or_else(String::new, |from| format!(" (split from {})", code(from)));
        format!("{} {severity}: {}{from}", inline(&gap.category), inline(&gap.claim.0))
    }))
}
