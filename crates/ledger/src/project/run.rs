//! The row of a run: how it was opened, its position, and its usage.

use super::Projection;
use crate::cell::RunStage;
use crate::column::{ColumnWord, Json, sql_integer};
use crate::detail::RunDetail;
use crate::error::{Fault, LedgerError};
use crate::fact::Delivery;
use crate::position::{has_open_seat, lane_states};
use remand_kernel::event::Risk;
use remand_kernel::program::{Confidence, Program, Work};
use remand_kernel::state::{End, LaneState, Stage, State};
use rusqlite::{Connection, OptionalExtension, params};

const INSERT_RUN: &str = "INSERT INTO runs (run, workflow, subject, request, slug, mode, base, branch, pinned, version,
    created_at, updated_at, seq, stage, place, reason, confidence, risk, dispatches, money, unpriced, tokens, time,
    file)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12, 'running', '', NULL, 'high', 'green', 0, 0, 0, 0, 0,
    ?13)";

const UPDATE_RUN: &str =
    "UPDATE runs SET updated_at = ?2, seq = ?3, stage = ?4, place = ?5, reason = ?6, confidence = ?7,
    risk = ?8, dispatches = ?9, money = ?10, unpriced = ?11, tokens = ?12, time = ?13,
    limit_dispatches = ?14, limit_money = ?15, limit_tokens = ?16, limit_time = ?17 WHERE run = ?1";

const DELIVERIES: &str = "SELECT body FROM deliveries WHERE run = ?1 ORDER BY id";

const LOAD_DETAIL: &str = "SELECT body FROM run_details WHERE run = ?1";
const STORE_DETAIL: &str = "INSERT INTO run_details (run, body) VALUES (?1, ?2)
    ON CONFLICT (run) DO UPDATE SET body = excluded.body";

impl Projection<'_> {
    pub(super) fn project_run(&self, stored: &mut String) -> Result<(), Fault> {
        if self.slot.seq == 1 {
            self.insert_run()?;
        }
        let (program, state) = (self.replayed.program, self.replayed.state);
        let (used, limits) = (&state.used, &state.limits);
        let detail = RunDetail::of(program, state);
        let (stage, reason, confidence) = match state.end() {
            Some(end) => self.outcome(end)?,
            None => (stage(program, state), None, state.confidence),
        };
        self.conn.prepare_cached(UPDATE_RUN)?.execute(params![
            self.replayed.run,
            self.slot.at,
            self.slot.seq,
            stage.word(),
            detail.position.to_string(),
            reason,
            confidence.name(),
            risk_name(state.risk),
            sql_integer(used.dispatches),
            sql_integer(used.money),
            sql_integer(used.unpriced),
            sql_integer(used.tokens),
            sql_integer(used.time),
            limits.dispatches.map(sql_integer),
            limits.money.map(sql_integer),
            limits.tokens.map(sql_integer),
            limits.time.map(sql_integer),
        ])?;
        self.store_detail(&detail, stored)
    }

    /// Writes the detail if it changed.
    fn store_detail(&self, detail: &RunDetail, stored: &mut String) -> Result<(), Fault> {
        let json = serde_json::to_string(detail)?;
        if json != *stored {
            self.conn.prepare_cached(STORE_DETAIL)?.execute(params![self.replayed.run, json])?;
            *stored = json;
        }
        Ok(())
    }

    /// How a run ended, why, and the confidence in its result.
    fn outcome(&self, end: &End) -> Result<(RunStage, Option<String>, Confidence), Fault> {
        let (program, state) = (self.replayed.program, self.replayed.state);
        let deliveries = self.deliveries()?;
        let is_committed = deliveries.iter().any(|delivery| matches!(delivery, Delivery::Committed { .. }));
        let was_refused = deliveries.iter().any(|delivery| matches!(delivery, Delivery::Refused { .. }));
        // A commit that was refused is a required signal that is missing.
        let confidence = if was_refused && !is_committed { Confidence::Low } else { state.confidence };
        let (stage, reason) = match end {
            End::Done if is_committed => {
                (RunStage::Committed, state.reverted.as_ref().map(|commit| format!("undone by {commit}")))
            }
            End::Done => {
                let why = deliveries.last().and_then(Delivery::why_not_committed);
                (RunStage::LeftToYou, why.or_else(|| Some("the workflow commits nothing".to_string())))
            }
            End::Failed { phase, signal, exhausted } => {
                match deliveries.last().and_then(Delivery::refusing_hook) {
                    Some(hook) => (RunStage::LeftToYou, Some(Delivery::hook_said(hook))),
                    None => {
                        let (phase, signal) = (&program.phase(*phase).name, program.signal(*signal));
                        let budget = exhausted.map(|budget| &program.budget(budget).name);
                        let used_up =
                            budget.map_or_else(String::new, |name| format!(", and budget {name} is used up"));
                        (RunStage::Failed, Some(format!("{phase} ended with {signal}{used_up}")))
                    }
                }
            }
            End::Stopped { why } => (RunStage::Stopped, (!why.is_empty()).then(|| why.clone())),
            End::Cancelled { by } => (RunStage::Stopped, Some(format!("cancelled by {by}"))),
        };
        Ok((stage, reason, confidence))
    }

    /// What the operations of the run reported about its work so far, this event included.
    fn deliveries(&self) -> Result<Vec<Delivery>, Fault> {
        let mut statement = self.conn.prepare_cached(DELIVERIES)?;
        let rows = statement.query_map([self.replayed.run], |row| Ok(row.get::<_, Json<Delivery>>(0)?.0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn insert_run(&self) -> Result<(), Fault> {
        let Some(opened) = &self.replayed.facts.opened else {
            return Err(LedgerError::NotOpened { run: self.replayed.run.clone() }.into());
        };
        let (program, state) = (self.replayed.program, self.replayed.state);
        self.conn.prepare_cached(INSERT_RUN)?.execute(params![
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

fn risk_name(risk: Risk) -> &'static str {
    match risk {
        Risk::Green => "green",
        Risk::Yellow => "yellow",
        Risk::Red => "red",
    }
}

/// The stage of a run that is not over.
fn stage(program: &Program, state: &State) -> RunStage {
    match &state.stage {
        Stage::Fresh | Stage::Ending { .. } | Stage::Ended(_) => RunStage::Running,
        Stage::Running if state.paused => RunStage::Paused,
        Stage::Running => {
            let is_working =
                lane_states(state).any(|(_, lane)| has_open_seat(lane) && !is_question(program, lane));
            let is_asking = state.hold.is_some() || lane_states(state).any(|(_, lane)| has_open_seat(lane));
            if is_asking && !is_working { RunStage::Waiting } else { RunStage::Running }
        }
    }
}

/// The stored detail of a run; empty if there is none.
pub(super) fn load_detail(conn: &Connection, run: &str) -> Result<String, Fault> {
    let stored = conn.prepare_cached(LOAD_DETAIL)?.query_row([run], |row| row.get(0));
    Ok(stored.optional()?.unwrap_or_default())
}

fn is_question(program: &Program, lane: &LaneState) -> bool {
    matches!(program.phase(lane.phase).work, Work::Ask { .. })
}
