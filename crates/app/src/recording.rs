//! A rehearsal made from a run: every dispatch with what it changed, returned and used, to be played again (BY-06).

use crate::driving;
use crate::exit::{Failure, tell};
use crate::workplace::{Workplace, of_git, of_ledger};
use remand_kernel::command::Dispatch;
use remand_kernel::ids::CommandId;
use remand_kernel::{Command, Event, Outcome};
use remand_ledger::fact::Telemetry;
use remand_ledger::{BlobId, Reader, RunId};
use remand_runtime::git::{Form, Repository, TreeId};
use remand_runtime::process::Exit;
use remand_runtime::redact::Redactor;
use remand_runtime::rehearsal::{Change, DispatchInfo, Money, Recorded, Recording, Tokens, Usage};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Makes sure before a run that its rehearsal can be written, and that nothing is overwritten. No file is left by it.
pub fn refuse_unfit(file: &Path) -> Result<(), Failure> {
    make(file).and_then(|_| std::fs::remove_file(file)).map_err(|error| unwritable(file, &error))
}

/// Writes the rehearsal of a run, whether it is over or not.
pub fn write(workplace: &Workplace, run: &RunId, file: &Path) -> Result<(), Failure> {
    let mut hidden = Hidden { redactor: driving::redactor(workplace)?, files: BTreeSet::new() };
    let text = rehearsal(&workplace.repository, &workplace.reader()?, run, &mut hidden)?;
    let mut made = make(file).map_err(|error| unwritable(file, &error))?;
    made.write_all(text.as_bytes()).map_err(|error| {
        // A part of a rehearsal is none.
        let _ = std::fs::remove_file(file);
        unwritable(file, &error)
    })?;
    hidden.tell();
    Ok(())
}

/// Takes secrets out of what agents wrote: a recording is made to be handed on (EP-30).
struct Hidden {
    redactor: Redactor,
    /// The files that had some.
    files: BTreeSet<PathBuf>,
}

impl Hidden {
    fn take_out(&mut self, path: &Path, bytes: Vec<u8>) -> Vec<u8> {
        let redacted = self.redactor.redact_bytes(&bytes).into_owned();
        if redacted != bytes {
            self.files.insert(path.to_path_buf());
        }
        redacted
    }

    fn tell(&self) {
        if !self.files.is_empty() {
            let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
            tell(&format!(
                "secrets are left out of {}; played again, the run may come out differently",
                files.join(", ")
            ));
        }
    }
}

fn make(file: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).open(file)
}

fn unwritable(file: &Path, error: &io::Error) -> Failure {
    let hint = "name a file that does not exist yet, in a folder that you may write";
    Failure::user(format!("{} cannot be made", file.display()), hint).caused_by(error.to_string())
}

fn rehearsal(
    repository: &Repository,
    reader: &Reader,
    run: &RunId,
    hidden: &mut Hidden,
) -> Result<String, Failure> {
    let row = reader.run(&run.0).map_err(|error| of_ledger(&error))?;
    let mut recording =
        Recording::new(format!("recorded from run {run}: {}", row.request.lines().next().unwrap_or("")));
    let replayed = remand_ledger::replay(reader, run, remand_ledger::ReplayFrom::Start)
        .map_err(|error| Failure::user(error.to_string(), error.hint()))?;
    let program = replayed.program;
    let mut issued: Vec<Dispatch> = Vec::new();
    for event in reader.journal(run, 0).map_err(|error| of_ledger(&error))? {
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
            let (out, err) = said(reader, telemetry)?;
            let heard = match telemetry.answer {
                Some(answer) => Some(text_of(reader, answer)?),
                None => Some(out).filter(|out| !out.is_empty() && telemetry.result.is_none()),
            };
            let exit = exit(outcome, telemetry);
            let recorded = Recorded {
                info,
                changes: changes(repository, telemetry, hidden)?,
                result: telemetry
                    .result
                    .map(|blob| reader.blob(blob))
                    .transpose()
                    .map_err(|error| of_ledger(&error))?,
                answer: heard,
                last_words: Some(err).filter(|err| !err.is_empty() && exit != Exit::Code(0)),
                usage: Usage {
                    tokens: told(usage.tokens, telemetry).map(Tokens::Sum),
                    money: usage.money.map(Money),
                },
                model: telemetry.model.clone(),
                exit,
            };
            recording
                .add(&recorded)
                .map_err(|error| Failure::user(error.to_string(), "the run cannot be recorded"))?;
        }
        issued.extend(event.commands.into_iter().filter_map(|command| match command {
            Command::Dispatch(dispatch) => Some(dispatch),
            _ => None,
        }));
    }
    recording.to_yaml().map_err(|error| Failure::user(error.to_string(), "the run cannot be recorded"))
}

/// The tokens of a dispatch that told them.
fn told(tokens: Option<u64>, telemetry: &Telemetry) -> Option<u64> {
    tokens.filter(|tokens| *tokens > 0 || telemetry.tokens.is_some())
}

/// The how-manieth time that a phase did this work, as the agent was told it.
fn round(issued: &[Dispatch], dispatch: &Dispatch) -> u32 {
    let visit = |id: CommandId| CommandId { attempt: 0, ..id };
    let mut seen: Vec<CommandId> = Vec::new();
    for other in issued {
        let same =
            other.id.phase == dispatch.id.phase && other.task == dispatch.task && other.item == dispatch.item;
        if same && !seen.contains(&visit(other.id)) {
            seen.push(visit(other.id));
        }
    }
    let at = seen.iter().position(|seen| *seen == visit(dispatch.id)).unwrap_or(seen.len());
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

/// How the process came to its end.
fn exit(outcome: &Outcome, telemetry: &Telemetry) -> Exit {
    match (telemetry.exit_code, outcome) {
        (Some(code), _) if code < 0 => Exit::Signal(-code),
        (Some(code), _) => Exit::Code(code),
        (None, Outcome::Failed { failure: remand_kernel::signal::Failure::Cancelled, .. }) => Exit::Cancelled,
        (None, _) => Exit::TimedOut,
    }
}

/// What an agent printed, and what it said on the standard error.
fn said(reader: &Reader, telemetry: &Telemetry) -> Result<(String, String), Failure> {
    let Some(output) = telemetry.output else {
        return Ok((String::new(), String::new()));
    };
    let text = text_of(reader, output)?;
    let (out, err) = text.split_once("\n--- standard error ---\n").unwrap_or((&text, ""));
    Ok((out.trim_end().to_string(), err.trim_end().to_string()))
}

fn text_of(reader: &Reader, blob: BlobId) -> Result<String, Failure> {
    let bytes = reader.blob(blob).map_err(|error| of_ledger(&error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The differences that a dispatch made in its tree.
fn changes(
    repository: &Repository,
    telemetry: &Telemetry,
    hidden: &mut Hidden,
) -> Result<Vec<Change>, Failure> {
    let (Some(before), Some(after)) = (&telemetry.before, &telemetry.after) else {
        return Ok(Vec::new());
    };
    let tree = |text: &str| text.parse::<TreeId>().map_err(|error| of_git(&error));
    let (before, after) = (tree(before)?, tree(after)?);
    let mut changes = Vec::new();
    for changed in repository.changed(&before, &after).map_err(|error| of_git(&error))? {
        let path = changed.path;
        let form = |tree: &TreeId| repository.form(tree, &path).map_err(|error| of_git(&error));
        let (was, is) = (form(&before)?, form(&after)?);
        let mut bytes = || {
            let bytes = repository.read(&after, &path).map_err(|error| of_git(&error))?.unwrap_or_default();
            Ok::<_, Failure>(hidden.take_out(&path, bytes))
        };
        // What becomes of another kind makes room first.
        if was != Form::Absent && (was == Form::Symlink) != (is == Form::Symlink) {
            changes.push(Change::Delete { path: path.clone() });
        }
        match (was, is) {
            (Form::Submodule, _) | (_, Form::Submodule) => {}
            (Form::Symlink, Form::Absent) | (Form::Absent, Form::Absent) => {}
            (Form::File | Form::Executable, Form::Absent) => changes.push(Change::Delete { path }),
            (_, Form::Symlink) => {
                let target = PathBuf::from(OsString::from_vec(bytes()?));
                changes.push(Change::Symlink { path, target });
            }
            (Form::Executable, Form::Executable)
            | (Form::File | Form::Absent | Form::Symlink, Form::File) => {
                changes.push(Change::Write { bytes: bytes()?, path, mode: None });
            }
            (_, Form::File) => changes.push(Change::Write { bytes: bytes()?, path, mode: Some(0o644) }),
            (_, Form::Executable) => changes.push(Change::Write { bytes: bytes()?, path, mode: Some(0o755) }),
        }
    }
    Ok(changes)
}
