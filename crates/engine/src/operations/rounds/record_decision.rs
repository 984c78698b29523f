//! `record-decision`: records a human's decisions at the gate. They bind the next engineer.

use super::super::{Done, last_answer};
use super::{RoundsSoFar, questions, write_board, write_decisions};
use crate::clock;
use crate::site::{Job, Trouble};
use remand_kernel::gaps::{Actor, Board, DecisionChoice, GapId, GapMove, Grounds, QuestionId};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let RoundsSoFar { reader, history } = RoundsSoFar::of(job)?;
    let mut board = history.board()?.clone();
    let gate = last_answer(job, &reader)?;
    let note = gate.as_ref().and_then(|gate| gate.note.clone()).unwrap_or_default();
    let by = gate.as_ref().and_then(|gate| gate.by.clone()).unwrap_or_else(|| "a human".to_string());
    let at = gate.and_then(|gate| gate.answered_at).map(clock::iso).unwrap_or_default();
    let mut done = Done::with_signal("undecided");
    let statements = statements(&note);
    if statements.is_empty() {
        done.note(
            NoteKind::Concern,
            format!("the answer has no note, so it decides nothing: {}", questions::HOW_TO_ANSWER),
        );
    }
    for statement in statements {
        let decided = Statement::parse(&statement, &board).and_then(|parsed| {
            let text = parsed.text();
            let grounds = Grounds { reason: parsed.reason.clone(), by: by.clone(), at: at.clone() };
            parsed.apply(&mut board, grounds)?;
            Ok(text)
        });
        match decided {
            Ok(text) => {
                done.report.says = "recorded".to_string();
                done.note(NoteKind::Decision, format!("{text}, decided by {by}"));
            }
            Err(why) => done.note(NoteKind::Concern, format!("`{statement}` decides nothing: {why}")),
        }
    }
    write_board(job, &board, &mut done)?;
    write_decisions(job, &board, &mut done);
    Ok(done)
}

/// The statements of an answer. A line with an id starts a statement; a line without one continues it.
fn statements(note: &str) -> Vec<String> {
    let mut statements: Vec<String> = Vec::new();
    for line in note.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match statements.last_mut().filter(|_| split_id(line).is_none()) {
            Some(last) => last.push_str(&format!(" {line}")),
            None => statements.push(line.to_string()),
        }
    }
    statements
}

/// The id at the start of a line, and the text after it.
fn split_id(line: &str) -> Option<(&str, &str)> {
    let (about, rest) = line.split_once(':')?;
    is_id(about.trim()).then(|| (about.trim(), rest.trim()))
}

/// One statement of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Statement {
    about: String,
    choice: String,
    reason: String,
}

impl Statement {
    /// Parses `ABOUT: CHOICE because REASON`. `ABOUT:` may be missing if only one question is open.
    fn parse(line: &str, board: &Board) -> Result<Statement, String> {
        let (about, rest) = match split_id(line) {
            Some((about, rest)) => (about.to_string(), rest),
            None => (only_question(board)?, line),
        };
        let (choice, reason) = match rest.split_once(" because ") {
            Some((choice, reason)) => (choice.trim(), reason.trim()),
            None => (rest, ""),
        };
        Ok(Statement { about, choice: choice.to_string(), reason: reason.to_string() })
    }

    fn text(&self) -> String {
        match self.reason.as_str() {
            "" => format!("{}: {}", self.about, self.choice),
            reason => format!("{}: {} because {reason}", self.about, self.choice),
        }
    }

    fn apply(&self, board: &mut Board, grounds: Grounds) -> Result<(), String> {
        let gap_move = match self.choice.as_str() {
            "waive" => Some(GapMove::Waive),
            "defer" => Some(GapMove::Defer),
            _ => None,
        };
        if let Some(gap_move) = gap_move {
            let not_a_gap =
                |_| format!("`{}` is not a gap; only a gap can be waived or deferred", self.about);
            let gap = self.about.parse::<GapId>().map_err(not_a_gap)?;
            return board
                .move_gap(&gap, gap_move, Actor::User, &self.text())
                .map_err(|error| error.to_string());
        }
        let number = self.choice.trim_matches(['(', ')', '.', ',', ';', ':', '#']);
        let choice = match number.parse::<usize>() {
            Ok(number) => {
                DecisionChoice::Stated(number.checked_sub(1).ok_or("positions are counted from 1")?)
            }
            Err(_) => DecisionChoice::Written(self.choice.clone()),
        };
        board.decide(&QuestionId(self.about.clone()), choice, grounds).map_err(|error| error.to_string())
    }
}

fn is_id(text: &str) -> bool {
    text.starts_with("ISSUE-R") || text.parse::<GapId>().is_ok()
}

/// The only open question, which an answer without an id refers to.
fn only_question(board: &Board) -> Result<String, String> {
    let open: Vec<String> = board.undecided().map(|conflict| conflict.issue.to_string()).collect();
    match open.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err("no conflict is open; start the line with the id of a gap".to_string()),
        several => Err(format!("start the line with one of these ids: {}", several.join(", "))),
    }
}

#[cfg(test)]
#[path = "record_decision_tests.rs"]
mod tests;
