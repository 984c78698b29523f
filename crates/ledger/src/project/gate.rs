//! Gates: the question, the options, the answer. A default that was chosen without asking is a gate too.

use super::Projection;
use crate::cell::{GateOption, WithheldOption};
use crate::column::{ColumnWord, Json};
use crate::error::Fault;
use crate::limit::LimitKind;
use remand_kernel::command::{Question, QuestionKind};
use remand_kernel::ids::{CommandId, Lane, PhaseId, SignalId};
use remand_kernel::program::{Program, Work};
use remand_kernel::ruling::{Rule, Ruling};
use remand_kernel::state::HoldCause;
use remand_kernel::step::Receipt;
use remand_kernel::view;
use rusqlite::params;

const OPEN_GATE: &str =
    "INSERT INTO gates (run, seq, command, phase, task, kind, question, options, withheld, approaches,
    preset, mandatory, mode, opened_at, auto, limit_kind)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 0, ?15) ON CONFLICT DO NOTHING";

const INSERT_DEFAULT: &str =
    "INSERT INTO gates (run, seq, command, phase, task, kind, question, options, withheld, approaches,
    preset, mandatory, mode, opened_at, option, by, note, flags, answered_at, auto)
    VALUES (?1, ?2, ?3, ?4, ?5, 'phase', ?6, ?7, '[]', '[]', ?8, 0, ?9, ?10, ?8, 'default', '', '[]', ?10, 1)
    ON CONFLICT DO NOTHING";

const ANSWER_GATE: &str = "UPDATE gates SET option = ?3, by = ?4, note = ?5, flags = ?6, answered_at = ?7
    WHERE run = ?1 AND command = ?2 AND answered_at IS NULL AND withdrawn_at IS NULL";

const WITHDRAW_GATE: &str = "UPDATE gates SET withdrawn_at = ?3
    WHERE run = ?1 AND command = ?2 AND answered_at IS NULL AND withdrawn_at IS NULL";

/// A human's answer.
pub(super) struct GateAnswer<'e> {
    pub option: &'e str,
    pub by: &'e str,
    pub note: &'e str,
    pub flags: &'e [(String, bool)],
}

impl Projection<'_> {
    pub(super) fn open_gate(&self, question: &Question) -> Result<(), Fault> {
        let (program, id) = (self.replayed.program, question.id);
        let (kind, text) = match &question.kind {
            QuestionKind::Phase => ("phase", question_text(program, id.phase)),
            QuestionKind::Hold(reason) => ("hold", self.hold_question(reason)),
            QuestionKind::Origin => ("origin", "Did these phases inject the defects?".to_string()),
        };
        let options: Vec<GateOption> =
            question.options.iter().map(|signal| gate_option(program, id.phase, *signal)).collect();
        let withheld: Vec<WithheldOption> = question
            .withheld
            .iter()
            .map(|(signal, budget)| WithheldOption {
                name: program.signal(*signal).to_string(),
                exhausted: budget.map(|budget| program.budget(budget).name.clone()),
            })
            .collect();
        self.conn.prepare_cached(OPEN_GATE)?.execute(params![
            self.replayed.run,
            self.slot.seq,
            id.to_string(),
            program.phase(id.phase).name,
            self.task(id.lane, id.phase),
            kind,
            text,
            Json(options),
            Json(withheld),
            Json(&question.approaches),
            question.default.map(|signal| program.signal(signal)),
            question.default.is_none(),
            self.replayed.state.mode.name(),
            self.slot.at,
            self.limit(question).map(ColumnWord::word),
        ])?;
        Ok(())
    }

    /// The limit that a question is about.
    fn limit(&self, question: &Question) -> Option<LimitKind> {
        let hold = self.replayed.state.hold.as_ref().filter(|hold| hold.id == question.id)?;
        match &hold.cause {
            HoldCause::Limit { limit } => Some(LimitKind::from_name(limit)),
            HoldCause::Environment { .. } | HoldCause::Route | HoldCause::Origin { .. } => None,
        }
    }

    /// Stores a default that was chosen without asking.
    pub(super) fn record_default(&self, n: usize, ruling: &Ruling) -> Result<(), Fault> {
        let program = self.replayed.program;
        let Work::Ask { question, options, .. } = &program.phase(ruling.phase).work else {
            return Ok(());
        };
        debug_assert_eq!(ruling.rule, Rule::Default);
        let options: Vec<GateOption> =
            options.iter().map(|choice| gate_option(program, ruling.phase, choice.signal)).collect();
        self.conn.prepare_cached(INSERT_DEFAULT)?.execute(params![
            self.replayed.run,
            self.slot.seq,
            format!("default.{}.{n}", self.slot.seq),
            program.phase(ruling.phase).name,
            self.task(ruling.lane, ruling.phase),
            question,
            Json(options),
            program.signal(ruling.signal),
            self.replayed.state.mode.name(),
            self.slot.at,
        ])?;
        Ok(())
    }

    pub(super) fn answer_gate(&self, id: CommandId, answer: GateAnswer<'_>) -> Result<(), Fault> {
        if self.replayed.step.receipt == Receipt::Late {
            return Ok(());
        }
        self.conn.prepare_cached(ANSWER_GATE)?.execute(params![
            self.replayed.run,
            id.to_string(),
            answer.option,
            answer.by,
            answer.note,
            Json(answer.flags),
            self.slot.at,
        ])?;
        Ok(())
    }

    pub(super) fn withdraw_gate(&self, id: CommandId) -> Result<(), Fault> {
        self.conn.prepare_cached(WITHDRAW_GATE)?.execute(params![
            self.replayed.run,
            id.to_string(),
            self.slot.at
        ])?;
        Ok(())
    }

    fn hold_question(&self, reason: &str) -> String {
        let hold = self.replayed.state.hold.as_ref().map(|hold| &hold.cause);
        match hold {
            Some(HoldCause::Environment { .. }) => format!("The environment failed: {reason}. Go on?"),
            Some(HoldCause::Limit { .. }) => format!("The limit on {reason} is reached. Go on?"),
            Some(HoldCause::Route | HoldCause::Origin { .. }) | None => {
                format!("The run holds: {reason}. Go on?")
            }
        }
    }

    pub(super) fn task(&self, lane: Lane, phase: PhaseId) -> Option<&str> {
        let Lane::Task { index, .. } = lane else {
            return None;
        };
        let owner = self.replayed.program.phase(phase).owner?;
        let Work::Flow { list, .. } = &self.replayed.program.phase(owner).work else {
            return None;
        };
        let items = &self.replayed.state.lists[list.index()];
        items.get(usize::from(index)).map(|item| item.id.as_str())
    }
}

fn question_text(program: &Program, phase: PhaseId) -> String {
    match &program.phase(phase).work {
        Work::Ask { question, .. } => question.clone(),
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Flow { .. }
        | Work::Operation { .. } => String::new(),
    }
}

/// An option with the action of its route.
fn gate_option(program: &Program, phase: PhaseId, signal: SignalId) -> GateOption {
    let route = program.phase(phase).route(signal);
    GateOption {
        name: program.signal(signal).to_string(),
        action: route.map(|route| view::action_words(program, &route.action)),
    }
}
