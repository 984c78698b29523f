//! `round_<nnn>/summary.md`: the outcome of the round.

use super::super::sheet::{FailedDispatch, RoundSheet};
use super::bullets;
use crate::clock;
use remand_contract::markdown::inline;
use remand_kernel::gaps::{Board, table};

pub fn page(sheet: &RoundSheet, board: &Board) -> String {
    let round = sheet.round;
    let mut page = format!("# Round {round}: summary\n\n**End:** {}", inline(&sheet.end));
    if let (Some(started), Some(closed)) = (sheet.started_at, sheet.closed_at) {
        page.push_str(&format!(" · **From:** {} · **To:** {}", clock::iso(started), clock::iso(closed)));
    }
    page.push_str("\n\n");
    let rows: Vec<_> = board.rows().iter().filter(|row| row.round == round).cloned().collect();
    page.push_str(&table(&rows));
    if let Some(row) = rows.first() {
        for (title, ids) in [("Resolved", &row.resolved), ("New", &row.new), ("Set aside", &row.set_aside)] {
            let gaps = ids.iter().filter_map(|id| board.gap(id));
            let lines: Vec<String> = gaps.map(|gap| format!("{}: {}", gap.id, inline(&gap.claim))).collect();
            if !lines.is_empty() {
                page.push_str(&format!("\n## {title}\n\n{}", bullets(lines)));
            }
        }
    }
    page.push_str(&format!("\n## Remarks\n\n{}", bullets(sheet.remarks.iter().map(|remark| inline(remark)))));
    page.push_str(&moves(board, round));
    page.push_str(&failure_list(&sheet.failures));
    page
}

/// The summary of a round that was rolled back before it was closed.
pub fn unfinished_page(sheet: &RoundSheet) -> String {
    format!(
        "# Round {}: summary\n\nIt was rolled back before it was closed.\n{}",
        sheet.round,
        failure_list(&sheet.failures)
    )
}

/// Every status change of the round, with its actor.
fn moves(board: &Board, round: u32) -> String {
    let rows: Vec<Vec<String>> = board
        .transitions()
        .iter()
        .filter(|transition| transition.round == round)
        .map(|transition| {
            vec![
                transition.gap.to_string(),
                format!("{} → {}", transition.from, transition.to),
                transition.actor.to_string(),
                remand_contract::markdown::cell(&transition.why),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n## Moves\n\n{}", super::table(&["Gap", "Move", "By", "Why"], &rows))
}

/// The failed dispatches, and whether each was retried.
pub fn failure_list(failures: &[FailedDispatch]) -> String {
    if failures.is_empty() {
        return String::new();
    }
    let lines = failures.iter().map(|dispatch| {
        let item = dispatch.item.as_deref().map_or_else(String::new, |item| format!(" ({item})"));
        let follow_up = if dispatch.is_retried { "tried again" } else { "given up" };
        format!(
            "{} {}{item}: {}; {follow_up}",
            clock::iso(dispatch.at),
            dispatch.role,
            inline(&dispatch.failure)
        )
    });
    format!("\n## Errors and retries\n\n{}", bullets(lines))
}
