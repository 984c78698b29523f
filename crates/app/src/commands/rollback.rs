//! `remand rollback`: undoes the commit of a run on its branch, and says what is left to the user.

use super::Context;
use super::runs::chosen;
use crate::cli;
use crate::driving;
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::line;
use crate::workplace::{Workplace, of_git};
use remand_kernel::Event;
use remand_ledger::query::RunRow;
use remand_ledger::{ReplayFrom, replay};
use remand_runtime::git::{self, CommitId, Committed, Rollback};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Do not ask first
    #[arg(long, short)]
    pub yes: bool,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let row = chosen(&workplace.reader()?, Some(&args.run))?;
    if !row.stage.is_over() {
        let what = format!("run {} is not over, so its commit cannot be undone yet", row.run);
        return Err(Failure::user(
            what,
            format!("end it with `{}`", cli::command(format!("cancel {}", row.run))),
        ));
    }
    let asks =
        !args.yes && git::has_committed(&workplace.repository, &row.run.0).map_err(|error| of_git(&error))?;
    if asks && !is_wanted(&row) {
        print("nothing was done")?;
        return Ok(Exit::Done);
    }
    let done = git::rollback(&workplace.repository, &row.run.0).map_err(|error| of_git(&error))?;
    record(context, &workplace, &row, &done)?;
    if context.json {
        print_json(&to_json(&row, &done))?;
    } else {
        print(&to_text(&row, &done))?;
    }
    Ok(match done {
        Rollback::Reverted { .. } | Rollback::AlreadyReverted { .. } => Exit::Done,
        Rollback::CheckedOut { .. } | Rollback::Conflict { .. } | Rollback::NothingCommitted => Exit::User,
    })
}

/// Keeps with the run that its commit is undone: who reads of it must not believe that the work is there.
fn record(
    context: &Context<'_>,
    workplace: &Workplace,
    row: &RunRow,
    done: &Rollback,
) -> Result<(), Failure> {
    let commit = match done {
        Rollback::Reverted { by, .. } | Rollback::AlreadyReverted { by, .. } => by.to_string(),
        Rollback::CheckedOut { .. } | Rollback::Conflict { .. } | Rollback::NothingCommitted => return Ok(()),
    };
    let known = replay(&workplace.reader()?, &row.run, ReplayFrom::Snapshot);
    if known.is_ok_and(|replayed| replayed.state.reverted.as_ref() == Some(&commit)) {
        return Ok(());
    }
    let event = Event::Reverted { commit, by: driving::user() };
    driving::put(context, workplace, &row.run, &event).map(drop)
}

/// Asks on the terminal. Where there is none the command says enough: a commit is added, and nothing is lost.
fn is_wanted(row: &RunRow) -> bool {
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

fn to_json(row: &RunRow, done: &Rollback) -> Value {
    let (what, commits, by) = match done {
        Rollback::Reverted { commits, by } => ("reverted", Some(commits), Some(by)),
        Rollback::AlreadyReverted { commits, by } => ("already-reverted", Some(commits), Some(by)),
        Rollback::CheckedOut { commits, .. } => ("checked-out", Some(commits), None),
        Rollback::Conflict { commits, .. } => ("conflict", Some(commits), None),
        Rollback::NothingCommitted => ("nothing-committed", None, None),
    };
    json!({
        "run": row.run,
        "branch": row.branch,
        "done": what,
        "first": commits.map(|commits| commits.first.to_string()),
        "commit": commits.map(|commits| commits.last.to_string()),
        "by": by.map(ToString::to_string),
        "command": done.command(),
    })
}

fn to_text(row: &RunRow, done: &Rollback) -> String {
    let branch = line::one(&row.branch);
    let command = done.command().unwrap_or_default();
    let elsewhere = format!("where you took it over already, undo it yourself:\n  {command}");
    match done {
        Rollback::Reverted { commits, by } => {
            format!("{branch} ends with {} now, which undoes {}\n{elsewhere}", short(by), named(commits))
        }
        Rollback::AlreadyReverted { commits, by } => {
            format!("{} was undone before, by {}\n{elsewhere}", named(commits), short(by))
        }
        Rollback::CheckedOut { path, .. } => format!(
            "nothing was done: {branch} is checked out in {}, and your checkouts are yours; undo the commit there:\n  \
             git -C {} revert {}",
            path.display(),
            quoted(&path.display().to_string()),
            command.trim_start_matches("git revert ")
        ),
        Rollback::Conflict { paths, .. } => {
            let paths: Vec<String> =
                paths.iter().map(|path| line::one(&path.display().to_string())).collect();
            format!(
                "nothing was done: later commits on {branch} changed the same lines, in {}; undo it by hand:\n  \
                 git switch {branch}\n  {command}",
                paths.join(", ")
            )
        }
        Rollback::NothingCommitted => {
            format!("{branch} has no commit of run {}, so there is nothing to undo there", row.run)
        }
    }
}

/// One commit, or the first and the last of several.
fn named(commits: &Committed) -> String {
    let Committed { first, last } = commits;
    if first == last { short(last).to_string() } else { format!("{} to {}", short(first), short(last)) }
}

/// Enough of a commit to recognise it.
fn short(commit: &CommitId) -> &str {
    commit.as_str().get(..12).unwrap_or(commit.as_str())
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if path.chars().all(plain) { path.to_string() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
