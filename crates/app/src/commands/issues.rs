//! `remand issues`: lists, shows, adds and checks the issues in `TODO/`.

mod check;
mod list;
mod new;
mod show;

use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_documents::tracker::{FOLDER, InvalidIssueKey, IssueKey, Tracker};
use remand_engine::tracker;
use remand_ledger::Reader;
use remand_ledger::query::RunRow;
use remand_terminal::{CommandFailure, ExitCode};
use std::collections::BTreeMap;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<IssuesCommand>,
    /// Also list issues that are Done
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, clap::Subcommand)]
pub enum IssuesCommand {
    /// Print an issue, what it waits for, and the run that works on it
    Show(show::Args),
    /// Write a new issue to `TODO/`, with an id that no branch or run uses
    New(new::Args),
    /// Find inconsistencies, and repair them on request
    ///
    /// Finds missing parents and dependencies, circular dependencies, outdated lists and README, and ids that another
    /// branch uses for another issue. `--repair` fixes lists, ticks and ids in the checkout and commits nothing. The exit
    /// code is 1 while a problem is left.
    Check(check::Args),
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    match &args.command {
        None if args.all => list::run(context, &workplace, list::IssueFilter::All),
        None => list::run(context, &workplace, list::IssueFilter::Open),
        Some(IssuesCommand::Show(args)) => show::run(context, &workplace, args),
        Some(IssuesCommand::New(args)) => new::run(context, &workplace, args),
        Some(IssuesCommand::Check(args)) => check::run(context, &workplace, args),
    }
}

/// The tracker of the checkout. Fails if a file is not text, because such a file could not be kept consistent.
fn tracker_of(workplace: &Workplace) -> Result<Tracker, CommandFailure> {
    let (tracker, unread) = tracker::read_checkout(workplace.repository.root()).map_err(|error| {
        CommandFailure::user(format!("{FOLDER}/ cannot be read"), "check the permissions of its files")
            .caused_by(error.to_string())
    })?;
    match unread.first() {
        Some(name) => {
            Err(CommandFailure::user(format!("{FOLDER}/{name} is not UTF-8 text"), "save it as UTF-8"))
        }
        None => Ok(tracker),
    }
}

fn invalid_id(error: &InvalidIssueKey) -> CommandFailure {
    CommandFailure::user(error.to_string(), "`remand issues` lists them")
}

/// The runs in progress, by their issue.
fn runs_by_issue(workplace: &Workplace) -> Result<BTreeMap<IssueKey, RunRow>, CommandFailure> {
    let ledger = workplace.home.ledger();
    if !ledger.exists() {
        return Ok(BTreeMap::new());
    }
    let reader = Reader::open(&ledger)?;
    let rows = reader.runs_under_way()?;
    Ok(rows.into_iter().filter_map(|row| Some((tracker::issue_of(row.file.as_deref())?, row))).collect())
}
