//! `block-external`: the gaps for which nobody had a proposal when asked by name wait for something outside, and the user
//! is told (SR-06).

use super::super::Done;
use super::{Sight, write_board};
use crate::workshop::{Job, Trouble};
use remand_kernel::gaps::{Actor, BlockedOn, Move};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let history = Sight::of(job)?.history;
    let mut board = history.board()?.clone();
    let mut done = Done::saying("marked");
    for (batch, gap) in history.current.by_name() {
        let said = history.current.said.get(batch).map(|said| said.trim()).filter(|said| !said.is_empty());
        let why = said.unwrap_or("no engineer could propose anything, even when asked for it by name");
        if board.gap(gap).is_some_and(|gap| gap.status.is_workable()) {
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
