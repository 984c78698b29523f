//! `summary.md`: how the refinement ended.

use super::super::history::RoundHistory;
use super::table;
use remand_contract::markdown::{code, inline};
use remand_kernel::gaps::{Board, Gap, GapStatus, table as convergence};
use remand_ledger::query::{RunRow, RunStage};

/// The status of a refinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefinementStatus {
    Complete,
    UserApproved,
    /// No gap is open, but the whole document was not searched again, or the search found gaps that are not on the board.
    NotSearched,
    OutOfRounds,
    Abandoned,
    CancelledOrFailed,
    /// The run can continue.
    UnderWay,
}

impl RefinementStatus {
    /// The status of a run.
    pub fn of(row: &RunRow, history: &RoundHistory) -> RefinementStatus {
        match row.stage {
            RunStage::Running | RunStage::Waiting | RunStage::Paused | RunStage::Interrupted => {
                RefinementStatus::UnderWay
            }
            RunStage::Committed | RunStage::LeftToYou => RefinementStatus::finished(history),
            RunStage::Stopped if history.is_cancelled => RefinementStatus::CancelledOrFailed,
            RunStage::Stopped if history.is_draft => RefinementStatus::OutOfRounds,
            RunStage::Stopped => RefinementStatus::Abandoned,
            RunStage::Failed => RefinementStatus::CancelledOrFailed,
        }
    }

    /// The status of a run that finished the document.
    pub fn finished(history: &RoundHistory) -> RefinementStatus {
        let has_open = history.board.as_ref().is_some_and(|board| board.unsettled().next().is_some());
        match (has_open, history.is_clean) {
            (true, _) => RefinementStatus::UserApproved,
            (false, true) => RefinementStatus::Complete,
            (false, false) => RefinementStatus::NotSearched,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            RefinementStatus::Complete => "complete",
            RefinementStatus::UserApproved => "user-approved with known gaps",
            RefinementStatus::NotSearched => "user-approved without a clean final review",
            RefinementStatus::OutOfRounds => "draft, out of rounds",
            RefinementStatus::Abandoned => "abandoned",
            RefinementStatus::CancelledOrFailed => "cancelled or failed",
            RefinementStatus::UnderWay => "under way",
        }
    }
}

/// The summary page. `path` is the path of the committed document; it is empty if none was committed.
pub fn summary(history: &RoundHistory, status: RefinementStatus, path: &str) -> String {
    let Some(board) = &history.board else { return String::new() };
    let counted = board.rows().iter().filter(|row| row.state.counts()).count();
    let time = (history.last_at.0 - history.started_at.0).max(0) / 1000;
    let mut page = format!(
        "# Summary\n\n**Status:** {}\\\n**Rounds:** {counted} counted, {} in total, {} rolled back\\\n**Duration:** {}\\\n",
        status.name(),
        board.rows().len(),
        history.rolled_back.len(),
        duration(time)
    );
    let written = if path.is_empty() { "not written".to_string() } else { code(path) };
    page.push_str(&format!("**Specification:** {written}\n\n## Gaps\n\n{}", counts(board)));
    if !board.rows().is_empty() {
        page.push_str(&format!("\n## Convergence\n\n{}", convergence(board.rows())));
    }
    let limits = known_limits(history);
    page.push_str("\n## Known limits\n\n");
    page.push_str(if limits.is_empty() { "None.\n" } else { &limits });
    page
}

/// The gaps that are open or set aside, one per line.
pub fn known_limits(history: &RoundHistory) -> String {
    let gaps = history.board.iter().flat_map(Board::gaps);
    let open = gaps.filter(|gap| !matches!(gap.status, GapStatus::Resolved | GapStatus::Closed));
    let line =
        |gap: &Gap| format!("- {}, {}, {}: {}\n", gap.id, gap.severity, gap.status, inline(&gap.claim));
    open.map(line).collect()
}

fn counts(board: &Board) -> String {
    let count = |status: GapStatus| board.gaps().filter(|gap| gap.status == status).count();
    let rows = GapStatus::ALL.iter().filter(|status| count(**status) > 0);
    let mut rows: Vec<Vec<String>> =
        rows.map(|status| vec![status.to_string(), count(*status).to_string()]).collect();
    rows.push(vec!["**total**".to_string(), board.gaps().count().to_string()]);
    table(&["Status", "Gaps"], &rows)
}

fn duration(seconds: i64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
