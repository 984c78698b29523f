//! A rehearsal made from a run: every dispatch with what it changed, returned and used, to be played again (BY-06).

use crate::exit::Failure;
use crate::workplace::{Workplace, of_git, of_ledger};
use remand_kernel::{Command, Event};
use remand_ledger::fact::Telemetry;
use remand_ledger::{Reader, RunId};
use remand_runtime::git::{ChangeKind, Repository, TreeId};
use remand_runtime::process::Exit;
use remand_runtime::rehearsal::{Change, DispatchInfo, Money, Recorded, Recording, Usage};
use std::path::{Path, PathBuf};

/// Writes the rehearsal of a run.
pub fn write(workplace: &Workplace, run: &RunId, file: &Path) -> Result<(), Failure> {
    let reader = workplace.reader()?;
    let text = rehearsal(&workplace.repository, &reader, run)?;
    std::fs::write(file, text).map_err(|error| {
        Failure::user(
            format!("{} cannot be written", file.display()),
            "name a file in a folder that you may write",
        )
        .caused_by(error.to_string())
    })
}

fn rehearsal(repository: &Repository, reader: &Reader, run: &RunId) -> Result<String, Failure> {
    let row = reader.run(&run.0).map_err(|error| of_ledger(&error))?;
    let mut recording =
        Recording::new(format!("recorded from run {run}: {}", row.request.lines().next().unwrap_or("")));
    let replayed = remand_ledger::replay(reader, run, remand_ledger::ReplayFrom::Start)
        .map_err(|error| Failure::user(error.to_string(), error.hint()))?;
    let program = replayed.program;
    let mut issued: Vec<remand_kernel::command::Dispatch> = Vec::new();
    for event in reader.journal(run, 0).map_err(|error| of_ledger(&error))? {
        if let (Event::Ended { id, usage, .. }, Some(telemetry)) = (&event.event, &event.facts.telemetry)
            && let Some(dispatch) = issued.iter().find(|dispatch| dispatch.id == *id)
        {
            let info = DispatchInfo {
                run: run.0.clone(),
                phase: program.phase(id.phase).name.clone(),
                role: program.contract(dispatch.contract).title(),
                task: dispatch.task.clone(),
                item: dispatch.item.clone(),
                instance: None,
                round: u32::from(id.visit),
                attempt: u32::from(id.attempt),
                result: PathBuf::new(),
                tree: PathBuf::new(),
                folder: PathBuf::new(),
            };
            let recorded = Recorded {
                info,
                changes: changes(repository, telemetry)?,
                result: telemetry
                    .result
                    .map(|blob| reader.blob(blob))
                    .transpose()
                    .map_err(|error| of_ledger(&error))?,
                answer: answer(reader, telemetry)?,
                usage: Usage { tokens: Some(usage.tokens), money: usage.money.map(Money) },
                model: telemetry.model.clone(),
                exit: Exit::Code(telemetry.exit_code.unwrap_or(1)),
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

/// What an agent printed, for results that came in its answer.
fn answer(reader: &Reader, telemetry: &Telemetry) -> Result<Option<String>, Failure> {
    let Some(output) = telemetry.output.filter(|_| telemetry.result.is_none()) else {
        return Ok(None);
    };
    let bytes = reader.blob(output).map_err(|error| of_ledger(&error))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let said = text.split("\n--- standard error ---\n").next().unwrap_or_default().to_string();
    Ok((!said.is_empty()).then_some(said))
}

/// The differences that a dispatch made in its tree.
fn changes(repository: &Repository, telemetry: &Telemetry) -> Result<Vec<Change>, Failure> {
    let (Some(before), Some(after)) = (&telemetry.before, &telemetry.after) else {
        return Ok(Vec::new());
    };
    let tree = |text: &str| text.parse::<TreeId>().map_err(|error| of_git(&error));
    let (before, after) = (tree(before)?, tree(after)?);
    let mut changes = Vec::new();
    for changed in repository.changed(&before, &after).map_err(|error| of_git(&error))? {
        let path = changed.path.clone();
        match changed.kind {
            ChangeKind::Deleted => changes.push(Change::Delete { path }),
            ChangeKind::Added | ChangeKind::Modified | ChangeKind::Mode | ChangeKind::Symlink => {
                let bytes =
                    repository.read(&after, &path).map_err(|error| of_git(&error))?.unwrap_or_default();
                changes.push(Change::Write { path, bytes, mode: None });
            }
            ChangeKind::Submodule => {}
        }
    }
    Ok(changes)
}
