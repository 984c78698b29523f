//! `block-external`: if no engineer has a proposal for a gap, even when asked for this gap specifically, marks the gap
//! as blocked by something external and informs the user.

use super::super::Done;
use super::{RoundsSoFar, write_board};
use crate::site::{Job, Trouble};
use remand_kernel::gaps::{Actor, BlockedOn, GapMove};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let history = RoundsSoFar::of(job)?.history;
    let mut board = history.board()?.clone();
    let mut done = Done::with_signal("marked");
    for (batch, gap) in history.current.required_gaps() {
        let summary = history.current.summaries.get(batch).map(|summary| summary.trim());
        let summary = summary.filter(|summary| !summary.is_empty());
        let why = summary.unwrap_or("no engineer had a proposal, even when asked for this gap by name");
        if board.gap(gap).is_some_and(|gap| gap.status.is_workable()) {
            let block = GapMove::Block(BlockedOn::External(why.to_string()));
            board.move_gap(gap, block, Actor::Engine, why)?;
            done.note(NoteKind::Concern, format!("{gap} waits for something external: {why}"));
        }
    }
    write_board(job, &board, &mut done)?;
    Ok(done)
}
