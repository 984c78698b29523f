//! Dispatches and operations: a row when the command is issued, completed when it ends.

use super::{Projection, old_prose};
use crate::cell::interruption_id;
use crate::column::{ColumnWord, whole};
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

const ISSUED: &str =
    "INSERT INTO commands (run, seq, n, id, kind, command, phase, name, item, task, advisory, visit, attempt,
    started_at, status, retries) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'running', ?15)";

const DISPATCH_ENDED: &str = "UPDATE commands SET started_at = coalesce(?2, started_at), completed_at = ?3,
    status = ?4, tokens = ?5, money = ?6, time = ?7, model = ?8, driver = ?9, session = ?10, says = ?11,
    failure = ?12, detail = ?13, summary = ?14, prompt = ?15, output = ?16, exit_code = ?17, ended_by = ?18,
    result = ?19, before = ?20, after = ?21, tokens_in = ?22, tokens_out = ?23, tokens_cached = ?24,
    tokens_stored = ?25, price = ?26, malformed = ?27
    WHERE id = ?1";

/// A result that arrived after the run continued without it: its cost counts, its verdict does not.
const DISPATCH_LATE: &str =
    "UPDATE commands SET started_at = coalesce(?2, started_at), tokens = ?3, money = ?4,
    time = ?5, model = ?6, driver = ?7, session = ?8, prompt = ?9, output = ?10, exit_code = ?11,
    result = ?12, before = ?13, after = ?14, tokens_in = ?15, tokens_out = ?16, tokens_cached = ?17,
    tokens_stored = ?18, price = ?19
    WHERE id = ?1 AND time IS NULL";

/// A row for an interrupted dispatch, next to the row of the open command. The open command reports its own usage when it
/// ends.
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

const UNREPORTED: &str = "SELECT command, commands.id, status = 'running'
    FROM events JOIN commands ON commands.id BETWEEN events.id << 16 AND events.id << 16 | 65535
    WHERE events.run = ?1 AND (status = 'running' OR commands.kind = 'dispatch' AND time IS NULL)";

/// Rows of commands whose usage is not reported yet, by command id.
pub(super) type Unreported = BTreeMap<String, OpenRow>;

/// A row that may still be completed.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRow {
    row: i64,
    /// False once it is cancelled.
    under_way: bool,
}

/// The commands of a run whose usage is not reported yet, from the table.
pub(super) fn unreported(conn: &Connection, run: &str) -> Result<Unreported, Fault> {
    let mut statement = conn.prepare_cached(UNREPORTED)?;
    let rows = statement
        .query_map([run], |row| Ok((row.get(0)?, OpenRow { row: row.get(1)?, under_way: row.get(2)? })))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The columns that a command has when it is issued.
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
    pub(super) fn dispatched(
        &self,
        dispatch: &Dispatch,
        n: i64,
        unreported: &mut Unreported,
    ) -> Result<(), Fault> {
        let contract = dispatch.nearest.unwrap_or(dispatch.contract);
        let issued = Issued {
            kind: "dispatch",
            id: dispatch.id,
            name: &self.replayed.program.contract(contract).title(),
            item: dispatch.item.as_deref(),
            task: dispatch.task.as_deref(),
            advisory: dispatch.advisory,
            failures: dispatch.failures,
        };
        self.began(&issued, n, unreported)
    }

    pub(super) fn operated(
        &self,
        id: CommandId,
        operation: OperationId,
        task: Option<&str>,
        n: i64,
        unreported: &mut Unreported,
    ) -> Result<(), Fault> {
        let name = self.replayed.program.operation(operation).name.name();
        let issued = Issued { kind: "operation", id, name, item: None, task, advisory: false, failures: 0 };
        self.began(&issued, n, unreported)
    }

    fn began(&self, issued: &Issued<'_>, n: i64, unreported: &mut Unreported) -> Result<(), Fault> {
        let id = issued.id;
        let command = id.to_string();
        self.conn.prepare_cached(ISSUED)?.execute(params![
            self.replayed.run,
            self.slot.seq,
            n,
            self.slot.row(n),
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
        unreported.insert(command, OpenRow { row: self.slot.row(n), under_way: true });
        Ok(())
    }

    pub(super) fn ended(
        &self,
        id: CommandId,
        outcome: &Outcome,
        usage: &Usage,
        unreported: &mut Unreported,
    ) -> Result<(), Fault> {
        let command = id.to_string();
        let Some(OpenRow { row, under_way, .. }) = unreported.get(&command).copied() else {
            return Ok(());
        };
        let contract = contract(self.replayed.program, id);
        match (self.replayed.step.receipt, contract) {
            (Receipt::Late, Some(_)) => return self.dispatch_late(row, usage),
            (Receipt::Late, None) => return Ok(()),
            (Receipt::Accepted, Some(_) | None) if !under_way => return Ok(()),
            (Receipt::Accepted, Some(_) | None) => {}
        }
        unreported.remove(&command);
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
        let program = self.replayed.program;
        let ending = Ending::of(program, outcome);
        let telemetry = self.replayed.facts.telemetry.as_ref();
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
            telemetry.and_then(|telemetry| filled_in(telemetry.started_at)),
            telemetry.and_then(|telemetry| filled_in(telemetry.ended_at)).unwrap_or(self.slot.at),
            status.unwrap_or(derived),
            reported_tokens(usage, tokens).map(whole),
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
            self.slot.id,
            telemetry.and_then(|telemetry| telemetry.result),
            telemetry.and_then(|telemetry| telemetry.before.as_deref()),
            telemetry.and_then(|telemetry| telemetry.after.as_deref()),
            tokens.map(|tokens| whole(tokens.input)),
            tokens.map(|tokens| whole(tokens.output)),
            tokens.map(|tokens| whole(tokens.cached)),
            tokens.map(|tokens| whole(tokens.stored)),
            telemetry.and_then(|telemetry| telemetry.price.as_deref()),
            self.malformed(&ending).map(ColumnWord::word),
        ])?;
        Ok(())
    }

    /// What was wrong with a result that was refused.
    fn malformed(&self, ending: &Ending<'_>) -> Option<MalformedCause> {
        let detail = ending.detail.filter(|_| ending.failure == Some(Failure::Malformed))?;
        Some(self.replayed.facts.malformed.unwrap_or_else(|| old_prose::malformed(detail)))
    }

    /// An agent was interrupted; its command stays open.
    pub(super) fn interrupted(
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
            return self.dispatch_late(*row, usage);
        }
        let own = self.slot.row(0);
        let cancelled = Failure::Cancelled.name();
        self.conn.prepare_cached(INTERRUPTED)?.execute(params![
            row,
            self.slot.seq,
            own,
            self.slot.at,
            cancelled,
            interruption_id(&command, u64::try_from(self.slot.seq).unwrap_or(0)),
        ])?;
        self.dispatch_late(own, usage)
    }

    fn dispatch_late(&self, row: i64, usage: &Usage) -> Result<(), Fault> {
        let telemetry = self.replayed.facts.telemetry.as_ref();
        let tokens = telemetry.and_then(|telemetry| telemetry.tokens);
        self.conn.prepare_cached(DISPATCH_LATE)?.execute(params![
            row,
            telemetry.and_then(|telemetry| filled_in(telemetry.started_at)),
            reported_tokens(usage, tokens).map(whole),
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
        let ending = Ending::of(self.replayed.program, outcome);
        let telemetry = self.replayed.facts.telemetry.as_ref();
        self.conn.prepare_cached(OPERATION_ENDED)?.execute(params![
            row,
            telemetry.and_then(|telemetry| filled_in(telemetry.started_at)),
            telemetry.and_then(|telemetry| filled_in(telemetry.ended_at)).unwrap_or(self.slot.at),
            if ending.failure.is_some() { "ERROR" } else { "DONE" },
            whole(usage.time),
            ending.says,
            ending.failure.map(Failure::name),
            ending.detail,
        ])?;
        Ok(())
    }

    pub(super) fn cancelled(&self, id: CommandId, unreported: &mut Unreported) -> Result<(), Fault> {
        let command = id.to_string();
        let Some(open_row) = unreported.get_mut(&command).filter(|open_row| open_row.under_way) else {
            return Ok(());
        };
        self.conn.prepare_cached(CANCELLED)?.execute(params![open_row.row, self.slot.at])?;
        open_row.under_way = false;
        // An operation reports nothing after it was cancelled.
        if contract(self.replayed.program, id).is_none() {
            unreported.remove(&command);
        }
        Ok(())
    }
}

/// How a command ended, as columns.
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

/// The tokens of a dispatch. Zero without kinds means that the agent did not report them.
fn reported_tokens(usage: &Usage, kinds: Option<TokenCounts>) -> Option<u64> {
    usage.tokens.filter(|tokens| *tokens > 0 || kinds.is_some())
}

/// The time, unless it was left at its default.
fn filled_in(at: Millis) -> Option<Millis> {
    (at != Millis::default()).then_some(at)
}

/// The contract of a dispatch; none for an operation.
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
