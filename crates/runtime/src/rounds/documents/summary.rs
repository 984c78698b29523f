//! `summary.md`: how the refinement ended (SR-09).

use super::super::history::History;
use super::table;
use crate::contract::markdown::{code, inline};
use remand_kernel::gaps::{Board, Gap, GapStatus, table as convergence};
use remand_ledger::query::{RunRow, RunStage};

/// How a refinement stands at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Complete,
    UserApproved,
    /// No gap is open, but nobody looked at the whole since, or what was found is not on the board.
    NotLookedOver,
    OutOfRounds,
    Abandoned,
    /// Cancelled, or failed.
    BrokenOff,
    /// It can go on.
    UnderWay,
}

impl Standing {
    /// How a run stands, by its row in the ledger.
    pub fn of(row: &RunRow, history: &History) -> Standing {
        match row.stage {
            RunStage::Running | RunStage::Waiting | RunStage::Paused => Standing::UnderWay,
            RunStage::Done => Standing::finished(history),
            RunStage::Stopped if history.is_draft => Standing::OutOfRounds,
            RunStage::Stopped => Standing::Abandoned,
            RunStage::Failed | RunStage::Cancelled => Standing::BrokenOff,
        }
    }

    /// How a document stands that is written in full.
    pub fn finished(history: &History) -> Standing {
        let open = history.board.as_ref().is_some_and(|board| board.unsettled().next().is_some());
        match (open, history.is_clean) {
            (true, _) => Standing::UserApproved,
            (false, true) => Standing::Complete,
            (false, false) => Standing::NotLookedOver,
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Standing::Complete => "complete",
            Standing::UserApproved => "user-approved with known gaps",
            Standing::NotLookedOver => "user-approved without a clean last look",
            Standing::OutOfRounds => "draft, out of rounds",
            Standing::Abandoned => "abandoned",
            Standing::BrokenOff => "broken off",
            Standing::UnderWay => "under way",
        }
    }
}

/// The last page of a refinement; `path` is where the document is, empty when it was not written.
pub fn summary(history: &History, standing: Standing, path: &str) -> String {
    let Some(board) = &history.board else { return String::new() };
    let counted = board.rows().iter().filter(|row| row.state.counts()).count();
    let time = (history.last_at.0 - history.begun_at.0).max(0) / 1000;
    let mut page = format!(
        "# Summary\n\n**Status:** {}\\\n**Rounds:** {counted} counted, {} in all, {} rolled back\\\n**Duration:** {}\\\n",
        standing.words(),
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

/// What is open or was set aside, a line each; empty when nothing is.
pub fn known_limits(history: &History) -> String {
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
    rows.push(vec!["**in all**".to_string(), board.gaps().count().to_string()]);
    table(&["Status", "Gaps"], &rows)
}

fn duration(seconds: i64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
