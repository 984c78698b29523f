//! `block-external`: the gaps that nobody can propose for wait for something outside, and the user is told (SR-06).

use super::super::Done;
use super::{Sight, write_board};
use crate::workshop::{Job, Trouble};
use remand_kernel::gaps::{Actor, BlockedOn, GapId, Move};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let history = Sight::of(job)?.history;
    let mut board = history.board()?.clone();
    let mut done = Done::saying("marked");
    for (batch, gaps) in &history.current.batches {
        let said = history.current.said.get(batch).map(|said| said.trim()).filter(|said| !said.is_empty());
        let why = said.unwrap_or("no engineer could propose anything, even when asked for it by name");
        let open: Vec<&GapId> =
            gaps.iter().filter(|gap| board.gap(gap).is_some_and(|gap| gap.status.is_workable())).collect();
        for gap in open {
            let wanted = Move::Block(BlockedOn::External(why.to_string()));
            board
                .move_gap(gap, wanted, Actor::Engine, why)
                .map_err(|error| Trouble::denied(error.to_string()))?;
            done.note(NoteKind::Concern, format!("{gap} waits for something outside: {why}"));
        }
    }
    write_board(job, &board, &mut done)?;
    Ok(done)
}
