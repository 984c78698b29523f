//! `remand output`: the whole output of a check, or the transcript of a dispatch, even while it is running.

use super::runs::find_run;
use crate::context::CommandContext;
use crate::host::redactor;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_engine::dispatch::transcript_path;
use remand_engine::redact::Redactor;
use remand_kernel::evidence::RowPhase;
use remand_ledger::query::{CheckFilter, CheckRow, DispatchRow, DispatchStatus, RunRow};
use remand_ledger::{BlobId, Millis, Reader, RunId};
use remand_terminal::output::{print, print_bytes, print_json, print_stored};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, Stop, invocation, line};
use serde::Serialize;
use serde_json::json;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

/// How often `--follow` looks for new lines.
const POLL: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A check, phase, role or command, or a number from the list; the last match counts [default: list all outputs]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// The run: its id, a part of it, or `latest`
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Print new lines of a running dispatch until it ends
    #[arg(long, short, requires = "name", conflicts_with = "json")]
    pub follow: bool,
}

/// One output that a run has recorded or is recording.
#[derive(Clone, Debug, Serialize)]
struct Output {
    /// The position in the list, from 1.
    number: usize,
    kind: OutputKind,
    /// The check, or the phase of a dispatch.
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    /// The role of a dispatch, or what a check measured.
    by: String,
    /// The id of a dispatch's command.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    at: Millis,
    result: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip)]
    blob: Option<BlobId>,
    #[serde(skip)]
    seq: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum OutputKind {
    Check,
    Dispatch,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = find_run(&reader, args.run.as_deref())?;
    let all = outputs(&reader, &row.run)?;
    let Some(name) = args.name.as_deref() else {
        return list(context, &row, &all);
    };
    let found = find(&row, &all, name)?;
    let redactor = redactor(&workplace.config)?;
    let file =
        found.command.as_deref().map(|command| transcript_path(&workplace.home.run(&row.run), command));
    if args.follow
        && found.blob.is_none()
        && let (Some(file), Some(command)) = (&file, &found.command)
    {
        return follow(&reader, &row.run, command, file, &redactor);
    }
    let bytes = match (found.blob, file) {
        (Some(blob), _) => reader.blob(blob)?,
        (None, Some(file)) => redactor.redact_bytes(&read_if_exists(&file)?).into_owned(),
        (None, None) => Vec::new(),
    };
    if context.json {
        let text = String::from_utf8_lossy(&bytes);
        print_json(&json!({ "run": row.run, "output": found, "text": text }))?;
    } else {
        print_stored(&bytes, str::to_string)?;
    }
    Ok(ExitCode::Done)
}

/// All outputs of a run, in the order of the journal.
fn outputs(reader: &Reader, run: &RunId) -> Result<Vec<Output>, CommandFailure> {
    let checks = reader.checks(run, CheckFilter::default())?;
    let dispatches = reader.dispatches(run)?;
    let mut all: Vec<Output> = checks.into_iter().filter_map(of_check).collect();
    all.extend(dispatches.into_iter().map(of_dispatch));
    all.sort_by_key(|output| output.seq);
    for (output, number) in all.iter_mut().zip(1..) {
        output.number = number;
    }
    Ok(all)
}

/// The output of a check; `None` for a row that comes from the engine itself.
fn of_check(row: CheckRow) -> Option<Output> {
    let blob = Some(row.output?);
    let by = match row.phase {
        RowPhase::Baseline => "baseline",
        RowPhase::After => "check",
        RowPhase::Review => "review",
    };
    Some(Output {
        number: 0,
        kind: OutputKind::Check,
        name: row.name,
        task: row.task,
        by: by.to_string(),
        command: None,
        at: row.at,
        result: if row.passed { "passed" } else { "failed" }.to_string(),
        reason: Some(row.reason).filter(|reason| !row.passed && !reason.is_empty()),
        blob,
        seq: row.seq,
    })
}

fn of_dispatch(row: DispatchRow) -> Output {
    let result = match row.status {
        DispatchStatus::Running => "running".to_string(),
        DispatchStatus::Done | DispatchStatus::NeedsRevision | DispatchStatus::Error => {
            row.failure.or(row.says).unwrap_or_else(|| row.status.name().to_lowercase())
        }
    };
    Output {
        number: 0,
        kind: OutputKind::Dispatch,
        name: row.phase,
        task: row.task.or(row.item),
        by: row.role,
        command: Some(row.command),
        at: row.started_at,
        result,
        reason: row.detail.filter(|detail| !detail.is_empty()),
        blob: row.output,
        seq: row.seq,
    }
}

/// The last output with this name, or the one with this number.
fn find<'o>(row: &RunRow, all: &'o [Output], name: &str) -> Result<&'o Output, CommandFailure> {
    if let Ok(number) = name.parse::<usize>()
        && let Some(found) = all.iter().find(|output| output.number == number)
    {
        return Ok(found);
    }
    let is_meant = |output: &&Output| {
        let task = output.task.as_deref().unwrap_or_default();
        output.name == name
            || output.by == name
            || output.command.as_deref() == Some(name)
            || (!task.is_empty() && format!("{}[{task}]", output.name) == name)
    };
    all.iter().rfind(is_meant).ok_or_else(|| {
        let list = invocation::command(format!("output --run {}", row.run));
        CommandFailure::user(
            format!("run {} has no output `{name}`", row.run),
            format!("`{list}` lists them"),
        )
    })
}

fn list(context: &CommandContext<'_>, row: &RunRow, all: &[Output]) -> Result<ExitCode, CommandFailure> {
    if context.json {
        print_json(&json!({ "run": row.run, "outputs": all }))?;
        return Ok(ExitCode::Done);
    }
    if all.is_empty() {
        print(&format!("run {} has no outputs yet", row.run))?;
        return Ok(ExitCode::Done);
    }
    let mut table = TextTable::new(&[
        ("", ColumnFit::Whole),
        ("output", ColumnFit::Whole),
        ("of", ColumnFit::Cut),
        ("started", ColumnFit::Whole),
        ("result", ColumnFit::Whole),
        ("why", ColumnFit::Wrap),
    ]);
    for output in all {
        let name = match &output.task {
            Some(task) => format!("{}[{task}]", output.name),
            None => output.name.clone(),
        };
        let why = output.reason.as_deref().map(line::first).unwrap_or_default();
        let number = output.number.to_string();
        let cells = [&number, &name, &output.by, &clock::iso(output.at), &output.result, &why];
        table.row(cells.into_iter().map(Cell::new).collect());
    }
    print(&table.render(Ink::of_stdout()))?;
    Ok(ExitCode::Done)
}

/// Prints the lines of a running dispatch until it ends.
fn follow(
    reader: &Reader,
    run: &RunId,
    command: &str,
    file: &Path,
    redactor: &Redactor,
) -> Result<ExitCode, CommandFailure> {
    let stop = Stop::listen();
    let (mut at, mut rest) = (0, Vec::new());
    loop {
        // The state is read before the file, so the last lines are printed.
        let is_running =
            reader.dispatch(run, command)?.is_some_and(|row| row.status == DispatchStatus::Running);
        rest.extend(read_from(file, &mut at)?);
        let end = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines: Vec<u8> = rest.drain(..end).collect();
        print_bytes(&redactor.redact_bytes(&lines))?;
        if !is_running || stop.is_set() {
            return Ok(ExitCode::Done);
        }
        std::thread::sleep(POLL);
    }
}

/// The rest of a file from a position; nothing if it does not exist yet.
fn read_from(file: &Path, at: &mut u64) -> Result<Vec<u8>, CommandFailure> {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|mut opened| {
        opened.seek(SeekFrom::Start(*at))?;
        opened.read_to_end(&mut bytes)
    });
    match read {
        Ok(count) => *at += count as u64,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(unreadable(file, &error)),
    }
    Ok(bytes)
}

fn read_if_exists(file: &Path) -> Result<Vec<u8>, CommandFailure> {
    read_from(file, &mut 0)
}

fn unreadable(file: &Path, error: &std::io::Error) -> CommandFailure {
    CommandFailure::user(
        format!("{} cannot be read", file.display()),
        "check the permissions of the state folder",
    )
    .caused_by(error.to_string())
}
