//! Turns a run into a rehearsal: every dispatch with its changes, result and usage, for replay.

use crate::host;
use crate::workplace::Workplace;
use remand_agents::rehearsal::{
    DispatchInfo, Money, RecordedChange, RecordedDispatch, Recording, RecordingError, ScriptedTokens,
    ScriptedUsage,
};
use remand_engine::redact::Redactor;
use remand_git::{PathKind, Repository, TreeId};
use remand_kernel::command::Dispatch;
use remand_kernel::ids::CommandId;
use remand_kernel::{Command, Event, Outcome};
use remand_ledger::fact::Telemetry;
use remand_ledger::{BlobId, Reader, RunId};
use remand_process::Exit;
use remand_terminal::CommandFailure;
use remand_terminal::output::tell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Checks before a run that its rehearsal can be written without overwriting anything. Leaves no file.
pub fn check_writable(file: &Path) -> Result<(), CommandFailure> {
    create(file).and_then(|_| std::fs::remove_file(file)).map_err(|error| unwritable(file, &error))
}

/// Writes the rehearsal of a run, whether it is over or not.
pub fn write(workplace: &Workplace, run: &RunId, file: &Path) -> Result<(), CommandFailure> {
    let mut filter = SecretFilter { redactor: host::redactor(&workplace.config)?, files: BTreeSet::new() };
    let text = rehearsal(&workplace.repository, &workplace.reader()?, run, &mut filter)?;
    let mut created = create(file).map_err(|error| unwritable(file, &error))?;
    created.write_all(text.as_bytes()).map_err(|error| {
        // An incomplete rehearsal is useless.
        let _ = std::fs::remove_file(file);
        unwritable(file, &error)
    })?;
    filter.report();
    Ok(())
}

/// Removes secrets from the files that agents wrote, because recordings are shared.
struct SecretFilter {
    redactor: Redactor,
    /// The files that contained secrets.
    files: BTreeSet<PathBuf>,
}

impl SecretFilter {
    fn remove_secrets(&mut self, path: &Path, bytes: Vec<u8>) -> Vec<u8> {
        let redacted = self.redactor.redact_bytes(&bytes).into_owned();
        if redacted != bytes {
            self.files.insert(path.to_path_buf());
        }
        redacted
    }

    fn report(&self) {
        if !self.files.is_empty() {
            let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
            tell(&format!("secrets were removed from {}; a replay may end differently", files.join(", ")));
        }
    }
}

fn create(file: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).open(file)
}

fn unwritable(file: &Path, error: &io::Error) -> CommandFailure {
    let hint = "name a file that does not exist yet, in a folder that you can write to";
    CommandFailure::user(format!("{} cannot be created", file.display()), hint).caused_by(error.to_string())
}

fn rehearsal(
    repository: &Repository,
    reader: &Reader,
    run: &RunId,
    filter: &mut SecretFilter,
) -> Result<String, CommandFailure> {
    let row = reader.run(&run.0)?;
    let mut recording =
        Recording::new(format!("recorded from run {run}: {}", row.request.lines().next().unwrap_or("")));
    let replayed = remand_ledger::replay(reader, run, remand_ledger::ReplayFrom::Start)
        .map_err(|error| CommandFailure::user(error.to_string(), error.hint()))?;
    let program = replayed.program;
    let mut issued: Vec<Dispatch> = Vec::new();
    for event in reader.journal(run, 0)? {
        if let (Event::Ended { id, outcome, usage }, Some(telemetry)) = (&event.event, &event.facts.telemetry)
            && let Some(dispatch) = issued.iter().find(|dispatch| dispatch.id == *id)
        {
            let info = DispatchInfo {
                run: run.0.clone(),
                phase: program.phase(id.phase).name.clone(),
                role: program.contract(dispatch.contract).title(),
                task: dispatch.task.clone(),
                item: dispatch.item.clone(),
                instance: None,
                round: round(&issued, dispatch),
                attempt: u32::from(id.attempt),
                result: PathBuf::new(),
                tree: PathBuf::new(),
                folder: PathBuf::new(),
            };
            let (out, err) = output(reader, telemetry)?;
            let answer = match telemetry.answer {
                Some(answer) => Some(text_of(reader, answer)?),
                None => Some(out).filter(|out| !out.is_empty() && telemetry.result.is_none()),
            };
            let exit = exit(outcome, telemetry);
            let recorded = RecordedDispatch {
                info,
                changes: changes(repository, telemetry, filter)?,
                result: telemetry.result.map(|blob| reader.blob(blob)).transpose()?,
                answer,
                stderr: Some(err).filter(|err| !err.is_empty() && exit != Exit::Code(0)),
                usage: ScriptedUsage {
                    tokens: reported_tokens(usage.tokens, telemetry).map(ScriptedTokens::Sum),
                    money: usage.money.map(Money),
                },
                model: telemetry.model.clone(),
                exit,
            };
            recording.add(&recorded).map_err(|error| not_recordable(&error))?;
        }
        issued.extend(event.commands.into_iter().filter_map(|command| match command {
            Command::Dispatch(dispatch) => Some(dispatch),
            _ => None,
        }));
    }
    recording.to_yaml().map_err(|error| not_recordable(&error))
}

fn not_recordable(error: &RecordingError) -> CommandFailure {
    match error {
        RecordingError::Path { .. } => {
            CommandFailure::user(error.to_string(), "record a run that does not change this file")
        }
        RecordingError::Unwritable { .. } | RecordingError::Unreadable { .. } | RecordingError::Changed => {
            CommandFailure::internal_error("the run cannot be recorded", error)
        }
    }
}

/// The token count of a dispatch; `None` if the dispatch did not report one.
fn reported_tokens(tokens: Option<u64>, telemetry: &Telemetry) -> Option<u64> {
    tokens.filter(|tokens| *tokens > 0 || telemetry.tokens.is_some())
}

/// The 1-based number of the phase's round that this dispatch belongs to, as its agent saw it.
fn round(issued: &[Dispatch], dispatch: &Dispatch) -> u32 {
    let without_attempt = |id: CommandId| CommandId { attempt: 0, ..id };
    let mut seen: Vec<CommandId> = Vec::new();
    for other in issued {
        let same =
            other.id.phase == dispatch.id.phase && other.task == dispatch.task && other.item == dispatch.item;
        if same && !seen.contains(&without_attempt(other.id)) {
            seen.push(without_attempt(other.id));
        }
    }
    let index = seen.iter().position(|seen| *seen == without_attempt(dispatch.id)).unwrap_or(seen.len());
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// The exit status of the process.
fn exit(outcome: &Outcome, telemetry: &Telemetry) -> Exit {
    match (telemetry.exit_code, outcome) {
        (Some(code), _) if code < 0 => Exit::Signal(-code),
        (Some(code), _) => Exit::Code(code),
        (None, Outcome::Failed { failure: remand_kernel::signal::Failure::Cancelled, .. }) => Exit::Cancelled,
        (None, _) => Exit::TimedOut,
    }
}

/// An agent's standard output and standard error.
fn output(reader: &Reader, telemetry: &Telemetry) -> Result<(String, String), CommandFailure> {
    let Some(output) = telemetry.output else {
        return Ok((String::new(), String::new()));
    };
    let text = text_of(reader, output)?;
    let (out, err) = text.split_once("\n--- standard error ---\n").unwrap_or((&text, ""));
    Ok((out.trim_end().to_string(), err.trim_end().to_string()))
}

fn text_of(reader: &Reader, blob: BlobId) -> Result<String, CommandFailure> {
    let bytes = reader.blob(blob)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The changes that a dispatch made in its tree.
fn changes(
    repository: &Repository,
    telemetry: &Telemetry,
    filter: &mut SecretFilter,
) -> Result<Vec<RecordedChange>, CommandFailure> {
    let (Some(before), Some(after)) = (&telemetry.before, &telemetry.after) else {
        return Ok(Vec::new());
    };
    let tree = |text: &str| text.parse::<TreeId>().map_err(CommandFailure::from);
    let (before, after) = (tree(before)?, tree(after)?);
    let mut changes = Vec::new();
    for changed in repository.changed(&before, &after)? {
        let path = changed.path;
        let kind = |tree: &TreeId| repository.path_kind(tree, &path).map_err(CommandFailure::from);
        let (was, is) = (kind(&before)?, kind(&after)?);
        let mut bytes = || {
            let bytes = repository.read(&after, &path)?.unwrap_or_default();
            Ok::<_, CommandFailure>(filter.remove_secrets(&path, bytes))
        };
        // A file cannot become a symlink, or a symlink a file, while the old one exists.
        if was != PathKind::Absent && (was == PathKind::Symlink) != (is == PathKind::Symlink) {
            changes.push(RecordedChange::Delete { path: path.clone() });
        }
        match (was, is) {
            (PathKind::Submodule, _) | (_, PathKind::Submodule) => {}
            (PathKind::Symlink, PathKind::Absent) | (PathKind::Absent, PathKind::Absent) => {}
            (PathKind::File | PathKind::Executable, PathKind::Absent) => {
                changes.push(RecordedChange::Delete { path })
            }
            (_, PathKind::Symlink) => {
                let target = PathBuf::from(OsString::from_vec(bytes()?));
                changes.push(RecordedChange::Symlink { path, target });
            }
            (PathKind::Executable, PathKind::Executable)
            | (PathKind::File | PathKind::Absent | PathKind::Symlink, PathKind::File) => {
                changes.push(RecordedChange::Write { bytes: bytes()?, path, mode: None });
            }
            (_, PathKind::File) => {
                changes.push(RecordedChange::Write { bytes: bytes()?, path, mode: Some(0o644) })
            }
            (_, PathKind::Executable) => {
                changes.push(RecordedChange::Write { bytes: bytes()?, path, mode: Some(0o755) })
            }
        }
    }
    Ok(changes)
}
