//! `remand ticket approaches`: lists the failed approaches, and removes one on request of a human.

use super::found_ticket::FoundTicket;
use crate::context::CommandContext;
use crate::environment;
use crate::host;
use crate::requests;
use crate::requests::RequestOutcome;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_engine::host::{HostError, Unwatched};
use remand_engine::lock::LockError;
use remand_kernel::Event;
use remand_kernel::change::Approach;
use remand_ledger::query::{RequestFate, RunRow};
use remand_ledger::{ReplayFrom, replay};
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::{Value, json};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A ticket, or a run in progress [default: the ticket of the latest run on a ticket]
    #[arg(value_name = "FILE|RUN")]
    pub ticket_or_run: Option<String>,
    /// Remove the approach with this number, so that it can be proposed again
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub remove: Option<u16>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let is_file = args.ticket_or_run.as_deref().is_none_or(|file| workplace.here.join(file).is_file());
    if is_file {
        handle_ticket(context, &workplace, args)
    } else {
        let name = args.ticket_or_run.as_deref().unwrap_or_default();
        let row = workplace.reader()?.run(name)?;
        handle_run(context, &workplace, &row, args.remove)
    }
}

/// Handles the list of a ticket in the checkout, or of the run in progress on it.
fn handle_ticket(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    args: &Args,
) -> Result<ExitCode, CommandFailure> {
    let mut found = FoundTicket::find(workplace, args.ticket_or_run.as_deref().map(Path::new))?;
    let in_progress = found.runs.iter().find(|row| !row.stage.is_over()).cloned();
    if let Some(row) = in_progress {
        return handle_run(context, workplace, &row, args.remove);
    }
    if let Some(number) = args.remove {
        if !found.ticket.remove_approach(usize::from(number) - 1) {
            return Err(no_such_approach(number, found.ticket.approaches().len()));
        }
        let note = format!(
            "- {}, {}: removed approach {number} from the list",
            clock::date(clock::now()),
            environment::user()
        );
        found.ticket.add_feedback(remand_documents::Feedback::DesignRevision, &note);
        found.write()?;
    }
    let approaches = found.ticket.approaches().into_iter();
    let approaches: Vec<Approach> =
        approaches.map(|past| Approach { text: past.text, decisions: past.decisions }).collect();
    list(context, &found.file, &approaches)
}

/// Handles the list of a run. A removal is an event in its journal.
fn handle_run(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    row: &RunRow,
    remove: Option<u16>,
) -> Result<ExitCode, CommandFailure> {
    let reader = workplace.reader()?;
    let current = || {
        let replayed = replay(&reader, &row.run, ReplayFrom::Snapshot)
            .map_err(|error| CommandFailure::user(error.to_string(), error.hint()))?;
        Ok::<Vec<Approach>, CommandFailure>(replayed.state.approaches)
    };
    let Some(number) = remove else { return list(context, &row.run.0, &current()?) };
    if row.stage.is_over() {
        let what = format!("run {} is over: {}", row.run, row.outcome());
        return Err(CommandFailure::user(what, "merge its branch, then remove the approach from the ticket"));
    }
    let known = current()?.len();
    if usize::from(number) > known {
        return Err(no_such_approach(number, known));
    }
    let mut host = host::open(workplace)?;
    let event = Event::ApproachRemoved { at: number - 1, by: environment::user() };
    let request = host.store().request(&row.run, clock::now(), &event)?;
    loop {
        match host.take_over(&row.run) {
            Ok(_) => {
                host.drive(&mut Unwatched)?;
                return match reader.fate(request)? {
                    RequestFate::Refused(why) => {
                        Err(CommandFailure::user(format!("refused: {why}"), "see `remand status`"))
                    }
                    RequestFate::Accepted | RequestFate::Waiting => list(context, &row.run.0, &current()?),
                };
            }
            Err(HostError::Lock(LockError::Held { owner, .. })) => {
                tell(&format!("{owner} drives the run and will remove it"));
                if let RequestOutcome::Done(exit) =
                    requests::await_outcome(context, workplace, &row.run, request)?
                {
                    return Ok(exit);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn no_such_approach(number: u16, known: usize) -> CommandFailure {
    CommandFailure::user(format!("no approach has the number {number}"), format!("the list has {known}"))
}

fn list(context: &CommandContext<'_>, of: &str, approaches: &[Approach]) -> Result<ExitCode, CommandFailure> {
    if context.json {
        let listed: Vec<Value> = approaches
            .iter()
            .enumerate()
            .map(|(index, approach)| {
                json!({ "number": index + 1, "text": approach.text, "decisions": approach.decisions })
            })
            .collect();
        print_json(&json!({ "of": of, "approaches": listed }))?;
        return Ok(ExitCode::Done);
    }
    if approaches.is_empty() {
        print(&format!("{of}: no approach has failed\n"))?;
        return Ok(ExitCode::Done);
    }
    let lines: String = approaches
        .iter()
        .enumerate()
        .map(|(index, approach)| {
            let decisions = approach.decisions.join(", ");
            let decisions = if decisions.is_empty() { String::new() } else { format!(" ({decisions})") };
            format!("{}. {}{decisions}\n", index + 1, remand_terminal::line::one(&approach.text))
        })
        .collect();
    print(&lines)?;
    Ok(ExitCode::Done)
}
