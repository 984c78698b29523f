//! The open questions in words: for the gate that asks, and for the answer.

use remand_kernel::gaps::{BlockedOn, Board, Conflict, Gap};

/// Every open question, one per line, with the positions to choose from.
pub fn open(board: &Board) -> Vec<String> {
    let conflicts = board.undecided().map(conflict);
    let outside = board.unsettled().filter_map(|gap| match &gap.waits_for {
        Some(BlockedOn::External(why)) => Some(external(gap, why)),
        Some(BlockedOn::Gap(_) | BlockedOn::Decision(_)) | None => None,
    });
    conflicts.chain(outside).collect()
}

/// How to answer.
pub const HOW: &str = "answer `decided` with a note of one line for each: `ISSUE-R1-001: 2 because …` takes a position, \
                       `ISSUE-R1-001: your own words` writes one, `GAP-FLOW-001: waive because …` and `defer` set a gap \
                       aside";

fn conflict(conflict: &Conflict) -> String {
    let positions: Vec<String> = conflict
        .positions
        .iter()
        .enumerate()
        .map(|(at, position)| format!("({}) the {}: {}", at + 1, position.by, position.text))
        .collect();
    format!("{} about {}: {}", conflict.issue, conflict.gap, positions.join("; "))
}

fn external(gap: &Gap, why: &str) -> String {
    format!("{} ({}) waits for something external: {why}", gap.id, gap.claim)
}
