//! Describes the open questions on a board, and how to answer them.

use remand_kernel::gaps::{BlockedOn, Board, Conflict, Gap};

/// Every open question, one per line, with the positions to choose from.
pub fn open(board: &Board) -> Vec<String> {
    let conflicts = board.undecided().map(conflict_question);
    let blocked = board.unsettled().filter_map(|gap| match &gap.waits_for {
        Some(BlockedOn::External(why)) => Some(external_question(gap, why)),
        Some(BlockedOn::Gap(_) | BlockedOn::Decision(_)) | None => None,
    });
    conflicts.chain(blocked).collect()
}

pub const HOW_TO_ANSWER: &str = "answer `decided` with a note that has one line per question: `ISSUE-R1-001: 2 because …` \
                                 chooses a position, `ISSUE-R1-001: your own words` states a new one, \
                                 `GAP-FLOW-001: waive because …` or `GAP-FLOW-001: defer` sets a gap aside";

fn conflict_question(conflict: &Conflict) -> String {
    let positions: Vec<String> = conflict
        .positions
        .iter()
        .enumerate()
        .map(|(at, position)| {
            let trade_off =
                if position.trade_off.trim().is_empty() { "not stated" } else { position.trade_off.trim() };
            format!("({}) the {}: {} (trade-off: {trade_off})", at + 1, position.by, position.text)
        })
        .collect();
    format!("{} about {}: {}", conflict.issue, conflict.gap, positions.join("; "))
}

fn external_question(gap: &Gap, why: &str) -> String {
    format!("{} ({}) waits for something external: {why}", gap.id, gap.claim)
}
