//! `add-gaps`: adds the gaps that the final review of the whole document found.

use super::super::Done;
use super::{RoundsSoFar, write_board};
use crate::site::{Job, Trouble};
use remand_contract::new_gaps;
use remand_contract::schema::gaps::GapInventory;
use remand_kernel::gaps::Board;
use remand_ledger::fact::NoteKind;

/// The artifact with the result of the final review of the document.
const LAST_LOOK: &str = "last-look";

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let RoundsSoFar { reader, history } = RoundsSoFar::of(job)?;
    let documents = crate::artifacts::parsed(&reader.artifacts(&job.site.run)?, &reader)?;
    let payload = documents.get(LAST_LOOK).and_then(|look| look.get("payload")).cloned().unwrap_or_default();
    let inventory: GapInventory = serde_json::from_value(payload)
        .map_err(|error| Trouble::denied(format!("the final review cannot be read: {error}")))?;
    let gaps =
        new_gaps(&inventory).map_err(|_| Trouble::denied("the gaps of the final review cannot be read"))?;
    let mut done = Done::with_signal("added");
    // If the first inventory found no gaps, this one opens the board.
    let mut board = match &history.board {
        Some(board) => board.clone(),
        None => Board::open(Vec::new(), job.site.pinned.rounds.board)?,
    };
    for mut gap in gaps {
        gap.split_from = gap.split_from.filter(|from| board.gap(from).is_some());
        let id = board.add(gap)?;
        done.note(NoteKind::Concern, format!("the final review found {id}"));
    }
    write_board(job, &board, &mut done)?;
    Ok(done)
}
