//! `keep-best`: if no rollback is left, continues with the gaps, text and decisions of the best attempt at the last
//! round.

use super::super::Done;
use super::{RoundsSoFar, set_current, write_board, write_decisions};
use crate::site::{Job, Trouble};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut history = RoundsSoFar::of(job)?.history;
    let before = history.board()?.clone();
    let round = history.last_checkpoint_round();
    let best = history.rounds.best(&before, round);
    let mut done = Done::with_signal("kept");
    let board = match history.rounds.adopt_best(&before, round) {
        Ok(board) => board,
        Err(error) => {
            done.note(NoteKind::Warning, error.to_string());
            before
        }
    };
    let rollback = best.and_then(|attempt| attempt.rollback);
    let text = match (best, rollback) {
        (Some(attempt), Some(number)) => format!(
            "no rollback is left: round {round} continues with the attempt discarded by rollback {number} (weighted \
             net {:+})",
            attempt.weighted_net
        ),
        (Some(attempt), None) => format!(
            "no rollback is left: round {round} continues with the current attempt, the best so far (weighted \
             net {:+})",
            attempt.weighted_net
        ),
        (None, _) => format!("no rollback is left, and round {round} has no attempt to continue with"),
    };
    done.note(NoteKind::Decision, text);
    let best_text = best.and_then(|attempt| history.sheets_of(attempt).last().and_then(|sheet| sheet.text));
    if let Some(text) = best_text {
        set_current(job, &job.program.subject, "md", text.blob, text.digest, &mut done);
    }
    write_board(job, &board, &mut done)?;
    write_decisions(job, &board, &mut done);
    Ok(done)
}
