//! The rounds on a gap board, in numbers, for a gate that asks about them.

use super::counted::counted;
use crate::pinned::Pinned;
use crate::rounds::RoundHistory;
use remand_kernel::gaps::{BlockedOn, Board, Gap, GapSeverity, RoundRow};
use remand_ledger::query::GateRow;
use remand_ledger::{LedgerError, Reader};

/// Maximum number of open gaps that a gate lists.
const MAX_GAPS: usize = 10;

/// The round out of the maximum, the open gaps by severity, and the numbers of the last two rounds.
pub(super) fn lines(reader: &Reader, gate: &GateRow, pinned: &Pinned) -> Result<Vec<String>, LedgerError> {
    // A workflow without a board has no rounds; a journal that cannot be replayed shows none.
    let history = RoundHistory::read(reader, &gate.run, pinned).ok();
    let Some(board) = history.and_then(|history| history.board) else { return Ok(Vec::new()) };
    let mut lines = vec![open_gaps(&board)];
    let last = board.rows().len().saturating_sub(2);
    lines.extend(board.rows()[last..].iter().map(numbers));
    let open: Vec<&Gap> = board.unsettled().collect();
    lines.extend(open.iter().take(MAX_GAPS).map(|gap| describe_gap(gap)));
    if open.len() > MAX_GAPS {
        lines.push(format!("and {} more open gaps: `remand gaps`", open.len() - MAX_GAPS));
    }
    Ok(lines)
}

/// An open gap, what it waits for, and the proposal to close it.
fn describe_gap(gap: &Gap) -> String {
    let waits_for = match &gap.waits_for {
        Some(BlockedOn::Gap(on)) => format!(", waits for {on}"),
        Some(BlockedOn::Decision(on)) => format!(", waits for the decision about {on}"),
        Some(BlockedOn::External(what)) => format!(", waits for {what}"),
        None => String::new(),
    };
    format!("gap {} ({}, {}{waits_for}): {}", gap.id, gap.severity, gap.status, gap.claim)
}

fn open_gaps(board: &Board) -> String {
    let round = board.rows().last().map_or(board.round(), |row| row.round);
    let open = |severity: GapSeverity| board.unsettled().filter(|gap| gap.severity == severity).count();
    format!(
        "round {round} of at most {}; open gaps: {} critical, {} high, {} medium, {} low",
        board.max_rounds(),
        open(GapSeverity::Critical),
        open(GapSeverity::High),
        open(GapSeverity::Medium),
        open(GapSeverity::Low),
    )
}

fn numbers(row: &RoundRow) -> String {
    format!(
        "round {}: {} at the start, {} resolved, {} new, {} at the end; net {}, weighted net {} ({})",
        row.round,
        counted(usize::try_from(row.start).unwrap_or(usize::MAX), "gap"),
        row.resolved.len(),
        row.new.len(),
        row.end,
        row.net,
        row.weighted_net,
        row.state,
    )
}
