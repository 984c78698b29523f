//! Starts and cancels runs.

use super::call::{POLL, ToolCall};
use super::site::{asker, job_folder, run_of, started_earlier};
use crate::host;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_engine::host::{HostError, Unwatched};
use remand_engine::lock::{DriverLock, LockError};
use remand_kernel::Event;
use remand_ledger::RunId;
use remand_ledger::query::RequestFate;
use remand_process::DetachedProcess;
use remand_terminal::CommandFailure;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long a start may take until the id of the run is known: every check of the project may be detected first.
const START: Duration = Duration::from_secs(45);

/// How long a cancelled run may take to end.
const CANCEL: Duration = Duration::from_secs(20);

/// The arguments of `start` that name a subject.
const SUBJECTS: [&str; 3] = ["issue", "ticket", "spec"];

/// Starts a run in a process of its own, and returns its id; or waits on for one that is starting.
pub fn start(call: &ToolCall<'_>) -> Result<Value, CommandFailure> {
    let workplace = call.site.workplace()?;
    let (id, process) = match call.arguments.text("starting") {
        Some(id) => {
            let process = started_earlier(&workplace, id).ok_or_else(|| {
                CommandFailure::user(format!("nothing is starting as {id}"), "start a run without `starting`")
            })?;
            (id.to_string(), process)
        }
        None => {
            let by = asker(call.client);
            call.site.start(&workplace, &arguments(call, &by)?)?
        }
    };
    await_start(call, &workplace, &id, &process)
}

/// The command line of a new run.
fn arguments<'c>(call: &'c ToolCall<'_>, by: &'c str) -> Result<Vec<&'c str>, CommandFailure> {
    let mut arguments = vec!["run", "--by", by];
    for name in SUBJECTS.into_iter().chain(["workflow", "agent", "model"]) {
        if let Some(value) = call.arguments.text(name) {
            if matches!(name, "workflow" | "agent") {
                refuse_file(name, value)?;
            }
            let flag = match name {
                "issue" => "--issue",
                "ticket" => "--ticket",
                "spec" => "--spec",
                "workflow" => "--workflow",
                "agent" => "--agent",
                _ => "--model",
            };
            arguments.extend([flag, value]);
        }
    }
    match call.arguments.text("request") {
        Some(request) => arguments.extend(["--", request]),
        None if SUBJECTS.iter().any(|name| call.arguments.text(name).is_some()) => {}
        None => call.arguments.required("request").map(drop)?,
    }
    Ok(arguments)
}

fn await_start(
    call: &ToolCall<'_>,
    workplace: &Workplace,
    id: &str,
    process: &DetachedProcess,
) -> Result<Value, CommandFailure> {
    let deadline = Instant::now() + START;
    let first_line = |text: &str| -> Option<Value> {
        let (line, _) = text.split_once('\n')?;
        serde_json::from_str(line).ok()
    };
    loop {
        let exit = process.exit();
        let said = std::fs::read_to_string(&process.stdout).unwrap_or_default();
        if let Some(first) = first_line(&said)
            && let Some(run) = first.get("run").and_then(Value::as_str)
            && is_recorded(workplace, run)
        {
            tracing::info!(run, client = call.client, "started over MCP");
            return Ok(json!({
                "run": run, "cursor": 0, "outlook": first.get("outlook"), "by": asker(call.client),
                "next": "call `wait` with this run",
            }));
        }
        if let Some(code) = exit {
            let error = std::fs::read_to_string(&process.stderr).unwrap_or_default();
            let hint = format!("the output is in {}", job_folder(workplace, id).display());
            return Err(CommandFailure::user(format!("the run did not start (exit code {code})"), hint)
                .caused_by(error.trim().to_string()));
        }
        if Instant::now() > deadline {
            return Ok(json!({ "run": null, "starting": id, "next": "call `start` with only `starting`" }));
        }
        std::thread::sleep(POLL);
    }
}

/// Refuses what could be the name of a file: the message about its content quotes a line of it, and a script of an agent
/// runs commands.
fn refuse_file(argument: &str, value: &str) -> Result<(), CommandFailure> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if value.chars().all(is_name) {
        return Ok(());
    }
    let hint = format!("use a name that `remand {argument}s` lists");
    Err(CommandFailure::user(format!("`{value}` is not the name of a known {argument}"), hint))
}

/// Whether the ledger has the first event of a run.
fn is_recorded(workplace: &Workplace, run: &str) -> bool {
    workplace.reader_if_any().ok().flatten().is_some_and(|reader| reader.run(run).is_ok())
}

/// Has a run driven that waits for this request, unless a process that drives it takes the request.
pub fn continue_run(
    call: &ToolCall<'_>,
    workplace: &Workplace,
    run: &RunId,
    request: i64,
) -> Result<(), CommandFailure> {
    let reader = workplace.reader()?;
    let deadline = Instant::now() + START;
    while reader.fate(request)? == RequestFate::Waiting && Instant::now() < deadline {
        // A process that is about to leave the run takes no more requests.
        if DriverLock::holder(&workplace.home.run(run)).is_none() {
            call.site.start(workplace, &["resume", &run.0])?;
            break;
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

/// Ends a run, in this process or in the one that drives it.
pub fn cancel(call: &ToolCall<'_>) -> Result<Value, CommandFailure> {
    call.arguments.required("run")?;
    let workplace = call.site.workplace()?;
    let reader = workplace.reader()?;
    let run = run_of(&reader, call.arguments.text("run"))?;
    let row = reader.run(&run.0)?;
    if row.stage.is_over() {
        return Err(CommandFailure::user(
            format!("run {run} is over: {}", row.outcome()),
            "nothing to cancel",
        ));
    }
    let mut host = host::open(&workplace)?;
    let by = asker(call.client);
    let request = host.store().request(&run, clock::now(), &Event::Cancelled { by: by.clone() })?;
    let deadline = Instant::now() + CANCEL;
    loop {
        match host.take_over(&run) {
            Ok(_) => {
                host.drive(&mut Unwatched)?;
            }
            Err(HostError::Lock(LockError::Held { .. })) => {}
            Err(error) => return Err(error.into()),
        }
        match reader.fate(request)? {
            RequestFate::Refused(why) => return Err(CommandFailure::user(format!("refused: {why}"), "")),
            RequestFate::Accepted => {
                return Ok(json!({ "run": run, "stage": reader.run(&run.0)?.stage, "by": by }));
            }
            RequestFate::Waiting if Instant::now() > deadline => {
                return Ok(json!({ "run": run, "stage": "running", "by": by, "next": "call `wait`" }));
            }
            RequestFate::Waiting => std::thread::sleep(POLL),
        }
    }
}
