//! `record-decision`: what a human decided at the gate is on the board, and binds the next engineer (SR-10).

use super::super::Done;
use super::{Sight, questions, said_at_gate, write_board, write_decisions};
use crate::clock;
use crate::workshop::{Job, Trouble};
use remand_kernel::gaps::{Actor, Board, Choice, GapId, Grounds, Move, QuestionId};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let Sight { reader, history } = Sight::of(job)?;
    let mut board = history.board()?.clone();
    let gate = said_at_gate(job, &reader)?;
    let note = gate.as_ref().and_then(|gate| gate.note.clone()).unwrap_or_default();
    let by = gate.as_ref().and_then(|gate| gate.by.clone()).unwrap_or_else(|| "a human".to_string());
    let at = gate.and_then(|gate| gate.answered_at).map(clock::iso).unwrap_or_default();
    let mut done = Done::saying("undecided");
    let statements = statements(&note);
    if statements.is_empty() {
        done.note(
            NoteKind::Concern,
            format!("the answer came without a note and decides nothing: {}", questions::HOW),
        );
    }
    for statement in statements {
        let decided = Said::read(&statement, &board).and_then(|said| {
            let told = said.told();
            said.take(&mut board, Grounds { reason: said.reason.clone(), by: by.clone(), at: at.clone() })?;
            Ok(told)
        });
        match decided {
            Ok(told) => {
                done.report.says = "recorded".to_string();
                done.note(NoteKind::Decision, format!("{told}, decided by {by}"));
            }
            Err(why) => done.note(NoteKind::Concern, format!("`{statement}` decides nothing: {why}")),
        }
    }
    write_board(job, &board, &mut done)?;
    write_decisions(job, &board, &mut done);
    Ok(done)
}

/// What an answer says, one statement for each thing that it names: a line without an id goes on with the last one.
fn statements(note: &str) -> Vec<String> {
    let mut statements: Vec<String> = Vec::new();
    for line in note.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match statements.last_mut().filter(|_| about(line).is_none()) {
            Some(last) => last.push_str(&format!(" {line}")),
            None => statements.push(line.to_string()),
        }
    }
    statements
}

/// What a line names, and what it says of it.
fn about(line: &str) -> Option<(&str, &str)> {
    let (about, rest) = line.split_once(':')?;
    is_id(about.trim()).then(|| (about.trim(), rest.trim()))
}

/// One statement of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Said {
    about: String,
    choice: String,
    reason: String,
}

impl Said {
    /// `ABOUT: CHOICE because REASON`; without `ABOUT:` where only one question is open.
    fn read(line: &str, board: &Board) -> Result<Said, String> {
        let (about, rest) = match about(line) {
            Some((about, rest)) => (about.to_string(), rest),
            None => (only_question(board)?, line),
        };
        let (choice, reason) = match rest.split_once(" because ") {
            Some((choice, reason)) => (choice.trim(), reason.trim()),
            None => (rest, ""),
        };
        Ok(Said { about, choice: choice.to_string(), reason: reason.to_string() })
    }

    fn told(&self) -> String {
        match self.reason.as_str() {
            "" => format!("{}: {}", self.about, self.choice),
            reason => format!("{}: {} because {reason}", self.about, self.choice),
        }
    }

    fn take(&self, board: &mut Board, grounds: Grounds) -> Result<(), String> {
        let aside = match self.choice.as_str() {
            "waive" => Some(Move::Waive),
            "defer" => Some(Move::Defer),
            _ => None,
        };
        if let Some(wanted) = aside {
            let no_gap = |_| format!("`{}` is no gap; only a gap can be waived or deferred", self.about);
            let gap = self.about.parse::<GapId>().map_err(no_gap)?;
            return board
                .move_gap(&gap, wanted, Actor::User, &self.told())
                .map_err(|error| error.to_string());
        }
        let number = self.choice.trim_matches(['(', ')', '.', ',', ';', ':', '#']);
        let choice = match number.parse::<usize>() {
            Ok(number) => Choice::Stated(number.checked_sub(1).ok_or("positions are counted from 1")?),
            Err(_) => Choice::Written(self.choice.clone()),
        };
        board.decide(&QuestionId(self.about.clone()), choice, grounds).map_err(|error| error.to_string())
    }
}

fn is_id(text: &str) -> bool {
    text.starts_with("ISSUE-R") || text.parse::<GapId>().is_ok()
}

/// The one question that an answer without a name can be about.
fn only_question(board: &Board) -> Result<String, String> {
    let open: Vec<String> = board.undecided().map(|conflict| conflict.issue.to_string()).collect();
    match open.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err("no conflict is open; begin the line with the id of a gap".to_string()),
        more => Err(format!("begin the line with what it is about: {}", more.join(", "))),
    }
}

#[cfg(test)]
#[path = "record_decision_tests.rs"]
mod tests;
