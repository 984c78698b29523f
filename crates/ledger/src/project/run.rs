//! The row of a run: what it was opened with, where it is and what it used.

use super::Projection;
use crate::column::{Named, whole};
use crate::error::{Fault, LedgerError};
use crate::query::RunStage;
use remand_kernel::event::Risk;
use remand_kernel::program::{Program, Work};
use remand_kernel::state::{Desk, End, HoldCause, Progress, Stage, State, TaskProgress};
use remand_kernel::view;
use rusqlite::params;

const OPEN: &str = "INSERT INTO runs (run, workflow, subject, request, slug, mode, base, branch, pinned, version,
    created_at, updated_at, seq, stage, place, ended, confidence, risk, dispatches, money, unpriced, tokens, time,
    file)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12, 'running', '', NULL, 'high', 'green', 0, 0, 0, 0, 0,
    ?13)";

const UPDATE: &str =
    "UPDATE runs SET updated_at = ?2, seq = ?3, stage = ?4, place = ?5, ended = ?6, confidence = ?7,
    risk = ?8, dispatches = ?9, money = ?10, unpriced = ?11, tokens = ?12, time = ?13,
    limit_dispatches = ?14, limit_money = ?15, limit_tokens = ?16, limit_time = ?17 WHERE run = ?1";

impl Projection<'_> {
    pub(super) fn run(&self) -> Result<(), Fault> {
        if self.placed.seq == 1 {
            self.opened()?;
        }
        let (program, state) = (self.lived.program, self.lived.state);
        let (used, limits) = (&state.used, &state.limits);
        self.conn.prepare_cached(UPDATE)?.execute(params![
            self.lived.run,
            self.placed.at,
            self.placed.seq,
            stage(program, state).word(),
            place(program, state),
            state.end().map(|end| view::end(program, end)),
            state.confidence.name(),
            risk(state.risk),
            whole(used.dispatches),
            whole(used.money),
            whole(used.unpriced),
            whole(used.tokens),
            whole(used.time),
            limits.dispatches.map(whole),
            limits.money.map(whole),
            limits.tokens.map(whole),
            limits.time.map(whole),
        ])?;
        Ok(())
    }

    fn opened(&self) -> Result<(), Fault> {
        let Some(opened) = &self.lived.facts.opened else {
            return Err(LedgerError::NotOpened { run: self.lived.run.clone() }.into());
        };
        let (program, state) = (self.lived.program, self.lived.state);
        self.conn.prepare_cached(OPEN)?.execute(params![
            self.lived.run,
            program.name,
            program.subject,
            opened.request,
            opened.slug,
            state.mode.name(),
            opened.base,
            opened.branch,
            opened.pinned,
            opened.version,
            self.placed.at,
            self.placed.seq,
            opened.file,
        ])?;
        Ok(())
    }
}

fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Green => "green",
        Risk::Yellow => "yellow",
        Risk::Red => "red",
    }
}

/// Where a run is in its life, as people see it.
fn stage(program: &Program, state: &State) -> RunStage {
    match &state.stage {
        Stage::Ended(End::Done) => RunStage::Done,
        Stage::Ended(End::Failed { .. }) => RunStage::Failed,
        Stage::Ended(End::Stopped { .. }) => RunStage::Stopped,
        Stage::Ended(End::Cancelled { .. }) => RunStage::Cancelled,
        Stage::Fresh | Stage::Ending { .. } => RunStage::Running,
        Stage::Running if state.paused => RunStage::Paused,
        Stage::Running => {
            let works = desks(state).any(|(_, desk)| has_open(desk) && !asks(program, desk));
            let asked = state.hold.is_some() || desks(state).any(|(_, desk)| has_open(desk));
            if asked && !works { RunStage::Waiting } else { RunStage::Running }
        }
    }
}

/// Where a run is, in the names of its phases.
fn place(program: &Program, state: &State) -> String {
    let phase = |desk: &Desk| program.phase(desk.phase).name.clone();
    match &state.stage {
        Stage::Ended(_) => return String::new(),
        Stage::Ending { at, .. } => {
            let operation = program.failure.get(usize::from(*at));
            return operation.map_or_else(String::new, |id| program.operation(*id).name.clone());
        }
        Stage::Fresh | Stage::Running => {}
    }
    let mut places: Vec<String> = Vec::new();
    if let Some(hold) = &state.hold {
        let cause = match &hold.cause {
            HoldCause::Environment { detail } => detail,
            HoldCause::Limit { limit } => limit,
            HoldCause::Route => "",
        };
        places.push(if cause.is_empty() { "hold".to_string() } else { format!("hold: {cause}") });
    }
    let items = match &program.phase(state.main.phase).work {
        Work::Flow { list, .. } => state.lists[list.index()].as_slice(),
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Operation { .. }
        | Work::Ask { .. } => &[],
    };
    for (task, desk) in desks(state) {
        match task.and_then(|index| items.get(index)) {
            Some(item) => places.push(format!("{}/{}", item.id, phase(desk))),
            None if state.tasks.is_empty() || has_open(desk) => places.push(phase(desk)),
            None => {}
        }
    }
    places.join(", ")
}

/// The desks where work is under way, with the position of the task.
fn desks(state: &State) -> impl Iterator<Item = (Option<usize>, &Desk)> {
    let tasks = state.tasks.iter().enumerate();
    let running = tasks.filter(|(_, run)| run.progress == TaskProgress::Running);
    std::iter::once((None, &state.main)).chain(running.map(|(index, run)| (Some(index), &run.desk)))
}

fn has_open(desk: &Desk) -> bool {
    desk.seats.iter().any(|seat| seat.progress == Progress::Open)
}

fn asks(program: &Program, desk: &Desk) -> bool {
    matches!(program.phase(desk.phase).work, Work::Ask { .. })
}
