//! `remand diff`: what a run changed, or one of its tasks.

use super::Context;
use super::runs::chosen;
use crate::exit::{Exit, Failure, print_json, tell};
use crate::table::{Ink, Tone, line, stored};
use crate::workplace::{Workplace, of_git, of_ledger};
use remand_ledger::Reader;
use remand_ledger::query::{ArtifactRow, RunRow};
use remand_runtime::git::{CommitId, GitError};
use serde_json::json;

/// The artifact that holds the change of a task.
const CODE: &str = "code";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Only the change of this task, as it was last reported
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = chosen(&reader, args.run.as_deref())?;
    let patch = match &args.task {
        Some(task) => of_task(&reader, &row, task)?,
        None => of_run(&workplace, &row)?,
    };
    if context.json {
        let text = String::from_utf8_lossy(&patch);
        print_json(&json!({ "run": row.run, "task": args.task, "base": row.base, "patch": text }))?;
    } else if patch.is_empty() {
        tell(&format!("there is no change of run {} to show", row.run));
    } else {
        let ink = Ink::of_stdout();
        stored::print_stored(&patch, |line| coloured(line, ink))?;
    }
    Ok(Exit::Done)
}

/// From where the run started to its main line, or to its branch where that is all that is left.
fn of_run(workplace: &Workplace, row: &RunRow) -> Result<Vec<u8>, Failure> {
    let repository = &workplace.repository;
    // The main line is a reference of its own: to read it disturbs no process that drives the run.
    let main = repository.commit(&format!("refs/remand/{}/main", row.run));
    let tip = match main.or_else(|_| repository.commit(&format!("refs/heads/{}", row.branch))) {
        Ok(tip) => tip,
        Err(GitError::UnknownRevision { .. }) => {
            let what = format!("run {} has neither a work tree nor a branch any more", row.run);
            let hint = format!("`remand show --list --run {}` lists the changes that were reported", row.run);
            return Err(Failure::user(what, hint));
        }
        Err(error) => return Err(of_git(&error)),
    };
    let patch = || {
        let base: CommitId = row.base.parse()?;
        repository.patch(&repository.tree_of(&base)?, &repository.tree_of(&tip)?)
    };
    patch().map_err(|error| of_git(&error))
}

/// The latest version of the change of a task.
fn of_task(reader: &Reader, row: &RunRow, task: &str) -> Result<Vec<u8>, Failure> {
    let versions = reader.artifact_versions(&row.run, CODE).map_err(|error| of_ledger(&error))?;
    let of = |artifact: &&ArtifactRow| artifact.part == task && artifact.format == "patch";
    match versions.iter().rfind(of) {
        Some(found) => reader.blob(found.blob).map_err(|error| of_ledger(&error)),
        None => {
            let mut tasks: Vec<String> =
                versions.iter().filter(|row| !row.part.is_empty()).map(|row| line::one(&row.part)).collect();
            tasks.dedup();
            let hint = match tasks.as_slice() {
                [] => "no task has reported a change yet".to_string(),
                tasks => format!("there are changes of: {}", tasks.join(", ")),
            };
            Err(Failure::user(format!("task `{task}` of run {} has reported no change", row.run), hint))
        }
    }
}

fn coloured(line: &str, ink: Ink) -> String {
    let is_head =
        ["diff --git", "index ", "--- ", "+++ ", "new file", "deleted file", "old mode", "new mode"]
            .iter()
            .any(|head| line.starts_with(head));
    let tone = match line.chars().next() {
        _ if is_head => Tone::Strong,
        Some('+') => Tone::Good,
        Some('-') => Tone::Bad,
        Some('@') => Tone::Faint,
        Some(_) | None => Tone::Plain,
    };
    ink.paint(tone, line)
}
