//! `keep-best`: no rollback is left, so the best attempt at the last round holds: its gaps, its text, its decisions
//! (SR-11).

use super::super::Done;
use super::{Sight, keep, write_board, write_decisions};
use crate::workshop::{Job, Trouble};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut history = Sight::of(job)?.history;
    let before = history.board()?.clone();
    let round = history.last_begun();
    let best = history.rounds.best(&before, round);
    let mut done = Done::saying("kept");
    let board = match history.rounds.adopt_best(&before, round) {
        Ok(board) => board,
        Err(error) => {
            done.note(NoteKind::Warning, error.to_string());
            before
        }
    };
    let archived = best.and_then(|attempt| attempt.rollback);
    let told = match (best, archived) {
        (Some(attempt), Some(number)) => format!(
            "no rollback is left: round {round} goes on with the attempt that rollback {number} had set aside, of weighted \
             net {:+}",
            attempt.weighted_net
        ),
        (Some(attempt), None) => format!(
            "no rollback is left: round {round} goes on as it is, the best attempt with a weighted net of {:+}",
            attempt.weighted_net
        ),
        (None, _) => format!("no rollback is left, and no attempt at round {round} counts"),
    };
    done.note(NoteKind::Decision, told);
    let kept = best.and_then(|attempt| history.sheets_of(attempt).last().and_then(|sheet| sheet.text));
    if let Some(text) = kept {
        keep(job, &job.program.subject, "md", text.blob, text.digest, &mut done);
    }
    write_board(job, &board, &mut done)?;
    write_decisions(job, &board, &mut done);
    Ok(done)
}
