//! Passes a human's request to the process that drives the run: this one, or another.

use crate::context::CommandContext;
use crate::driving;
use crate::host;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_engine::host::{Host, HostError, Unwatched};
use remand_engine::lock::{DriverLock, LockError};
use remand_engine::workshop::Workshop;
use remand_kernel::Event;
use remand_ledger::RunId;
use remand_ledger::query::RequestFate;
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::json;
use std::time::{Duration, Instant};

/// How long a command waits for the process that drives a run.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The interval at which the command checks for the outcome.
const POLL: Duration = Duration::from_millis(20);

/// The outcome of a request to the process that drives a run.
pub enum RequestOutcome {
    Done(ExitCode),
    /// The process is gone and has not handled the request.
    DriverGone,
}

/// Records an event as a request, and drives the run if no other process does.
pub fn submit_request(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    run: &RunId,
    event: &Event,
    hint: &str,
) -> Result<ExitCode, CommandFailure> {
    let host = host::open(workplace)?;
    let request = host.store().request(run, clock::now(), event)?;
    drive_request(context, workplace, host, run, request, hint)
}

/// Drives the run of a recorded request, or waits until another process has handled it.
pub fn drive_request(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    mut host: Host<Workshop>,
    run: &RunId,
    request: i64,
    hint: &str,
) -> Result<ExitCode, CommandFailure> {
    let reader = workplace.reader()?;
    loop {
        match host.resume(run) {
            Ok(()) => {
                let exit = driving::drive(context, workplace, host)?;
                return match reader.fate(request)? {
                    RequestFate::Refused(why) => Err(CommandFailure::user(format!("refused: {why}"), hint)),
                    RequestFate::Accepted | RequestFate::Waiting => Ok(exit),
                };
            }
            Err(HostError::Lock(LockError::Held { owner, .. })) => {
                tell(&format!("{owner} drives the run and will handle this"));
                if let RequestOutcome::Done(exit) = await_outcome(context, workplace, run, request)? {
                    return Ok(exit);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Adds an event to a run, which may be over, without driving it. Returns the exit code if another process drives the
/// run.
pub fn record(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    run: &RunId,
    event: &Event,
) -> Result<Option<ExitCode>, CommandFailure> {
    let mut host = host::open(workplace)?;
    loop {
        match host.take_over(run) {
            Ok(_) => {
                host.submit(run, event.clone(), &mut Unwatched)?;
                return Ok(None);
            }
            Err(HostError::Lock(LockError::Held { .. })) => {
                let request = host.store().request(run, clock::now(), event)?;
                if let RequestOutcome::Done(exit) = await_outcome(context, workplace, run, request)? {
                    return Ok(Some(exit));
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Waits until the process that drives a run has handled a request, or is gone.
pub fn await_outcome(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    run: &RunId,
    request: i64,
) -> Result<RequestOutcome, CommandFailure> {
    let reader = workplace.reader()?;
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match reader.fate(request)? {
            RequestFate::Accepted => {
                match context.json {
                    true => print_json(&json!({ "request": "taken" })),
                    false => print("accepted\n"),
                }?;
                return Ok(RequestOutcome::Done(ExitCode::Done));
            }
            RequestFate::Refused(why) => {
                let hint = "see `remand status` and `remand gates`";
                return Err(CommandFailure::user(format!("refused: {why}"), hint));
            }
            RequestFate::Waiting if DriverLock::holder(&workplace.home.run(run)).is_none() => {
                return Ok(RequestOutcome::DriverGone);
            }
            RequestFate::Waiting if Instant::now() > deadline => {
                let what = "the process that drives the run has not answered yet";
                let hint = "the request is recorded; `remand status` shows when it is handled";
                return Err(CommandFailure { exit: ExitCode::Waiting, ..CommandFailure::user(what, hint) });
            }
            RequestFate::Waiting => std::thread::sleep(POLL),
        }
    }
}
