//! Gates: what was asked, what could be answered, and what was (EP-12). Defaults taken without asking are gates too.

use super::Projection;
use crate::column::Json;
use crate::error::Fault;
use crate::query::{GateOption, LIMIT_ASKED, WithheldOption};
use remand_kernel::command::{Question, QuestionKind};
use remand_kernel::ids::{CommandId, Lane, PhaseId, SignalId};
use remand_kernel::program::{Program, Work};
use remand_kernel::ruling::{Rule, Ruling};
use remand_kernel::state::HoldCause;
use remand_kernel::step::Note;
use remand_kernel::view;
use rusqlite::params;

const ASKED: &str =
    "INSERT INTO gates (run, seq, command, phase, task, kind, question, options, withheld, approaches,
    preset, mandatory, mode, opened_at, auto)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 0) ON CONFLICT DO NOTHING";

const DEFAULTED: &str =
    "INSERT INTO gates (run, seq, command, phase, task, kind, question, options, withheld, approaches,
    preset, mandatory, mode, opened_at, option, by, note, flags, answered_at, auto)
    VALUES (?1, ?2, ?3, ?4, ?5, 'phase', ?6, ?7, '[]', '[]', ?8, 0, ?9, ?10, ?8, 'default', '', '[]', ?10, 1)
    ON CONFLICT DO NOTHING";

const ANSWERED: &str = "UPDATE gates SET option = ?3, by = ?4, note = ?5, flags = ?6, answered_at = ?7
    WHERE run = ?1 AND command = ?2 AND answered_at IS NULL AND withdrawn_at IS NULL";

const WITHDRAWN: &str = "UPDATE gates SET withdrawn_at = ?3
    WHERE run = ?1 AND command = ?2 AND answered_at IS NULL AND withdrawn_at IS NULL";

/// What a human said.
pub(super) struct Answer<'e> {
    pub option: &'e str,
    pub by: &'e str,
    pub note: &'e str,
    pub flags: &'e [(String, bool)],
}

impl Projection<'_> {
    pub(super) fn asked(&self, question: &Question) -> Result<(), Fault> {
        let (program, id) = (self.lived.program, question.id);
        let (kind, words) = match &question.kind {
            QuestionKind::Phase => ("phase", question_words(program, id.phase)),
            QuestionKind::Hold(reason) => ("hold", self.hold_words(reason)),
        };
        let options: Vec<GateOption> =
            question.options.iter().map(|signal| option(program, id.phase, *signal)).collect();
        let withheld: Vec<WithheldOption> = question
            .withheld
            .iter()
            .map(|(signal, budget)| WithheldOption {
                name: program.signal(*signal).to_string(),
                exhausted: budget.map(|budget| program.budget(budget).name.clone()),
            })
            .collect();
        self.conn.prepare_cached(ASKED)?.execute(params![
            self.lived.run,
            self.placed.seq,
            id.to_string(),
            program.phase(id.phase).name,
            self.task(id.lane, id.phase),
            kind,
            words,
            Json(options),
            Json(withheld),
            Json(&question.approaches),
            question.default.map(|signal| program.signal(signal)),
            question.default.is_none(),
            self.lived.state.mode.name(),
            self.placed.at,
        ])?;
        Ok(())
    }

    /// A default that was taken without asking.
    pub(super) fn defaulted(&self, n: usize, ruling: &Ruling) -> Result<(), Fault> {
        let program = self.lived.program;
        let Work::Ask { question, options, .. } = &program.phase(ruling.phase).work else {
            return Ok(());
        };
        debug_assert_eq!(ruling.rule, Rule::Default);
        let options: Vec<GateOption> =
            options.iter().map(|choice| option(program, ruling.phase, choice.signal)).collect();
        self.conn.prepare_cached(DEFAULTED)?.execute(params![
            self.lived.run,
            self.placed.seq,
            format!("default.{}.{n}", self.placed.seq),
            program.phase(ruling.phase).name,
            self.task(ruling.lane, ruling.phase),
            question,
            Json(options),
            program.signal(ruling.signal),
            self.lived.state.mode.name(),
            self.placed.at,
        ])?;
        Ok(())
    }

    pub(super) fn answered(&self, id: CommandId, answer: Answer<'_>) -> Result<(), Fault> {
        if self.lived.step.note == Note::Late {
            return Ok(());
        }
        self.conn.prepare_cached(ANSWERED)?.execute(params![
            self.lived.run,
            id.to_string(),
            answer.option,
            answer.by,
            answer.note,
            Json(answer.flags),
            self.placed.at,
        ])?;
        Ok(())
    }

    pub(super) fn withdrawn(&self, id: CommandId) -> Result<(), Fault> {
        self.conn.prepare_cached(WITHDRAWN)?.execute(params![
            self.lived.run,
            id.to_string(),
            self.placed.at
        ])?;
        Ok(())
    }

    fn hold_words(&self, reason: &str) -> String {
        let hold = self.lived.state.hold.as_ref().map(|hold| &hold.cause);
        match hold {
            Some(HoldCause::Environment { .. }) => format!("The environment failed: {reason}. Go on?"),
            Some(HoldCause::Limit { .. }) => format!("{}{reason}{}", LIMIT_ASKED.0, LIMIT_ASKED.1),
            Some(HoldCause::Route) | None => format!("The run holds: {reason}. Go on?"),
        }
    }

    pub(super) fn task(&self, lane: Lane, phase: PhaseId) -> Option<&str> {
        let Lane::Task { index, .. } = lane else {
            return None;
        };
        let owner = self.lived.program.phase(phase).owner?;
        let Work::Flow { list, .. } = &self.lived.program.phase(owner).work else {
            return None;
        };
        let items = &self.lived.state.lists[list.index()];
        items.get(usize::from(index)).map(|item| item.id.as_str())
    }
}

fn question_words(program: &Program, phase: PhaseId) -> String {
    match &program.phase(phase).work {
        Work::Ask { question, .. } => question.clone(),
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Flow { .. }
        | Work::Operation { .. } => String::new(),
    }
}

/// An option with what its route does.
fn option(program: &Program, phase: PhaseId, signal: SignalId) -> GateOption {
    let route = program.phase(phase).route(signal);
    GateOption {
        name: program.signal(signal).to_string(),
        action: route.map(|route| view::action_words(program, &route.action)),
    }
}
