//! Dispatches and operations: a row when the command is issued, completed when it ends (EP-26).

use super::Projection;
use crate::column::whole;
use crate::error::Fault;
use crate::fact::{Millis, Telemetry, Tokens};
use remand_kernel::command::{Command, Dispatch};
use remand_kernel::event::{Outcome, Usage};
use remand_kernel::ids::{CommandId, OperationId};
use remand_kernel::program::{Contract, Program, Work};
use remand_kernel::signal::Failure;
use remand_kernel::step::Note;
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, BTreeSet};

const ISSUED: &str =
    "INSERT INTO commands (run, seq, n, id, kind, command, phase, name, item, task, advisory, visit, attempt,
    started_at, status, retries) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'running', ?15)";

const DISPATCH_ENDED: &str = "UPDATE commands SET started_at = coalesce(?4, started_at), completed_at = ?5,
    status = ?6, tokens = ?7, money = ?8, time = ?9, model = ?10, driver = ?11, session = ?12, says = ?13,
    failure = ?14, detail = ?15, summary = ?16, prompt = ?17, output = ?18, exit_code = ?19, ended_by = ?20,
    result = ?21, before = ?22, after = ?23, tokens_in = ?24, tokens_out = ?25, tokens_cached = ?26,
    tokens_stored = ?27, price = ?28
    WHERE run = ?1 AND seq = ?2 AND n = ?3";

/// What came in after the run went on without it: the cost counts, the result does not.
const DISPATCH_LATE: &str =
    "UPDATE commands SET started_at = coalesce(?3, started_at), tokens = ?4, money = ?5,
    time = ?6, model = ?7, driver = ?8, session = ?9, prompt = ?10, output = ?11, exit_code = ?12,
    result = ?13, before = ?14, after = ?15, tokens_in = ?16, tokens_out = ?17, tokens_cached = ?18,
    tokens_stored = ?19, price = ?20
    WHERE run = ?1 AND command = ?2 AND kind = 'dispatch' AND time IS NULL";

const OPERATION_ENDED: &str = "UPDATE commands SET started_at = coalesce(?4, started_at), completed_at = ?5,
    status = ?6, time = ?7, says = ?8, failure = ?9, detail = ?10
    WHERE run = ?1 AND seq = ?2 AND n = ?3";

const CANCELLED: &str = "UPDATE commands SET completed_at = ?4, status = 'ERROR', failure = 'cancelled'
    WHERE run = ?1 AND seq = ?2 AND n = ?3";

const RUNNING: &str = "SELECT command, seq, n FROM commands WHERE run = ?1 AND status = 'running'";

const ASKED: &str =
    "SELECT seq, command FROM gates WHERE run = ?1 AND answered_at IS NULL AND withdrawn_at IS NULL";

const COMMANDS: &str = "SELECT commands FROM events WHERE run = ?1 AND seq = ?2";

/// The rows of commands that are under way, as event and place among its commands, by command.
pub(super) type Running = BTreeMap<String, (i64, i64)>;

/// The commands of a run that are under way, as they stand in the table.
pub(super) fn running(conn: &Connection, run: &str) -> Result<Running, Fault> {
    let mut statement = conn.prepare_cached(RUNNING)?;
    let rows = statement.query_map([run], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What a row of a command begins with.
struct Issued<'i> {
    kind: &'static str,
    id: CommandId,
    name: &'i str,
    item: Option<&'i str>,
    task: Option<&'i str>,
    advisory: bool,
    failures: u16,
}

impl Projection<'_> {
    pub(super) fn dispatched(&self, dispatch: &Dispatch, n: i64, running: &mut Running) -> Result<(), Fault> {
        let contract = dispatch.nearest.unwrap_or(dispatch.contract);
        let issued = Issued {
            kind: "dispatch",
            id: dispatch.id,
            name: &self.entry.program.contract(contract).title(),
            item: dispatch.item.as_deref(),
            task: dispatch.task.as_deref(),
            advisory: dispatch.advisory,
            failures: dispatch.failures,
        };
        self.began(&issued, n, running)
    }

    pub(super) fn operated(
        &self,
        id: CommandId,
        operation: OperationId,
        task: Option<&str>,
        n: i64,
        running: &mut Running,
    ) -> Result<(), Fault> {
        let name = &self.entry.program.operation(operation).name;
        let issued = Issued { kind: "operation", id, name, item: None, task, advisory: false, failures: 0 };
        self.began(&issued, n, running)
    }

    fn began(&self, issued: &Issued<'_>, n: i64, running: &mut Running) -> Result<(), Fault> {
        let id = issued.id;
        let command = id.to_string();
        self.conn.prepare_cached(ISSUED)?.execute(params![
            self.entry.run,
            self.placed.seq,
            n,
            self.placed.row(n),
            issued.kind,
            command,
            self.entry.program.phase(id.phase).name,
            issued.name,
            issued.item,
            issued.task,
            issued.advisory,
            id.visit,
            id.attempt,
            self.placed.at,
            issued.failures,
        ])?;
        running.insert(command, (self.placed.seq, n));
        Ok(())
    }

    pub(super) fn ended(
        &self,
        id: CommandId,
        outcome: &Outcome,
        usage: &Usage,
        running: &mut Running,
    ) -> Result<(), Fault> {
        let telemetry = self.entry.facts.telemetry.as_ref();
        let contract = contract(self.entry.program, id);
        match (self.entry.step.note, contract) {
            (Note::Late, Some(_)) => return self.dispatch_late(id, telemetry, usage),
            (Note::Late, None) => return Ok(()),
            (Note::Taken, Some(_) | None) => {}
        }
        let Some(row) = running.remove(&id.to_string()) else {
            return Ok(());
        };
        match contract {
            Some(contract) => self.dispatch_ended(row, contract, outcome, usage),
            None => self.operation_ended(row, outcome, usage),
        }
    }

    fn dispatch_ended(
        &self,
        (seq, n): (i64, i64),
        contract: &Contract,
        outcome: &Outcome,
        usage: &Usage,
    ) -> Result<(), Fault> {
        let program = self.entry.program;
        let ending = Ending::of(program, outcome);
        let telemetry = self.entry.facts.telemetry.as_ref();
        let tokens = telemetry.and_then(|telemetry| telemetry.tokens);
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
            seq,
            n,
            telemetry.and_then(|telemetry| known(telemetry.started_at)),
            telemetry.and_then(|telemetry| known(telemetry.ended_at)).unwrap_or(self.placed.at),
            status.unwrap_or(derived),
            told(usage, tokens).map(whole),
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
            tokens.map(|tokens| whole(tokens.input)),
            tokens.map(|tokens| whole(tokens.output)),
            tokens.map(|tokens| whole(tokens.cached)),
            tokens.map(|tokens| whole(tokens.stored)),
            telemetry.and_then(|telemetry| telemetry.price.as_deref()),
        ])?;
        Ok(())
    }

    fn dispatch_late(
        &self,
        id: CommandId,
        telemetry: Option<&Telemetry>,
        usage: &Usage,
    ) -> Result<(), Fault> {
        let tokens = telemetry.and_then(|telemetry| telemetry.tokens);
        self.conn.prepare_cached(DISPATCH_LATE)?.execute(params![
            self.entry.run,
            id.to_string(),
            telemetry.and_then(|telemetry| known(telemetry.started_at)),
            told(usage, tokens).map(whole),
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
            tokens.map(|tokens| whole(tokens.input)),
            tokens.map(|tokens| whole(tokens.output)),
            tokens.map(|tokens| whole(tokens.cached)),
            tokens.map(|tokens| whole(tokens.stored)),
            telemetry.and_then(|telemetry| telemetry.price.as_deref()),
        ])?;
        Ok(())
    }

    fn operation_ended(&self, (seq, n): (i64, i64), outcome: &Outcome, usage: &Usage) -> Result<(), Fault> {
        let ending = Ending::of(self.entry.program, outcome);
        let telemetry = self.entry.facts.telemetry.as_ref();
        self.conn.prepare_cached(OPERATION_ENDED)?.execute(params![
            self.entry.run,
            seq,
            n,
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

    pub(super) fn cancelled(&self, id: CommandId, running: &mut Running) -> Result<(), Fault> {
        if let Some((seq, n)) = running.remove(&id.to_string()) {
            self.conn.prepare_cached(CANCELLED)?.execute(params![self.entry.run, seq, n, self.placed.at])?;
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

/// The tokens of a dispatch. An agent that says nothing of them did not do without any.
fn told(usage: &Usage, kinds: Option<Tokens>) -> Option<u64> {
    (usage.tokens > 0 || kinds.is_some()).then_some(usage.tokens)
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

/// The commands of a run that are under way or wait for an answer, in the order of issue.
pub(super) fn open(conn: &Connection, run: &str, running: &Running) -> Result<Vec<Command>, Fault> {
    let mut open: BTreeSet<(i64, String)> =
        running.iter().map(|(command, (seq, _))| (*seq, command.clone())).collect();
    let mut statement = conn.prepare_cached(ASKED)?;
    for asked in statement.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))? {
        open.insert(asked?);
    }
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
