//! Dispatches and operations: a row is added when the command is issued, and completed when it ends.

use super::{Projection, old_prose};
use crate::cell::interruption_id;
use crate::column::{ColumnWord, sql_integer};
use crate::error::Fault;
use crate::fact::{MalformedCause, Millis, TokenCounts};
use remand_kernel::command::Dispatch;
use remand_kernel::event::{Outcome, Usage};
use remand_kernel::ids::{CommandId, OperationId};
use remand_kernel::program::{Contract, Program, Work};
use remand_kernel::signal::Failure;
use remand_kernel::step::Receipt;
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

const INSERT_COMMAND: &str =
    "INSERT INTO commands (run, seq, n, id, kind, command, phase, name, item, task, advisory, visit, attempt,
    started_at, status, retries) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'running', ?15)";

const END_DISPATCH: &str = "UPDATE commands SET started_at = coalesce(?2, started_at), completed_at = ?3,
    status = ?4, tokens = ?5, money = ?6, time = ?7, model = ?8, driver = ?9, session = ?10, says = ?11,
    failure = ?12, detail = ?13, summary = ?14, prompt = ?15, output = ?16, exit_code = ?17, ended_by = ?18,
    result = ?19, before = ?20, after = ?21, tokens_in = ?22, tokens_out = ?23, tokens_cached = ?24,
    tokens_stored = ?25, price = ?26, malformed = ?27
    WHERE id = ?1";

/// Records the usage of an interrupted dispatch, or of one that ended after the run had continued without it: the cost
/// counts, the verdict does not.
const RECORD_LATE_USAGE: &str =
    "UPDATE commands SET started_at = coalesce(?2, started_at), tokens = ?3, money = ?4,
    time = ?5, model = ?6, driver = ?7, session = ?8, prompt = ?9, output = ?10, exit_code = ?11,
    result = ?12, before = ?13, after = ?14, tokens_in = ?15, tokens_out = ?16, tokens_cached = ?17,
    tokens_stored = ?18, price = ?19
    WHERE id = ?1 AND time IS NULL";

/// Adds a row for an interrupted dispatch, copied from the row of its command. The command stays open and reports its
/// later usage when it ends.
const INSERT_INTERRUPTED: &str =
    "INSERT INTO commands (run, seq, n, id, kind, command, phase, name, item, task, advisory, visit, attempt,
    started_at, completed_at, status, failure, detail, retries)
    SELECT run, ?2, 0, ?3, kind, ?6, phase, name, item, task, advisory, visit, attempt,
    started_at, ?4, 'ERROR', ?5, 'interrupted', retries FROM commands WHERE id = ?1";

const END_OPERATION: &str = "UPDATE commands SET started_at = coalesce(?2, started_at), completed_at = ?3,
    status = ?4, time = ?5, says = ?6, failure = ?7, detail = ?8
    WHERE id = ?1";

const CANCEL_COMMAND: &str =
    "UPDATE commands SET completed_at = ?2, status = 'ERROR', failure = 'cancelled' WHERE id = ?1";

const UNREPORTED: &str = "SELECT command, commands.id, status = 'running'
    FROM events JOIN commands ON commands.id BETWEEN events.id << 16 AND events.id << 16 | 65535
    WHERE events.run = ?1 AND (status = 'running' OR commands.kind = 'dispatch' AND time IS NULL)";

/// The rows of commands without reported usage, by command id.
pub(super) type Unreported = BTreeMap<String, OpenRow>;

/// A row that may still be completed.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRow {
    row: i64,
    /// False after the command is cancelled.
    is_running: bool,
}

/// Loads the rows of a run's commands without reported usage.
pub(super) fn load_unreported(conn: &Connection, run: &str) -> Result<Unreported, Fault> {
    let mut statement = conn.prepare_cached(UNREPORTED)?;
    let rows = statement
        .query_map([run], |row| Ok((row.get(0)?, OpenRow { row: row.get(1)?, is_running: row.get(2)? })))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The columns of a command that was just issued.
struct IssuedCommand<'i> {
    kind: &'static str,
    id: CommandId,
    name: &'i str,
    item: Option<&'i str>,
    task: Option<&'i str>,
    advisory: bool,
    failures: u16,
}

impl Projection<'_> {
    pub(super) fn open_dispatch(
        &self,
        dispatch: &Dispatch,
        n: i64,
        unreported: &mut Unreported,
    ) -> Result<(), Fault> {
        let contract = dispatch.nearest.unwrap_or(dispatch.contract);
        let issued = IssuedCommand {
            kind: "dispatch",
            id: dispatch.id,
            name: &self.replayed.program.contract(contract).title(),
            item: dispatch.item.as_deref(),
            task: dispatch.task.as_deref(),
            advisory: dispatch.advisory,
            failures: dispatch.failures,
        };
        self.insert_command(&issued, n, unreported)
    }

    pub(super) fn open_operation(
        &self,
        id: CommandId,
        operation: OperationId,
        task: Option<&str>,
        n: i64,
        unreported: &mut Unreported,
    ) -> Result<(), Fault> {
        let name = self.replayed.program.operation(operation).name.name();
        let issued =
            IssuedCommand { kind: "operation", id, name, item: None, task, advisory: false, failures: 0 };
        self.insert_command(&issued, n, unreported)
    }

    fn insert_command(
        &self,
        issued: &IssuedCommand<'_>,
        n: i64,
        unreported: &mut Unreported,
    ) -> Result<(), Fault> {
        let id = issued.id;
        let command = id.to_string();
        self.conn.prepare_cached(INSERT_COMMAND)?.execute(params![
            self.replayed.run,
            self.slot.seq,
            n,
            self.slot.row_id(n),
            issued.kind,
            command,
            self.replayed.program.phase(id.phase).name,
            issued.name,
            issued.item,
            issued.task,
            issued.advisory,
            id.visit,
            id.attempt,
            self.slot.at,
            issued.failures,
        ])?;
        unreported.insert(command, OpenRow { row: self.slot.row_id(n), is_running: true });
        Ok(())
    }

    pub(super) fn end_command(
        &self,
        id: CommandId,
        outcome: &Outcome,
        usage: &Usage,
        unreported: &mut Unreported,
    ) -> Result<(), Fault> {
        let command = id.to_string();
        let Some(OpenRow { row, is_running, .. }) = unreported.get(&command).copied() else {
            return Ok(());
        };
        let contract = contract_of(self.replayed.program, id);
        match (self.replayed.step.receipt, contract) {
            (Receipt::Late, Some(_)) => return self.record_late_usage(row, usage),
            (Receipt::Late, None) => return Ok(()),
            (Receipt::Accepted, Some(_) | None) if !is_running => return Ok(()),
            (Receipt::Accepted, Some(_) | None) => {}
        }
        unreported.remove(&command);
        match contract {
            Some(contract) => self.end_dispatch(row, contract, outcome, usage),
            None => self.end_operation(row, outcome, usage),
        }
    }

    fn end_dispatch(
        &self,
        row: i64,
        contract: &Contract,
        outcome: &Outcome,
        usage: &Usage,
    ) -> Result<(), Fault> {
        let program = self.replayed.program;
        let ending = Ending::of(program, outcome);
        let telemetry = self.replayed.facts.telemetry.as_ref();
        let tokens = telemetry.and_then(|telemetry| telemetry.tokens);
        let success = contract.says.first().map(|signal| program.signal(*signal));
        let derived = match ending.failure {
            Some(_) => "ERROR",
            None if ending.says == success => "DONE",
            None => "NEEDS_REVISION",
        };
        let reported = telemetry.map(|telemetry| telemetry.status.as_str());
        let status = reported.filter(|status| ["DONE", "NEEDS_REVISION", "ERROR"].contains(status));
        let model = match (telemetry, outcome) {
            (Some(telemetry), _) => telemetry.model.as_deref(),
            (None, Outcome::Said(report)) => report.model.as_deref(),
            (None, Outcome::Failed { .. } | Outcome::Supposed(_)) => None,
        };
        self.conn.prepare_cached(END_DISPATCH)?.execute(params![
            row,
            telemetry.and_then(|telemetry| known_time(telemetry.started_at)),
            telemetry.and_then(|telemetry| known_time(telemetry.ended_at)).unwrap_or(self.slot.at),
            status.unwrap_or(derived),
            reported_tokens(usage, tokens).map(sql_integer),
            usage.money.map(sql_integer),
            sql_integer(usage.time),
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
            self.slot.id,
            telemetry.and_then(|telemetry| telemetry.result),
            telemetry.and_then(|telemetry| telemetry.before.as_deref()),
            telemetry.and_then(|telemetry| telemetry.after.as_deref()),
            tokens.map(|tokens| sql_integer(tokens.input)),
            tokens.map(|tokens| sql_integer(tokens.output)),
            tokens.map(|tokens| sql_integer(tokens.cached)),
            tokens.map(|tokens| sql_integer(tokens.stored)),
            telemetry.and_then(|telemetry| telemetry.price.as_deref()),
            self.malformed_cause(&ending).map(ColumnWord::word),
        ])?;
        Ok(())
    }

    /// Why the result was refused, if it was.
    fn malformed_cause(&self, ending: &Ending<'_>) -> Option<MalformedCause> {
        let detail = ending.detail.filter(|_| ending.failure == Some(Failure::Malformed))?;
        Some(self.replayed.facts.malformed.unwrap_or_else(|| old_prose::malformed_cause(detail)))
    }

    /// Adds a row for an interrupted dispatch. The command stays open.
    pub(super) fn record_interruption(
        &self,
        id: CommandId,
        usage: &Usage,
        unreported: &Unreported,
    ) -> Result<(), Fault> {
        let command = id.to_string();
        let Some(OpenRow { row, .. }) = unreported.get(&command) else {
            return Ok(());
        };
        if self.replayed.step.receipt == Receipt::Late {
            return self.record_late_usage(*row, usage);
        }
        let interrupted_row = self.slot.row_id(0);
        let failure = Failure::Cancelled.name();
        self.conn.prepare_cached(INSERT_INTERRUPTED)?.execute(params![
            row,
            self.slot.seq,
            interrupted_row,
            self.slot.at,
            failure,
            interruption_id(&command, u64::try_from(self.slot.seq).unwrap_or(0)),
        ])?;
        self.record_late_usage(interrupted_row, usage)
    }

    fn record_late_usage(&self, row: i64, usage: &Usage) -> Result<(), Fault> {
        let telemetry = self.replayed.facts.telemetry.as_ref();
        let tokens = telemetry.and_then(|telemetry| telemetry.tokens);
        self.conn.prepare_cached(RECORD_LATE_USAGE)?.execute(params![
            row,
            telemetry.and_then(|telemetry| known_time(telemetry.started_at)),
            reported_tokens(usage, tokens).map(sql_integer),
            usage.money.map(sql_integer),
            sql_integer(usage.time),
            telemetry.and_then(|telemetry| telemetry.model.as_deref()),
            telemetry.map(|telemetry| telemetry.driver.as_str()),
            telemetry.and_then(|telemetry| telemetry.session.as_deref()),
            telemetry.and_then(|telemetry| telemetry.prompt),
            telemetry.and_then(|telemetry| telemetry.output),
            telemetry.and_then(|telemetry| telemetry.exit_code),
            telemetry.and_then(|telemetry| telemetry.result),
            telemetry.and_then(|telemetry| telemetry.before.as_deref()),
            telemetry.and_then(|telemetry| telemetry.after.as_deref()),
            tokens.map(|tokens| sql_integer(tokens.input)),
            tokens.map(|tokens| sql_integer(tokens.output)),
            tokens.map(|tokens| sql_integer(tokens.cached)),
            tokens.map(|tokens| sql_integer(tokens.stored)),
            telemetry.and_then(|telemetry| telemetry.price.as_deref()),
        ])?;
        Ok(())
    }

    fn end_operation(&self, row: i64, outcome: &Outcome, usage: &Usage) -> Result<(), Fault> {
        let ending = Ending::of(self.replayed.program, outcome);
        let telemetry = self.replayed.facts.telemetry.as_ref();
        self.conn.prepare_cached(END_OPERATION)?.execute(params![
            row,
            telemetry.and_then(|telemetry| known_time(telemetry.started_at)),
            telemetry.and_then(|telemetry| known_time(telemetry.ended_at)).unwrap_or(self.slot.at),
            if ending.failure.is_some() { "ERROR" } else { "DONE" },
            sql_integer(usage.time),
            ending.says,
            ending.failure.map(Failure::name),
            ending.detail,
        ])?;
        Ok(())
    }

    pub(super) fn cancel_command(&self, id: CommandId, unreported: &mut Unreported) -> Result<(), Fault> {
        let command = id.to_string();
        let Some(open_row) = unreported.get_mut(&command).filter(|open_row| open_row.is_running) else {
            return Ok(());
        };
        self.conn.prepare_cached(CANCEL_COMMAND)?.execute(params![open_row.row, self.slot.at])?;
        open_row.is_running = false;
        // A cancelled operation reports nothing more.
        if contract_of(self.replayed.program, id).is_none() {
            unreported.remove(&command);
        }
        Ok(())
    }
}

/// The columns that describe how a command ended.
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

/// The tokens of a dispatch. Zero without counts by kind means that the agent did not report them.
fn reported_tokens(usage: &Usage, kinds: Option<TokenCounts>) -> Option<u64> {
    usage.tokens.filter(|tokens| *tokens > 0 || kinds.is_some())
}

/// The time, or `None` if it was left at its default.
fn known_time(at: Millis) -> Option<Millis> {
    (at != Millis::default()).then_some(at)
}

/// The contract of a dispatch; `None` for an operation.
fn contract_of(program: &Program, id: CommandId) -> Option<&Contract> {
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
