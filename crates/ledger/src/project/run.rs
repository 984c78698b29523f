//! The row of a run: how it was opened, where it is, and what it used.

use super::Projection;
use crate::cell::RunStage;
use crate::column::{ColumnWord, whole};
use crate::detail::RunDetail;
use crate::error::{Fault, LedgerError};
use crate::position::{has_open_seat, lane_states};
use remand_kernel::event::Risk;
use remand_kernel::program::{Program, Work};
use remand_kernel::state::{End, LaneState, Stage, State};
use remand_kernel::view;
use rusqlite::{Connection, OptionalExtension, params};

const OPEN: &str = "INSERT INTO runs (run, workflow, subject, request, slug, mode, base, branch, pinned, version,
    created_at, updated_at, seq, stage, place, ended, confidence, risk, dispatches, money, unpriced, tokens, time,
    file)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12, 'running', '', NULL, 'high', 'green', 0, 0, 0, 0, 0,
    ?13)";

const UPDATE: &str =
    "UPDATE runs SET updated_at = ?2, seq = ?3, stage = ?4, place = ?5, ended = ?6, confidence = ?7,
    risk = ?8, dispatches = ?9, money = ?10, unpriced = ?11, tokens = ?12, time = ?13,
    limit_dispatches = ?14, limit_money = ?15, limit_tokens = ?16, limit_time = ?17 WHERE run = ?1";

const DETAIL: &str = "SELECT body FROM run_details WHERE run = ?1";
const DETAILED: &str = "INSERT INTO run_details (run, body) VALUES (?1, ?2)
    ON CONFLICT (run) DO UPDATE SET body = excluded.body";

impl Projection<'_> {
    pub(super) fn run(&self, stored: &mut String) -> Result<(), Fault> {
        if self.slot.seq == 1 {
            self.opened()?;
        }
        let (program, state) = (self.replayed.program, self.replayed.state);
        let (used, limits) = (&state.used, &state.limits);
        let detail = RunDetail::of(program, state);
        self.conn.prepare_cached(UPDATE)?.execute(params![
            self.replayed.run,
            self.slot.at,
            self.slot.seq,
            stage(program, state).word(),
            detail.position.to_string(),
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
        self.detail(&detail, stored)
    }

    /// Writes the detail if it changed.
    fn detail(&self, detail: &RunDetail, stored: &mut String) -> Result<(), Fault> {
        let text = serde_json::to_string(detail)?;
        if text != *stored {
            self.conn.prepare_cached(DETAILED)?.execute(params![self.replayed.run, text])?;
            *stored = text;
        }
        Ok(())
    }

    fn opened(&self) -> Result<(), Fault> {
        let Some(opened) = &self.replayed.facts.opened else {
            return Err(LedgerError::NotOpened { run: self.replayed.run.clone() }.into());
        };
        let (program, state) = (self.replayed.program, self.replayed.state);
        self.conn.prepare_cached(OPEN)?.execute(params![
            self.replayed.run,
            program.name,
            program.subject,
            opened.request,
            opened.slug,
            state.mode.name(),
            opened.base,
            opened.branch,
            opened.pinned,
            opened.version,
            self.slot.at,
            self.slot.seq,
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

/// The stage of a run, as people see it.
fn stage(program: &Program, state: &State) -> RunStage {
    match &state.stage {
        Stage::Ended(End::Done) => RunStage::Done,
        Stage::Ended(End::Failed { .. }) => RunStage::Failed,
        Stage::Ended(End::Stopped { .. }) => RunStage::Stopped,
        Stage::Ended(End::Cancelled { .. }) => RunStage::Cancelled,
        Stage::Fresh | Stage::Ending { .. } => RunStage::Running,
        Stage::Running if state.paused => RunStage::Paused,
        Stage::Running => {
            let works = lane_states(state).any(|(_, lane)| has_open_seat(lane) && !asks(program, lane));
            let asked = state.hold.is_some() || lane_states(state).any(|(_, lane)| has_open_seat(lane));
            if asked && !works { RunStage::Waiting } else { RunStage::Running }
        }
    }
}

/// The detail of a run as its row holds it; empty where there is none.
pub(super) fn stored_detail(conn: &Connection, run: &str) -> Result<String, Fault> {
    let stored = conn.prepare_cached(DETAIL)?.query_row([run], |row| row.get(0));
    Ok(stored.optional()?.unwrap_or_default())
}

fn asks(program: &Program, lane: &LaneState) -> bool {
    matches!(program.phase(lane.phase).work, Work::Ask { .. })
}
