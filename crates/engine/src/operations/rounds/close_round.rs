//! `close-round`: turns the outputs of engineer and reviewer into gap moves, and inserts accepted text into the document.

use super::super::Done;
use super::{RoundsSoFar, questions, write, write_board};
use crate::clock;
use crate::rounds::{RoundTurns, documents, place_text, resolve_sections};
use crate::site::{Job, Trouble};
use remand_kernel::event::Mode;
use remand_kernel::gaps::{
    Acceptable, Autonomy, Board, ClosedRound, Notice, RoundEnd, RoundInput, Unplaced, close_round,
};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let RoundsSoFar { reader, mut history } = RoundsSoFar::of(job)?;
    let board = &history.board()?.clone();
    let document = history.document(&reader)?;
    let turns = RoundTurns::of(board, &history.current)?;
    let new = turns.proposals().map(|proposal| proposal.section.as_str());
    let old = board.gaps().filter_map(|gap| gap.proposal.as_ref()).map(|proposal| proposal.section.as_str());
    let places = resolve_sections(&document, new.chain(old));
    let input = RoundInput {
        round: board.round(),
        engineer: turns.engineer,
        asked: turns.asked,
        reviewer: turns.reviewer,
        autonomy: match job.state.mode {
            Mode::Autonomous => Autonomy::Autonomous,
            Mode::Interactive => Autonomy::Interactive,
        },
        unplaced: Vec::new(),
        places,
    };
    let (closed, text) = close_and_place(board, input, &document)?;
    let mut done = Done::with_signal(signal(closed.end));
    add_notes(&closed, &turns.left_out, &mut done);
    write_board(job, &closed.board, &mut done)?;
    if text != document {
        write(job, &job.program.subject, "md", &text, &mut done);
    }
    // The documents are written before a gate asks about the round.
    let remarks = done.facts.notes.iter().map(|note| note.text.clone()).collect();
    history.close(closed.board, &done.report.says, remarks, clock::now());
    documents::write_documents(&history, &text, &job.site)?;
    Ok(done)
}

/// Closes the round and inserts its accepted text into the document. Text that cannot be inserted goes back to the
/// engineer, and the round is closed again without it.
fn close_and_place(
    board: &Board,
    mut input: RoundInput,
    document: &str,
) -> Result<(ClosedRound, String), Trouble> {
    loop {
        let closed = close_round(board, &input)?;
        let mut text = document.to_string();
        let mut unplaced = Vec::new();
        for placement in &closed.placements {
            match place_text(&text, placement) {
                Ok(placed) => text = placed,
                Err(why) => unplaced.extend(
                    placement.gaps.iter().map(|gap| Unplaced { gap: gap.clone(), why: why.to_string() }),
                ),
            }
        }
        if unplaced.is_empty() {
            return Ok((closed, text));
        }
        input.unplaced.extend(unplaced);
    }
}

fn add_notes(closed: &ClosedRound, left_out: &[String], done: &mut Done) {
    let kind = match closed.end {
        RoundEnd::Complete | RoundEnd::Converging => NoteKind::Decision,
        RoundEnd::Stalled
        | RoundEnd::Warning
        | RoundEnd::Diverging
        | RoundEnd::Conflict
        | RoundEnd::Waiting
        | RoundEnd::Empty => NoteKind::Concern,
    };
    done.note(kind, &closed.explanation);
    for overlap in &closed.overlaps {
        done.note(NoteKind::Concern, format!("{overlap}; the second proposal goes back to its engineer"));
    }
    for notice in &closed.notices {
        done.note(NoteKind::Concern, notice_text(notice));
    }
    for left_out in left_out {
        done.note(NoteKind::Warning, left_out);
    }
    if matches!(closed.end, RoundEnd::Conflict | RoundEnd::Waiting) {
        for question in questions::open(&closed.board) {
            done.note(NoteKind::Concern, question);
        }
        done.note(NoteKind::Concern, questions::HOW_TO_ANSWER);
    }
    if let Acceptable::Yes { high, .. } = closed.board.acceptable() {
        for gap in high.iter().filter_map(|id| closed.board.gap(id)) {
            done.note(NoteKind::Concern, format!("open, with high severity: {} ({})", gap.id, gap.claim));
        }
    }
}

fn notice_text(notice: &Notice) -> String {
    match notice {
        Notice::EngineerFailed { why, in_a_row } => {
            format!("the engineer failed ({in_a_row} in a row): {why}")
        }
        Notice::ReviewerFailed { why, unreviewed } => {
            let gaps: Vec<String> = unreviewed.iter().map(ToString::to_string).collect();
            format!("the reviewer failed: {why}; reviewed first in the next round: {}", gaps.join(", "))
        }
        Notice::MostDisagreed { disagreed, of } => {
            format!("the engineer disagreed with {disagreed} of {of} issues")
        }
        Notice::DecisionStands { issue } => {
            format!("the engineer disagreed with {issue}, which is already decided; the decision stands")
        }
        Notice::RoundsSpent { max } => format!("the last of {max} rounds is over"),
    }
}

fn signal(end: RoundEnd) -> &'static str {
    match end {
        RoundEnd::Complete => "complete",
        RoundEnd::Converging => "converging",
        RoundEnd::Stalled => "stalled",
        RoundEnd::Warning => "warning",
        RoundEnd::Diverging => "diverging",
        RoundEnd::Conflict => "conflict",
        RoundEnd::Waiting => "waiting",
        RoundEnd::Empty => "empty",
    }
}
