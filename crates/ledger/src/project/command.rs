//! Dispatches and operations: a row when the command is issued, completed when it ends (EP-26).

use super::Projection;
use crate::column::whole;
use crate::error::Fault;
use crate::fact::{Millis, Tokens};
use crate::query::interrupted;
use remand_kernel::command::Dispatch;
use remand_kernel::event::{Outcome, Usage};
use remand_kernel::ids::{CommandId, OperationId};
use remand_kernel::program::{Contract, Program, Work};
use remand_kernel::signal::Failure;
use remand_kernel::step::Note;
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

const ISSUED: &str =
    "INSERT INTO commands (run, seq, n, id, kind, command, phase, name, item, task, advisory, visit, attempt,
    started_at, status, retries) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'running', ?15)";

const DISPATCH_ENDED: &str = "UPDATE commands SET started_at = coalesce(?2, started_at), completed_at = ?3,
    status = ?4, tokens = ?5, money = ?6, time = ?7, model = ?8, driver = ?9, session = ?10, says = ?11,
    failure = ?12, detail = ?13, summary = ?14, prompt = ?15, output = ?16, exit_code = ?17, ended_by = ?18,
    result = ?19, before = ?20, after = ?21, tokens_in = ?22, tokens_out = ?23, tokens_cached = ?24,
    tokens_stored = ?25, price = ?26
    WHERE id = ?1";

/// What came in after the run went on without it: the cost counts, the result does not.
const DISPATCH_LATE: &str =
    "UPDATE commands SET started_at = coalesce(?2, started_at), tokens = ?3, money = ?4,
    time = ?5, model = ?6, driver = ?7, session = ?8, prompt = ?9, output = ?10, exit_code = ?11,
    result = ?12, before = ?13, after = ?14, tokens_in = ?15, tokens_out = ?16, tokens_cached = ?17,
    tokens_stored = ?18, price = ?19
    WHERE id = ?1 AND time IS NULL";

/// A dispatch of its own beside the one that is open, found by no command: what that one used is told when it ends.
const INTERRUPTED: &str =
    "INSERT INTO commands (run, seq, n, id, kind, command, phase, name, item, task, advisory, visit, attempt,
    started_at, completed_at, status, failure, detail, retries)
    SELECT run, ?2, 0, ?3, kind, ?6, phase, name, item, task, advisory, visit, attempt,
    started_at, ?4, 'ERROR', ?5, 'interrupted', retries FROM commands WHERE id = ?1";

const OPERATION_ENDED: &str = "UPDATE commands SET started_at = coalesce(?2, started_at), completed_at = ?3,
    status = ?4, time = ?5, says = ?6, failure = ?7, detail = ?8
    WHERE id = ?1";

const CANCELLED: &str =
    "UPDATE commands SET completed_at = ?2, status = 'ERROR', failure = 'cancelled' WHERE id = ?1";

const UNTOLD: &str = "SELECT command, commands.id, status = 'running'
    FROM events JOIN commands ON commands.id BETWEEN events.id << 16 AND events.id << 16 | 65535
    WHERE events.run = ?1 AND (status = 'running' OR commands.kind = 'dispatch' AND time IS NULL)";

/// The rows of commands that did not tell yet what they used, by command.
pub(super) type Untold = BTreeMap<String, Telling>;

/// Where the row of a command is that may still be told of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Telling {
    row: i64,
    /// Not cancelled: the run waits for it.
    under_way: bool,
}

/// The commands of a run that did not tell yet, as they stand in the table.
pub(super) fn untold(conn: &Connection, run: &str) -> Result<Untold, Fault> {
    let mut statement = conn.prepare_cached(UNTOLD)?;
    let rows = statement
        .query_map([run], |row| Ok((row.get(0)?, Telling { row: row.get(1)?, under_way: row.get(2)? })))?;
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
    pub(super) fn dispatched(&self, dispatch: &Dispatch, n: i64, untold: &mut Untold) -> Result<(), Fault> {
        let contract = dispatch.nearest.unwrap_or(dispatch.contract);
        let issued = Issued {
            kind: "dispatch",
            id: dispatch.id,
            name: &self.lived.program.contract(contract).title(),
            item: dispatch.item.as_deref(),
            task: dispatch.task.as_deref(),
            advisory: dispatch.advisory,
            failures: dispatch.failures,
        };
        self.began(&issued, n, untold)
    }

    pub(super) fn operated(
        &self,
        id: CommandId,
        operation: OperationId,
        task: Option<&str>,
        n: i64,
        untold: &mut Untold,
    ) -> Result<(), Fault> {
        let name = &self.lived.program.operation(operation).name;
        let issued = Issued { kind: "operation", id, name, item: None, task, advisory: false, failures: 0 };
        self.began(&issued, n, untold)
    }

    fn began(&self, issued: &Issued<'_>, n: i64, untold: &mut Untold) -> Result<(), Fault> {
        let id = issued.id;
        let command = id.to_string();
        self.conn.prepare_cached(ISSUED)?.execute(params![
            self.lived.run,
            self.placed.seq,
            n,
            self.placed.row(n),
            issued.kind,
            command,
            self.lived.program.phase(id.phase).name,
            issued.name,
            issued.item,
            issued.task,
            issued.advisory,
            id.visit,
            id.attempt,
            self.placed.at,
            issued.failures,
        ])?;
        untold.insert(command, Telling { row: self.placed.row(n), under_way: true });
        Ok(())
    }

    pub(super) fn ended(
        &self,
        id: CommandId,
        outcome: &Outcome,
        usage: &Usage,
        untold: &mut Untold,
    ) -> Result<(), Fault> {
        let command = id.to_string();
        let Some(Telling { row, under_way, .. }) = untold.get(&command).copied() else {
            return Ok(());
        };
        let contract = contract(self.lived.program, id);
        match (self.lived.step.note, contract) {
            (Note::Late, Some(_)) => return self.dispatch_late(row, usage),
            (Note::Late, None) => return Ok(()),
            (Note::Taken, Some(_) | None) if !under_way => return Ok(()),
            (Note::Taken, Some(_) | None) => {}
        }
        untold.remove(&command);
        match contract {
            Some(contract) => self.dispatch_ended(row, contract, outcome, usage),
            None => self.operation_ended(row, outcome, usage),
        }
    }

    fn dispatch_ended(
        &self,
        row: i64,
        contract: &Contract,
        outcome: &Outcome,
        usage: &Usage,
    ) -> Result<(), Fault> {
        let program = self.lived.program;
        let ending = Ending::of(program, outcome);
        let telemetry = self.lived.facts.telemetry.as_ref();
        let tokens = telemetry.and_then(|telemetry| telemetry.tokens);
        let happy = contract.says.first().map(|signal| program.signal(*signal));
        let derived = match ending.failure {
            Some(_) => "ERROR",
            None if ending.says == happy => "DONE",
            None => "NEEDS_REVISION",
        };
        let stated = telemetry.map(|telemetry| telemetry.status.as_str());
        let status = stated.filter(|status| ["DONE", "NEEDS_REVISION", "ERROR"].contains(status));
        let model = match (telemetry, outcome) {
            (Some(telemetry), _) => telemetry.model.as_deref(),
            (None, Outcome::Said(report)) => report.model.as_deref(),
            (None, Outcome::Failed { .. } | Outcome::Supposed(_)) => None,
        };
        self.conn.prepare_cached(DISPATCH_ENDED)?.execute(params![
            row,
            telemetry.and_then(|telemetry| known(telemetry.started_at)),
            telemetry.and_then(|telemetry| known(telemetry.ended_at)).unwrap_or(self.placed.at),
            status.unwrap_or(derived),
            told(usage, tokens).map(whole),
            usage.money.map(whole),
            whole(usage.time),
            model,
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

    /// An agent began with a command that stays open.
    pub(super) fn interrupted(&self, id: CommandId, usage: &Usage, untold: &Untold) -> Result<(), Fault> {
        let command = id.to_string();
        let Some(Telling { row, .. }) = untold.get(&command) else {
            return Ok(());
        };
        if self.lived.step.note == Note::Late {
            return self.dispatch_late(*row, usage);
        }
        let own = self.placed.row(0);
        let cancelled = Failure::Cancelled.name();
        self.conn.prepare_cached(INTERRUPTED)?.execute(params![
            row,
            self.placed.seq,
            own,
            self.placed.at,
            cancelled,
            interrupted(&command, u64::try_from(self.placed.seq).unwrap_or(0)),
        ])?;
        self.dispatch_late(own, usage)
    }

    fn dispatch_late(&self, row: i64, usage: &Usage) -> Result<(), Fault> {
        let telemetry = self.lived.facts.telemetry.as_ref();
        let tokens = telemetry.and_then(|telemetry| telemetry.tokens);
        self.conn.prepare_cached(DISPATCH_LATE)?.execute(params![
            row,
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

    fn operation_ended(&self, row: i64, outcome: &Outcome, usage: &Usage) -> Result<(), Fault> {
        let ending = Ending::of(self.lived.program, outcome);
        let telemetry = self.lived.facts.telemetry.as_ref();
        self.conn.prepare_cached(OPERATION_ENDED)?.execute(params![
            row,
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

    pub(super) fn cancelled(&self, id: CommandId, untold: &mut Untold) -> Result<(), Fault> {
        let command = id.to_string();
        let Some(telling) = untold.get_mut(&command).filter(|telling| telling.under_way) else {
            return Ok(());
        };
        self.conn.prepare_cached(CANCELLED)?.execute(params![telling.row, self.placed.at])?;
        telling.under_way = false;
        // Of an operation nothing is told later.
        if contract(self.lived.program, id).is_none() {
            untold.remove(&command);
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
    usage.tokens.filter(|tokens| *tokens > 0 || kinds.is_some())
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
