//! `remand rollback`: reverts the commit of a run on its branch, and shows what the user may still have to do.

use super::runs::find_run;
use crate::context::CommandContext;
use crate::environment;
use crate::requests;
use crate::workplace::Workplace;
use remand_git::{CommitId, RollbackResult, RunCommits};
use remand_kernel::Event;
use remand_ledger::query::RunRow;
use remand_ledger::{ReplayFrom, replay};
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode, invocation, line};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub yes: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let row = find_run(&workplace.reader()?, Some(&args.run))?;
    if !row.stage.is_over() {
        let what = format!("run {} is not over, so its commit cannot be undone yet", row.run);
        return Err(CommandFailure::user(
            what,
            format!("end it with `{}`", invocation::command(format!("cancel {}", row.run))),
        ));
    }
    let needs_confirmation = !args.yes && remand_git::has_committed(&workplace.repository, &row.run.0)?;
    if needs_confirmation && !is_confirmed(&row) {
        print("nothing was changed")?;
        return Ok(ExitCode::Done);
    }
    let result = remand_git::rollback(&workplace.repository, &row.run.0)?;
    record(context, &workplace, &row, &result)?;
    if context.json {
        print_json(&to_json(&row, &result))?;
    } else {
        print(&to_text(&row, &result))?;
    }
    Ok(match result {
        RollbackResult::Reverted { .. } | RollbackResult::AlreadyReverted { .. } => ExitCode::Done,
        RollbackResult::CheckedOut { .. }
        | RollbackResult::Conflict { .. }
        | RollbackResult::NothingCommitted => ExitCode::User,
    })
}

/// Records in the run that its commit was reverted, so that its reports say so.
fn record(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    row: &RunRow,
    result: &RollbackResult,
) -> Result<(), CommandFailure> {
    let commit = match result {
        RollbackResult::Reverted { by, .. } | RollbackResult::AlreadyReverted { by, .. } => by.to_string(),
        RollbackResult::CheckedOut { .. }
        | RollbackResult::Conflict { .. }
        | RollbackResult::NothingCommitted => return Ok(()),
    };
    let replayed = replay(&workplace.reader()?, &row.run, ReplayFrom::Snapshot);
    if replayed.is_ok_and(|run| run.state.reverted.as_ref() == Some(&commit)) {
        return Ok(());
    }
    let event = Event::Reverted { commit, by: environment::user() };
    requests::record(context, workplace, &row.run, &event).map(drop)
}

/// Asks for confirmation at a terminal. Elsewhere none is needed, because a revert only adds a commit.
fn is_confirmed(row: &RunRow) -> bool {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return true;
    }
    let request = line::cut(&line::first(&row.request), 80);
    let mut err = std::io::stderr();
    let asked =
        write!(err, "undo the commit of run {} ({request}) on {}? [y/N] ", row.run, line::one(&row.branch));
    let mut answer = String::new();
    let read = asked.and_then(|()| err.flush()).and_then(|()| std::io::stdin().read_line(&mut answer));
    read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

fn to_json(row: &RunRow, result: &RollbackResult) -> Value {
    let (what, commits, by) = match result {
        RollbackResult::Reverted { commits, by } => ("reverted", Some(commits), Some(by)),
        RollbackResult::AlreadyReverted { commits, by } => ("already-reverted", Some(commits), Some(by)),
        RollbackResult::CheckedOut { commits, .. } => ("checked-out", Some(commits), None),
        RollbackResult::Conflict { commits, .. } => ("conflict", Some(commits), None),
        RollbackResult::NothingCommitted => ("nothing-committed", None, None),
    };
    json!({
        "run": row.run,
        "branch": row.branch,
        "done": what,
        "first": commits.map(|commits| commits.first.to_string()),
        "commit": commits.map(|commits| commits.last.to_string()),
        "by": by.map(ToString::to_string),
        "command": result.command(),
    })
}

fn to_text(row: &RunRow, result: &RollbackResult) -> String {
    let branch = line::one(&row.branch);
    let command = result.command().unwrap_or_default();
    let elsewhere = format!("if you already merged it, revert it there yourself:\n  {command}");
    match result {
        RollbackResult::Reverted { commits, by } => {
            format!("{branch} now ends with {}, which reverts {}\n{elsewhere}", short(by), range(commits))
        }
        RollbackResult::AlreadyReverted { commits, by } => {
            format!("{} was already reverted by {}\n{elsewhere}", range(commits), short(by))
        }
        RollbackResult::CheckedOut { path, .. } => format!(
            "nothing was done: {branch} is checked out in {}, and Remand does not change checkouts; revert the commit there:\n  \
             git -C {} revert {}",
            path.display(),
            invocation::quoted(&path.display().to_string()),
            command.trim_start_matches("git revert ")
        ),
        RollbackResult::Conflict { paths, .. } => {
            let paths: Vec<String> =
                paths.iter().map(|path| line::one(&path.display().to_string())).collect();
            format!(
                "nothing was done: later commits on {branch} changed the same lines, in {}; revert it by hand:\n  \
                 git switch {branch}\n  {command}",
                paths.join(", ")
            )
        }
        RollbackResult::NothingCommitted => {
            format!("{branch} has no commit of run {}, so there is nothing to revert", row.run)
        }
    }
}

/// One commit, or the first and the last of several.
fn range(commits: &RunCommits) -> String {
    let RunCommits { first, last } = commits;
    if first == last { short(last).to_string() } else { format!("{} to {}", short(first), short(last)) }
}

/// The first digits of a commit id.
fn short(commit: &CommitId) -> &str {
    commit.as_str().get(..12).unwrap_or(commit.as_str())
}
