//! `remand diff`: the change of a run, or of one of its tasks.

use super::runs::find_run;
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_git::{CommitId, GitError};
use remand_ledger::Reader;
use remand_ledger::query::{ArtifactRow, RunRow};
use remand_terminal::output::{print_json, tell};
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone, line, output};
use serde_json::json;

/// The artifact that holds the change of a task.
const CODE: &str = "code";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Only the last reported change of this task
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = find_run(&reader, args.run.as_deref())?;
    let patch = match &args.task {
        Some(task) => task_patch(&reader, &row, task)?,
        None => run_patch(&workplace, &row)?,
    };
    if context.json {
        let text = String::from_utf8_lossy(&patch);
        print_json(&json!({ "run": row.run, "task": args.task, "base": row.base, "patch": text }))?;
    } else if patch.is_empty() {
        tell(&format!("run {} changed nothing", row.run));
    } else {
        let ink = Ink::of_stdout();
        output::print_stored(&patch, |line| colour(line, ink))?;
    }
    Ok(ExitCode::Done)
}

/// The change from the base of the run to its main line, or to its branch if only that is left.
fn run_patch(workplace: &Workplace, row: &RunRow) -> Result<Vec<u8>, CommandFailure> {
    let repository = &workplace.repository;
    // The reference of the main line can be read while another process drives the run.
    let main = repository.commit(&format!("refs/remand/{}/main", row.run));
    let tip = match main.or_else(|_| repository.commit(&format!("refs/heads/{}", row.branch))) {
        Ok(tip) => tip,
        Err(GitError::UnknownRevision { .. }) => {
            let what = format!("run {} no longer has a work tree or a branch", row.run);
            let hint = format!("`remand show --list --run {}` lists the reported changes", row.run);
            return Err(CommandFailure::user(what, hint));
        }
        Err(error) => return Err(error.into()),
    };
    let patch = || {
        let base: CommitId = row.base.parse()?;
        repository.patch(&repository.tree_of(&base)?, &repository.tree_of(&tip)?)
    };
    patch().map_err(CommandFailure::from)
}

/// The latest version of the change of a task.
fn task_patch(reader: &Reader, row: &RunRow, task: &str) -> Result<Vec<u8>, CommandFailure> {
    let versions = reader.artifact_versions(&row.run, CODE)?;
    let is_patch = |artifact: &&ArtifactRow| artifact.part == task && artifact.format == "patch";
    match versions.iter().rfind(is_patch) {
        Some(found) => reader.blob(found.blob).map_err(CommandFailure::from),
        None => {
            let mut tasks: Vec<String> =
                versions.iter().filter(|row| !row.part.is_empty()).map(|row| line::one(&row.part)).collect();
            tasks.dedup();
            let hint = match tasks.as_slice() {
                [] => "no task has reported a change yet".to_string(),
                tasks => format!("tasks with a change: {}", tasks.join(", ")),
            };
            Err(CommandFailure::user(
                format!("task `{task}` of run {} has reported no change", row.run),
                hint,
            ))
        }
    }
}

fn colour(line: &str, ink: Ink) -> String {
    let is_header =
        ["diff --git", "index ", "--- ", "+++ ", "new file", "deleted file", "old mode", "new mode"]
            .iter()
            .any(|start| line.starts_with(start));
    let tone = match line.chars().next() {
        _ if is_header => Tone::Strong,
        Some('+') => Tone::Good,
        Some('-') => Tone::Bad,
        Some('@') => Tone::Faint,
        Some(_) | None => Tone::Plain,
    };
    ink.paint(tone, line)
}
