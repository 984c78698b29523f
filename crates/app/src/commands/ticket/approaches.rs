//! `remand ticket approaches`: what failed before. Only a human takes something off that list (DR-12).

use super::Context;
use super::place::Found;
use crate::driving::{self, Fate};
use crate::exit::{Exit, Failure, print, print_json, tell};
use crate::workplace::{Workplace, of_ledger};
use remand_kernel::Event;
use remand_kernel::change::Approach;
use remand_ledger::query::{RequestFate, RunRow};
use remand_ledger::{ReplayFrom, replay};
use remand_runtime::clock;
use remand_runtime::host::{HostError, Unwatched};
use remand_runtime::lock::LockError;
use serde_json::{Value, json};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A ticket, or a run that is under way [default: the ticket of the latest run on one]
    #[arg(value_name = "FILE|RUN")]
    pub of: Option<String>,
    /// Take the approach of this number off the list; it may be proposed again then
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub remove: Option<u16>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let is_file = args.of.as_deref().is_none_or(|of| workplace.here.join(of).is_file());
    if is_file {
        of_file(context, &workplace, args)
    } else {
        let name = args.of.as_deref().unwrap_or_default();
        let row = workplace.reader()?.run(name).map_err(|error| of_ledger(&error))?;
        of_run(context, &workplace, &row, args.remove)
    }
}

/// The list of a ticket in the checkout. A run that is under way has its own.
fn of_file(context: &Context<'_>, workplace: &Workplace, args: &Args) -> Result<Exit, Failure> {
    let mut found = Found::find(workplace, args.of.as_deref().map(Path::new))?;
    let under_way = found.runs.iter().find(|row| !row.stage.is_over()).cloned();
    if let Some(row) = under_way {
        return of_run(context, workplace, &row, args.remove);
    }
    if let Some(number) = args.remove {
        if !found.ticket.remove_approach(usize::from(number) - 1) {
            return Err(none(number, found.ticket.approaches().len()));
        }
        let note = format!(
            "- {}, {}: took approach {number} off the list",
            clock::date(clock::now()),
            driving::user()
        );
        found.ticket.add_feedback(remand_documents::Feedback::DesignRevision, &note);
        found.write()?;
    }
    let listed = found.ticket.approaches().into_iter();
    let listed: Vec<Approach> =
        listed.map(|past| Approach { text: past.text, decisions: past.decisions }).collect();
    list(context, &found.file, &listed)
}

/// The list of a run: a removal is an event of its journal.
fn of_run(
    context: &Context<'_>,
    workplace: &Workplace,
    row: &RunRow,
    remove: Option<u16>,
) -> Result<Exit, Failure> {
    let reader = workplace.reader()?;
    let now = || {
        let replayed = replay(&reader, &row.run, ReplayFrom::Snapshot)
            .map_err(|error| Failure::user(error.to_string(), error.hint()))?;
        Ok::<Vec<Approach>, Failure>(replayed.state.approaches)
    };
    let Some(number) = remove else { return list(context, &row.run.0, &now()?) };
    if row.stage.is_over() {
        let what = format!("run {} is over: {}", row.run, row.ended.as_deref().unwrap_or_default());
        return Err(Failure::user(
            what,
            "merge its branch, and take the approach off the ticket's list there",
        ));
    }
    let known = now()?.len();
    if usize::from(number) > known {
        return Err(none(number, known));
    }
    let mut host = driving::host(workplace)?;
    let event = Event::ApproachRemoved { at: number - 1, by: driving::user() };
    let request = host.ledger().request(&row.run, clock::now(), &event).map_err(|error| of_ledger(&error))?;
    loop {
        match host.take_over(&row.run) {
            Ok(_) => {
                host.drive(&mut Unwatched).map_err(|error| driving::of_host(&error))?;
                return match reader.fate(request).map_err(|error| of_ledger(&error))? {
                    RequestFate::Refused(why) => {
                        Err(Failure::user(format!("refused: {why}"), "see `remand status`"))
                    }
                    RequestFate::Taken | RequestFate::Waiting => list(context, &row.run.0, &now()?),
                };
            }
            Err(HostError::Lock(LockError::Held { owner, .. })) => {
                tell(&format!("{owner} drives the run and takes it"));
                if let Fate::Over(exit) = driving::await_fate(context, workplace, &row.run, request)? {
                    return Ok(exit);
                }
            }
            Err(error) => return Err(driving::of_host(&error)),
        }
    }
}

fn none(number: u16, known: usize) -> Failure {
    Failure::user(format!("there is no approach number {number}"), format!("the list has {known}"))
}

fn list(context: &Context<'_>, of: &str, approaches: &[Approach]) -> Result<Exit, Failure> {
    if context.json {
        let listed: Vec<Value> = approaches
            .iter()
            .enumerate()
            .map(|(at, approach)| json!({ "number": at + 1, "text": approach.text, "decisions": approach.decisions }))
            .collect();
        print_json(&json!({ "of": of, "approaches": listed }))?;
        return Ok(Exit::Done);
    }
    if approaches.is_empty() {
        print(&format!("{of}: no approach has failed\n"))?;
        return Ok(Exit::Done);
    }
    let lines: String = approaches
        .iter()
        .enumerate()
        .map(|(at, approach)| {
            let rests = approach.decisions.join(", ");
            let rests = if rests.is_empty() { String::new() } else { format!(" ({rests})") };
            format!("{}. {}{rests}\n", at + 1, crate::table::line::one(&approach.text))
        })
        .collect();
    print(&lines)?;
    Ok(Exit::Done)
}
