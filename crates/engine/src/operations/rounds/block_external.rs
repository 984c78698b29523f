//! `block-external`: marks gaps for which nobody had a proposal, even when asked by name, as blocked by something
//! external, and tells the user.

use super::super::Done;
use super::{RoundsSoFar, write_board};
use crate::site::{Job, Trouble};
use remand_kernel::gaps::{Actor, BlockedOn, GapMove};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let history = RoundsSoFar::of(job)?.history;
    let mut board = history.board()?.clone();
    let mut done = Done::saying("marked");
    for (batch, gap) in history.current.required_gaps() {
        let said =
            history.current.summaries.get(batch).map(|said| said.trim()).filter(|said| !said.is_empty());
        let why = said.unwrap_or("no engineer had a proposal, even when asked for this gap by name");
        if board.gap(gap).is_some_and(|gap| gap.status.is_workable()) {
            let wanted = GapMove::Block(BlockedOn::External(why.to_string()));
            board.move_gap(gap, wanted, Actor::Engine, why)?;
            done.note(NoteKind::Concern, format!("{gap} waits for something external: {why}"));
        }
    }
    write_board(job, &board, &mut done)?;
    Ok(done)
}
