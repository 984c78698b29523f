//! `narrow-gaps`: by the user's word, medium and low gaps that block nothing are deferred (SR-08).

use super::super::Done;
use super::{Sight, said_at_gate, write_board};
use crate::workshop::{Job, Trouble};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let Sight { reader, history } = Sight::of(job)?;
    let mut board = history.board()?.clone();
    let note = said_at_gate(job, &reader)?.and_then(|gate| gate.note);
    let note = note.as_deref().map(str::trim).filter(|note| !note.is_empty());
    let deferred = board.narrow(note.unwrap_or("the scope was narrowed"));
    let mut done = Done::saying("narrowed");
    let names: Vec<String> = deferred.iter().map(ToString::to_string).collect();
    let told = match names.as_slice() {
        [] => "the scope was narrowed, but no gap could be deferred".to_string(),
        _ => format!("the scope was narrowed; deferred: {}", names.join(", ")),
    };
    done.note(NoteKind::Decision, told);
    write_board(job, &board, &mut done)?;
    Ok(done)
}
