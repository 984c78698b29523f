//! `add-gaps`: what the last look at the whole document found is on the board from now on.

use super::super::Done;
use super::{Sight, write_board};
use crate::contract::new_gaps;
use crate::contract::schema::gaps::GapInventory;
use crate::workshop::{Job, Trouble};
use remand_kernel::gaps::Board;
use remand_ledger::fact::NoteKind;

/// What the last look wrote.
const LAST_LOOK: &str = "last-look";

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let Sight { reader, history } = Sight::of(job)?;
    let documents = crate::dispatch::parsed(&reader.artifacts(&job.site.run)?, &reader)?;
    let payload = documents.get(LAST_LOOK).and_then(|look| look.get("payload")).cloned().unwrap_or_default();
    let found: GapInventory = serde_json::from_value(payload)
        .map_err(|error| Trouble::denied(format!("the last look cannot be read: {error}")))?;
    let gaps = new_gaps(&found).map_err(|_| Trouble::denied("the gaps of the last look cannot be read"))?;
    let mut done = Done::saying("added");
    // Where the first inventory found nothing, this one opens the board.
    let mut board = match &history.board {
        Some(board) => board.clone(),
        None => Board::open(Vec::new(), job.site.pinned.rounds.board).map_err(denied)?,
    };
    for mut gap in gaps {
        gap.split_from = gap.split_from.filter(|from| board.gap(from).is_some());
        let id = board.add(gap).map_err(denied)?;
        done.note(NoteKind::Concern, format!("the last look found {id}"));
    }
    write_board(job, &board, &mut done)?;
    Ok(done)
}

fn denied(error: remand_kernel::gaps::AddError) -> Trouble {
    Trouble::denied(error.to_string())
}
