//! The rounds of a run, made from its journal: the board as it is, what each round left, and what was rolled back.

use super::awaited::Awaited;
use super::sheet::Sheet;
use super::task::Task;
use super::teller::Teller;
use crate::pinned::Pinned;
use crate::workshop::Trouble;
use remand_kernel::change::Digest;
use remand_kernel::gaps::{
    Attempt, Autonomy, Board, EngineerTurn, Places, RetryMode, ReviewerTurn, RollbackRequest, RoundInput,
    Rounds, close_round,
};
use remand_kernel::program::{Items, Work};
use remand_kernel::{Event, Program};
use remand_ledger::{BlobId, Millis, Reader, RunId};
use std::collections::BTreeMap;

/// One version of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    pub digest: Digest,
    pub blob: BlobId,
}

/// The rounds of a run up to an event.
#[derive(Clone, Debug)]
pub struct History {
    /// None before the first gap is known.
    pub board: Option<Board>,
    pub rounds: Rounds,
    /// The round under way.
    pub current: Sheet,
    /// The rounds that were closed, on the present line.
    pub closed: BTreeMap<u32, Sheet>,
    /// The rounds that were rolled back, with the number of the rollback.
    pub rolled_back: Vec<(u32, Sheet)>,
    /// The document as it is.
    pub text: Option<Text>,
    /// The newest look at the whole found nothing, and the board has not changed since.
    pub is_clean: bool,
    /// The document was put on the branch as a draft.
    pub is_draft: bool,
    pub begun_at: Millis,
    pub last_at: Millis,
    /// The rounds of the board at which the checkpoints of the run were set.
    pub(super) checkpoints: Vec<u32>,
    pub(super) texts: BTreeMap<Digest, Text>,
}

impl History {
    pub fn read(reader: &Reader, run: &RunId, pinned: &Pinned) -> Result<History, Trouble> {
        let mut teller = Teller { reader, pinned, history: History::blank(), awaited: Awaited::default() };
        for row in reader.journal(run, 0)? {
            teller.hear(&row)?;
        }
        Ok(teller.history)
    }

    /// The rounds of a run, by its own law.
    pub fn of_run(reader: &Reader, run: &RunId) -> Result<History, Trouble> {
        let row = reader.run(&run.0)?;
        let pinned: Pinned = serde_json::from_slice(&reader.blob(row.pinned)?)
            .map_err(|error| Trouble::denied(format!("what the run is pinned to cannot be read: {error}")))?;
        History::read(reader, run, &pinned)
    }

    fn blank() -> History {
        History {
            board: None,
            rounds: Rounds::default(),
            current: Sheet::of(1),
            closed: BTreeMap::new(),
            rolled_back: Vec::new(),
            text: None,
            is_clean: false,
            is_draft: false,
            begun_at: Millis(0),
            last_at: Millis(0),
            checkpoints: Vec::new(),
            texts: BTreeMap::new(),
        }
    }

    /// The board, where an operation or a dispatch cannot do without.
    pub fn board(&self) -> Result<&Board, Trouble> {
        self.board.as_ref().ok_or_else(|| Trouble::denied("there is no gap board yet"))
    }

    /// The document as it is.
    pub fn document(&self, reader: &Reader) -> Result<String, Trouble> {
        let text = self.text.ok_or_else(|| Trouble::denied("the run has no document yet"))?;
        crate::dispatch::content(reader, text.blob)
    }

    /// The checkpoint of the run that a round of the board goes back to: the last one that is not later.
    pub fn checkpoint_of(&self, round: u32) -> Option<u16> {
        let at = self.checkpoints.iter().rposition(|begun| *begun <= round)?;
        u16::try_from(at + 1).ok()
    }

    /// The round at which the last checkpoint was set: the one that is tried again.
    pub fn last_begun(&self) -> u32 {
        let round = self.board.as_ref().map_or(1, Board::round).saturating_sub(1);
        self.checkpoints.last().copied().unwrap_or(round)
    }

    /// The sheets of an attempt that was set aside, in order.
    pub fn sheets_of(&self, attempt: Attempt) -> Vec<&Sheet> {
        let of_it = self.rolled_back.iter().filter(|(number, _)| Some(*number) == attempt.rollback);
        let rounds = attempt.round..=attempt.until;
        of_it.map(|(_, sheet)| sheet).filter(|sheet| rounds.contains(&sheet.round)).collect()
    }

    /// What the present round is told of the one that it does again.
    pub fn task(&self, program: &Program) -> Result<Task, Trouble> {
        Ok(Task::of(self.board()?, &self.rounds, most_batches(program)))
    }
}

impl History {
    /// The round under way is over, and this is the board of the next one.
    pub fn close(&mut self, board: Board, end: &str, remarks: Vec<String>, at: Millis) {
        let round = board.rows().last().map_or(self.current.round, |row| row.round);
        let mut sheet = std::mem::replace(&mut self.current, Sheet::of(board.round()));
        sheet.round = round;
        sheet.end = end.to_string();
        sheet.remarks = remarks;
        sheet.text = self.text;
        sheet.closed_at = Some(at);
        sheet.board = Some(board.clone());
        self.closed.insert(round, sheet);
        self.board = Some(board);
    }

    /// The engineers brought nothing: the round is recorded as failed and does not count (SR-04).
    pub(super) fn engineers_failed(&mut self, why: String, at: Millis) {
        let Some(board) = &self.board else { return };
        let input = RoundInput {
            round: board.round(),
            engineer: EngineerTurn::Failed { why },
            asked: Vec::new(),
            reviewer: ReviewerTurn::Skipped,
            autonomy: Autonomy::Interactive,
            unplaced: Vec::new(),
            places: Places::default(),
        };
        let Ok(closed) = close_round(board, &input) else { return };
        let batches = self.current.batches.clone();
        self.rounds.start(&closed.board);
        self.close(closed.board, "failed", vec![closed.explanation], at);
        // The same gaps are tried again at once, without a new assignment.
        self.current.batches = batches;
        self.current.begun_at = Some(at);
    }

    /// What a human asked for when taking rounds back.
    pub(super) fn request(&self, round: u32, event: &Event) -> RollbackRequest {
        let (mode, reason, context) = match event {
            Event::RolledBack { mode, reason, context, .. } => (*mode, reason.clone(), context.clone()),
            // At a gate there is one note: whoever gives one wants it to be heeded.
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
            | Event::ApproachRemoved { .. }
            | Event::Reattributed { .. }
            | Event::Reverted { .. } => (RetryMode::SamePrompt, String::new(), String::new()),
        };
        let sheet = self.closed.range(round..).map(|(_, sheet)| sheet).chain([&self.current]);
        let errors = sheet.flat_map(|sheet| sheet.mishaps.iter().map(|mishap| mishap.what.clone()));
        let adjustments = Some(context.trim().to_string()).filter(|context| !context.is_empty());
        RollbackRequest {
            round,
            mode,
            reason,
            errors: errors.collect(),
            adjustments: adjustments.into_iter().collect(),
        }
    }

    /// Puts the sheet of a round and all later ones to those that were rolled back.
    pub(super) fn set_aside(&mut self, round: u32, number: u32) {
        let closed = self.closed.split_off(&round);
        let mut current = std::mem::take(&mut self.current);
        current.board = self.board.clone();
        let open = Some(current).filter(|sheet| !sheet.is_blank() && sheet.round >= round);
        self.rolled_back.extend(closed.into_values().chain(open).map(|sheet| (number, sheet)));
    }
}

/// How many batches a round can have.
fn most_batches(program: &Program) -> usize {
    let each = program.phases.iter().filter_map(|phase| match &phase.work {
        Work::Each { items: Items::Listed { list, up_to }, .. } => Some((*list, *up_to)),
        Work::Each { items: Items::Fixed(_), .. }
        | Work::Role { .. }
        | Work::Panel { .. }
        | Work::Flow { .. }
        | Work::Operation { .. }
        | Work::Ask { .. } => None,
    });
    let mut batches = each.filter(|(list, _)| program.lists[list.index()] == "batches");
    batches.next().map_or(1, |(_, up_to)| usize::from(up_to).max(1))
}
