//! `remand issues`: the tracker in `TODO/`, listed, shown, added to and checked.

mod check;
mod list;
mod new;
mod show;

use super::Context;
use crate::exit::{Exit, Failure};
use crate::workplace::{Workplace, of_ledger};
use remand_documents::tracker::{FOLDER, IssueId, NoId, Tracker};
use remand_ledger::Reader;
use remand_ledger::query::RunRow;
use remand_runtime::tracker;
use std::collections::BTreeMap;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    pub what: Option<What>,
    /// List those that are Done as well
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, clap::Subcommand)]
pub enum What {
    /// Print an issue, with what it waits for and who works on it
    Show(show::Args),
    /// Write a new issue into `TODO/`, with an id that no branch and no run has
    New(new::Args),
    /// Find what does not fit together, and mend it on request
    ///
    /// Parents and dependencies that do not exist, circles, lists and a README that are out of step, ids that another
    /// branch has given to another issue. With `--repair` lists, ticks and ids are mended in the checkout; nothing is
    /// committed. The exit code is 1 while anything is left.
    Check(check::Args),
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    match &args.what {
        None if args.all => list::run(context, &workplace, list::Wanted::All),
        None => list::run(context, &workplace, list::Wanted::Open),
        Some(What::Show(args)) => show::run(context, &workplace, args),
        Some(What::New(args)) => new::run(context, &workplace, args),
        Some(What::Check(args)) => check::run(context, &workplace, args),
    }
}

/// The tracker of the checkout. Files that are no texts are refused by name: what is not read cannot be kept in step.
fn tracker_of(workplace: &Workplace) -> Result<Tracker, Failure> {
    let (tracker, unread) = tracker::of_checkout(workplace.repository.root()).map_err(|error| {
        Failure::user(format!("{FOLDER}/ cannot be read"), "see to the permissions of its files")
            .caused_by(error.to_string())
    })?;
    match unread.first() {
        Some(name) => Err(Failure::user(format!("{FOLDER}/{name} is not UTF-8 text"), "save it as UTF-8")),
        None => Ok(tracker),
    }
}

fn wrong_id(error: &NoId) -> Failure {
    Failure::user(error.to_string(), "`remand issues` lists them")
}

/// The runs that are under way, by their issue.
fn under_way(workplace: &Workplace) -> Result<BTreeMap<IssueId, RunRow>, Failure> {
    let ledger = workplace.home.ledger();
    if !ledger.exists() {
        return Ok(BTreeMap::new());
    }
    let reader = Reader::open(&ledger).map_err(|error| of_ledger(&error))?;
    let rows = reader.runs_under_way().map_err(|error| of_ledger(&error))?;
    Ok(rows.into_iter().filter_map(|row| Some((tracker::issue_of(row.file.as_deref())?, row))).collect())
}
