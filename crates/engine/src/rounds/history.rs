//! The rounds of a run: the current board, the sheet of each round, and the rollbacks.

use super::round_task::RoundTask;
use super::sheet::{DocumentVersion, RoundSheet};
use crate::site::Trouble;
use remand_kernel::change::Digest;
use remand_kernel::gaps::{
    Autonomy, Board, EngineerTurn, RetryMode, ReviewerTurn, RollbackRequest, RoundAttempt, RoundInput,
    Rounds, SectionPaths, close_round,
};
use remand_kernel::program::{Items, Work};
use remand_kernel::{Event, Program};
use remand_ledger::{Millis, Reader};
use std::collections::BTreeMap;

/// The rounds of a run, up to the last event in the journal.
#[derive(Clone, Debug)]
pub struct RoundHistory {
    /// `None` before the first gap is known.
    pub board: Option<Board>,
    pub rounds: Rounds,
    /// The round under way.
    pub current: RoundSheet,
    /// The closed rounds that were not rolled back.
    pub closed: BTreeMap<u32, RoundSheet>,
    /// The rounds that were rolled back, with the number of the rollback.
    pub rolled_back: Vec<(u32, RoundSheet)>,
    /// The current version of the document.
    pub text: Option<DocumentVersion>,
    /// Whether the last search of the whole document found no gap and the board has not changed since.
    pub is_clean: bool,
    /// Whether the document was committed to the branch as a draft.
    pub is_draft: bool,
    pub is_cancelled: bool,
    pub started_at: Millis,
    pub last_at: Millis,
    /// The round of the board at each checkpoint of the run.
    pub(super) checkpoints: Vec<u32>,
    pub(super) versions: BTreeMap<Digest, DocumentVersion>,
}

impl RoundHistory {
    pub(super) fn blank() -> RoundHistory {
        RoundHistory {
            board: None,
            rounds: Rounds::default(),
            current: RoundSheet::of(1),
            closed: BTreeMap::new(),
            rolled_back: Vec::new(),
            text: None,
            is_clean: false,
            is_draft: false,
            is_cancelled: false,
            started_at: Millis(0),
            last_at: Millis(0),
            checkpoints: Vec::new(),
            versions: BTreeMap::new(),
        }
    }

    /// The board; an error if there is none yet.
    pub fn board(&self) -> Result<&Board, Trouble> {
        self.board.as_ref().ok_or_else(|| Trouble::denied("the run has no gap board yet"))
    }

    /// The text of the current version of the document.
    pub fn document(&self, reader: &Reader) -> Result<String, Trouble> {
        let text = self.text.ok_or_else(|| Trouble::denied("the run has no document yet"))?;
        Ok(crate::artifacts::content(reader, text.blob)?)
    }

    /// The checkpoint to restore for a rollback to a round: the last checkpoint at or before that round.
    pub fn checkpoint_of(&self, round: u32) -> Option<u16> {
        let at = self.checkpoints.iter().rposition(|checkpoint| *checkpoint <= round)?;
        u16::try_from(at + 1).ok()
    }

    /// The round of the last checkpoint, which a retry repeats.
    pub fn last_checkpoint_round(&self) -> u32 {
        let round = self.board.as_ref().map_or(1, Board::round).saturating_sub(1);
        self.checkpoints.last().copied().unwrap_or(round)
    }

    /// The sheets of an archived attempt, in order.
    pub fn sheets_of(&self, attempt: RoundAttempt) -> Vec<&RoundSheet> {
        let of_attempt = self.rolled_back.iter().filter(|(number, _)| Some(*number) == attempt.rollback);
        let rounds = attempt.round..=attempt.until;
        of_attempt.map(|(_, sheet)| sheet).filter(|sheet| rounds.contains(&sheet.round)).collect()
    }

    /// The work of the current round.
    pub fn task(&self, program: &Program) -> Result<RoundTask, Trouble> {
        Ok(RoundTask::of(self.board()?, &self.rounds, max_batches(program)))
    }
}

impl RoundHistory {
    /// Closes the current round; `board` is the board of the next round.
    pub fn close(&mut self, board: Board, end: &str, remarks: Vec<String>, at: Millis) {
        let round = board.rows().last().map_or(self.current.round, |row| row.round);
        let mut sheet = std::mem::replace(&mut self.current, RoundSheet::of(board.round()));
        sheet.round = round;
        sheet.end = end.to_string();
        sheet.remarks = remarks;
        sheet.text = self.text;
        sheet.closed_at = Some(at);
        sheet.board = Some(board.clone());
        self.closed.insert(round, sheet);
        self.board = Some(board);
    }

    /// Closes the round as failed, because no engineer returned a result. A failed round does not count.
    pub(super) fn close_as_failed(&mut self, why: String, at: Millis) {
        let Some(board) = &self.board else { return };
        let input = RoundInput {
            round: board.round(),
            engineer: EngineerTurn::Failed { why },
            asked: Vec::new(),
            reviewer: ReviewerTurn::Skipped,
            autonomy: Autonomy::Interactive,
            unplaced: Vec::new(),
            places: SectionPaths::default(),
        };
        let Ok(closed) = close_round(board, &input) else { return };
        let batches = self.current.batches.clone();
        self.rounds.start(&closed.board);
        self.close(closed.board, "failed", vec![closed.explanation], at);
        // The next round retries the same gaps without a new assignment.
        self.current.batches = batches;
        self.current.started_at = Some(at);
    }

    /// The rollback request in an event from a human.
    pub(super) fn rollback_request(&self, round: u32, event: &Event) -> RollbackRequest {
        let (mode, reason, context) = match event {
            Event::RolledBack { mode, reason, context, .. } => (*mode, reason.clone(), context.clone()),
            // A note at a gate is context for the retry.
            Event::Answered { note, .. } if !note.trim().is_empty() => {
                (RetryMode::ExtraContext, note.clone(), note.clone())
            }
            Event::Answered { .. }
            | Event::Started(_)
            | Event::Ended { .. }
            | Event::Interrupted { .. }
            | Event::Cancelled { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::Retried { .. }
            | Event::ApproachRemoved { .. }
            | Event::Reattributed { .. }
            | Event::Reverted { .. } => (RetryMode::SamePrompt, String::new(), String::new()),
        };
        let sheets = self.closed.range(round..).map(|(_, sheet)| sheet).chain([&self.current]);
        let errors = sheets.flat_map(|sheet| sheet.failures.iter().map(|dispatch| dispatch.failure.clone()));
        let adjustments = Some(context.trim().to_string()).filter(|context| !context.is_empty());
        RollbackRequest {
            round,
            mode,
            reason,
            errors: errors.collect(),
            adjustments: adjustments.into_iter().collect(),
        }
    }

    /// Moves the sheets of a round and all later rounds to the rolled-back ones.
    pub(super) fn move_to_rolled_back(&mut self, round: u32, number: u32) {
        let closed = self.closed.split_off(&round);
        let mut current = std::mem::take(&mut self.current);
        current.board = self.board.clone();
        let open = Some(current).filter(|sheet| !sheet.is_blank() && sheet.round >= round);
        self.rolled_back.extend(closed.into_values().chain(open).map(|sheet| (number, sheet)));
    }
}

/// Maximum number of batches in a round.
fn max_batches(program: &Program) -> usize {
    let lists = program.phases.iter().filter_map(|phase| match &phase.work {
        Work::Each { items: Items::Listed { list, up_to }, .. } => Some((*list, *up_to)),
        Work::Each { items: Items::Fixed(_), .. }
        | Work::Role { .. }
        | Work::Panel { .. }
        | Work::Flow { .. }
        | Work::Operation { .. }
        | Work::Ask { .. } => None,
    });
    let mut batches = lists.filter(|(list, _)| program.lists[list.index()] == "batches");
    batches.next().map_or(1, |(_, up_to)| usize::from(up_to).max(1))
}
