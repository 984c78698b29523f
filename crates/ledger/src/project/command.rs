//! Dispatches and operations: a row when the command is issued, completed when it ends (EP-26).

use super::Projection;
use crate::column::whole;
use crate::error::Fault;
use crate::fact::{Millis, Telemetry};
use remand_kernel::command::{Command, Dispatch};
use remand_kernel::event::{Outcome, Usage};
use remand_kernel::ids::{CommandId, OperationId};
use remand_kernel::program::{Contract, Program, Work};
use remand_kernel::signal::Failure;
use remand_kernel::step::Note;
use rusqlite::{Connection, params};
use std::collections::BTreeSet;

const DISPATCHED: &str =
    "INSERT INTO dispatches (run, seq, command, phase, role, item, task, advisory, visit, attempt,
    started_at, status, retries) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'running', ?12)
    ON CONFLICT DO NOTHING";

const DISPATCH_ENDED: &str = "UPDATE dispatches SET started_at = coalesce(?3, started_at), completed_at = ?4,
    status = ?5, tokens = ?6, money = ?7, time = ?8, model = ?9, driver = ?10, session = ?11, says = ?12,
    failure = ?13, detail = ?14, summary = ?15, prompt = ?16, output = ?17, exit_code = ?18, ended_by = ?19,
    result = ?20, before = ?21, after = ?22
    WHERE run = ?1 AND command = ?2 AND status = 'running'";

/// What came in after the run went on without it: the cost counts, the result does not.
const DISPATCH_LATE: &str =
    "UPDATE dispatches SET started_at = coalesce(?3, started_at), tokens = ?4, money = ?5,
    time = ?6, model = ?7, driver = ?8, session = ?9, prompt = ?10, output = ?11, exit_code = ?12,
    result = ?13, before = ?14, after = ?15
    WHERE run = ?1 AND command = ?2 AND tokens IS NULL";

const OPERATED: &str =
    "INSERT INTO operations (run, seq, command, phase, name, task, visit, attempt, started_at, status)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'running') ON CONFLICT DO NOTHING";

const OPERATION_ENDED: &str =
    "UPDATE operations SET started_at = coalesce(?3, started_at), completed_at = ?4,
    status = ?5, time = ?6, result = ?7, failure = ?8, detail = ?9
    WHERE run = ?1 AND command = ?2 AND status = 'running'";

const CANCELLED: [&str; 2] = [
    "UPDATE dispatches SET completed_at = ?3, status = 'ERROR', failure = 'cancelled'
    WHERE run = ?1 AND command = ?2 AND status = 'running'",
    "UPDATE operations SET completed_at = ?3, status = 'ERROR', failure = 'cancelled'
    WHERE run = ?1 AND command = ?2 AND status = 'running'",
];

const OPEN: &str = "SELECT seq, command FROM dispatches WHERE run = ?1 AND status = 'running'
    UNION ALL SELECT seq, command FROM operations WHERE run = ?1 AND status = 'running'
    UNION ALL SELECT seq, command FROM gates WHERE run = ?1 AND answered_at IS NULL AND withdrawn_at IS NULL";

const COMMANDS: &str = "SELECT commands FROM events WHERE run = ?1 AND seq = ?2";

impl Projection<'_> {
    pub(super) fn dispatched(&self, dispatch: &Dispatch) -> Result<(), Fault> {
        let program = self.entry.program;
        let contract = dispatch.nearest.unwrap_or(dispatch.contract);
        self.conn.prepare_cached(DISPATCHED)?.execute(params![
            self.entry.run,
            self.placed.seq,
            dispatch.id.to_string(),
            program.phase(dispatch.id.phase).name,
            program.contract(contract).title(),
            dispatch.item,
            dispatch.task,
            dispatch.advisory,
            dispatch.id.visit,
            dispatch.id.attempt,
            self.placed.at,
            dispatch.failures,
        ])?;
        Ok(())
    }

    pub(super) fn operated(
        &self,
        id: CommandId,
        operation: OperationId,
        task: Option<&str>,
    ) -> Result<(), Fault> {
        let program = self.entry.program;
        self.conn.prepare_cached(OPERATED)?.execute(params![
            self.entry.run,
            self.placed.seq,
            id.to_string(),
            program.phase(id.phase).name,
            program.operation(operation).name,
            task,
            id.visit,
            id.attempt,
            self.placed.at,
        ])?;
        Ok(())
    }

    pub(super) fn ended(&self, id: CommandId, outcome: &Outcome, usage: &Usage) -> Result<(), Fault> {
        let telemetry = self.entry.facts.telemetry.as_ref();
        match (contract(self.entry.program, id), self.entry.step.note) {
            (Some(_), Note::Late) => self.dispatch_late(id, telemetry, usage),
            (Some(contract), Note::Taken) => self.dispatch_ended(id, contract, outcome, usage),
            (None, Note::Late) => Ok(()),
            (None, Note::Taken) => self.operation_ended(id, outcome, usage),
        }
    }

    fn dispatch_ended(
        &self,
        id: CommandId,
        contract: &Contract,
        outcome: &Outcome,
        usage: &Usage,
    ) -> Result<(), Fault> {
        let program = self.entry.program;
        let ending = Ending::of(program, outcome);
        let telemetry = self.entry.facts.telemetry.as_ref();
        let happy = contract.says.first().map(|signal| program.signal(*signal));
        let derived = match ending.failure {
            Some(_) => "ERROR",
            None if ending.says == happy => "DONE",
            None => "NEEDS_REVISION",
        };
        let stated = telemetry.map(|telemetry| telemetry.status.as_str());
        let status = stated.filter(|status| ["DONE", "NEEDS_REVISION", "ERROR"].contains(status));
        let said_model = match outcome {
            Outcome::Said(report) => report.model.as_deref(),
            Outcome::Failed { .. } | Outcome::Supposed(_) => None,
        };
        self.conn.prepare_cached(DISPATCH_ENDED)?.execute(params![
            self.entry.run,
            id.to_string(),
            telemetry.and_then(|telemetry| known(telemetry.started_at)),
            telemetry.and_then(|telemetry| known(telemetry.ended_at)).unwrap_or(self.placed.at),
            status.unwrap_or(derived),
            whole(usage.tokens),
            usage.money.map(whole),
            whole(usage.time),
            telemetry.and_then(|telemetry| telemetry.model.as_deref()).or(said_model),
            telemetry.map(|telemetry| telemetry.driver.as_str()),
            telemetry.and_then(|telemetry| telemetry.session.as_deref()),
            ending.says,
            ending.failure.map(Failure::name),
            ending.detail,
            telemetry.map(|telemetry| telemetry.summary.as_str()),
            telemetry.and_then(|telemetry| telemetry.prompt),
            telemetry.and_then(|telemetry| telemetry.output),
            telemetry.and_then(|telemetry| telemetry.exit_code),
            self.placed.id,
            telemetry.and_then(|telemetry| telemetry.result),
            telemetry.and_then(|telemetry| telemetry.before.as_deref()),
            telemetry.and_then(|telemetry| telemetry.after.as_deref()),
        ])?;
        Ok(())
    }

    fn dispatch_late(
        &self,
        id: CommandId,
        telemetry: Option<&Telemetry>,
        usage: &Usage,
    ) -> Result<(), Fault> {
        self.conn.prepare_cached(DISPATCH_LATE)?.execute(params![
            self.entry.run,
            id.to_string(),
            telemetry.and_then(|telemetry| known(telemetry.started_at)),
            whole(usage.tokens),
            usage.money.map(whole),
            whole(usage.time),
            telemetry.and_then(|telemetry| telemetry.model.as_deref()),
            telemetry.map(|telemetry| telemetry.driver.as_str()),
            telemetry.and_then(|telemetry| telemetry.session.as_deref()),
            telemetry.and_then(|telemetry| telemetry.prompt),
            telemetry.and_then(|telemetry| telemetry.output),
            telemetry.and_then(|telemetry| telemetry.exit_code),
            telemetry.and_then(|telemetry| telemetry.result),
            telemetry.and_then(|telemetry| telemetry.before.as_deref()),
            telemetry.and_then(|telemetry| telemetry.after.as_deref()),
        ])?;
        Ok(())
    }

    fn operation_ended(&self, id: CommandId, outcome: &Outcome, usage: &Usage) -> Result<(), Fault> {
        let ending = Ending::of(self.entry.program, outcome);
        let telemetry = self.entry.facts.telemetry.as_ref();
        self.conn.prepare_cached(OPERATION_ENDED)?.execute(params![
            self.entry.run,
            id.to_string(),
            telemetry.and_then(|telemetry| known(telemetry.started_at)),
            telemetry.and_then(|telemetry| known(telemetry.ended_at)).unwrap_or(self.placed.at),
            if ending.failure.is_some() { "ERROR" } else { "DONE" },
            whole(usage.time),
            ending.says,
            ending.failure.map(Failure::name),
            ending.detail,
        ])?;
        Ok(())
    }

    pub(super) fn cancelled(&self, id: CommandId) -> Result<(), Fault> {
        for sql in CANCELLED {
            self.conn.prepare_cached(sql)?.execute(params![
                self.entry.run,
                id.to_string(),
                self.placed.at
            ])?;
        }
        Ok(())
    }
}

/// How a command ended, in words.
struct Ending<'o> {
    says: Option<&'o str>,
    failure: Option<Failure>,
    detail: Option<&'o str>,
}

impl<'o> Ending<'o> {
    fn of(program: &'o Program, outcome: &'o Outcome) -> Ending<'o> {
        match outcome {
            Outcome::Said(report) => Ending { says: Some(&report.says), failure: None, detail: None },
            Outcome::Failed { failure, detail, .. } => {
                Ending { says: None, failure: Some(*failure), detail: Some(detail) }
            }
            Outcome::Supposed(signal) => {
                Ending { says: Some(program.signal(*signal)), failure: None, detail: None }
            }
        }
    }
}

/// A time that was filled in.
fn known(at: Millis) -> Option<Millis> {
    (at != Millis::default()).then_some(at)
}

/// The contract that a dispatch works under; none for an operation.
fn contract(program: &Program, id: CommandId) -> Option<&Contract> {
    if id.visit == 0 {
        return None;
    }
    let contract = match &program.phase(id.phase).work {
        Work::Role { contract, .. } | Work::Each { contract, .. } => Some(contract),
        Work::Panel { members, advisors } => members.iter().chain(advisors).nth(usize::from(id.seat)),
        Work::Flow { .. } | Work::Operation { .. } | Work::Ask { .. } => None,
    };
    contract.map(|id| program.contract(*id))
}

/// The commands of a run that were issued and neither ended nor were cancelled, in the order of issue.
pub(crate) fn open_commands(conn: &Connection, run: &str) -> Result<Vec<Command>, Fault> {
    let mut statement = conn.prepare_cached(OPEN)?;
    let rows = statement.query_map([run], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    let open: BTreeSet<(i64, String)> = rows.collect::<Result<_, _>>()?;
    let seqs: BTreeSet<i64> = open.iter().map(|(seq, _)| *seq).collect();
    let mut commands = Vec::new();
    for seq in seqs {
        let text: String = conn.prepare_cached(COMMANDS)?.query_row(params![run, seq], |row| row.get(0))?;
        let issued: Vec<Command> = serde_json::from_str(&text)
            .map_err(|error| Fault::decode(format!("the commands of event {seq} of run {run}"), &error))?;
        commands.extend(
            issued
                .into_iter()
                .filter(|command| command.id().is_some_and(|id| open.contains(&(seq, id.to_string())))),
        );
    }
    Ok(commands)
}
