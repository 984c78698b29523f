//! `narrow-gaps`: defers medium and low gaps that block nothing, as the user decided.

use super::super::{Done, last_answer};
use super::{RoundsSoFar, write_board};
use crate::site::{Job, Trouble};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let RoundsSoFar { reader, history } = RoundsSoFar::of(job)?;
    let mut board = history.board()?.clone();
    let note = last_answer(job, &reader)?.and_then(|gate| gate.note);
    let note = note.as_deref().map(str::trim).filter(|note| !note.is_empty());
    let deferred = board.narrow(note.unwrap_or("the scope was narrowed"));
    let mut done = Done::with_signal("narrowed");
    let names: Vec<String> = deferred.iter().map(ToString::to_string).collect();
    let text = match names.as_slice() {
        [] => "the scope was narrowed, but no gap could be deferred".to_string(),
        _ => format!("the scope was narrowed; deferred: {}", names.join(", ")),
    };
    done.note(NoteKind::Decision, text);
    write_board(job, &board, &mut done)?;
    Ok(done)
}
