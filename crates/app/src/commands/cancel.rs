//! `remand cancel`: ends a run, whoever drives it.

use super::Context;
use crate::driving::{self, Fate};
use crate::exit::{Exit, Failure, tell};
use crate::workplace::{Workplace, of_ledger};
use remand_kernel::Event;
use remand_runtime::clock;
use remand_runtime::host::HostError;
use remand_runtime::lock::LockError;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: String,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = reader.run(&args.run).map_err(|error| of_ledger(&error))?;
    if row.stage.is_over() {
        if driving::is_unfinished(&workplace, &row) {
            driving::host(&workplace)?.resume(&row.run).map_err(|error| driving::of_host(&error))?;
        }
        let what = format!("run {} is over already: {}", row.run, row.ended.as_deref().unwrap_or_default());
        return Err(Failure::user(what, "`remand runs` lists those that are not"));
    }
    let mut host = driving::host(&workplace)?;
    let event = Event::Cancelled { by: driving::user() };
    let request = host.ledger().request(&row.run, clock::now(), &event).map_err(|error| of_ledger(&error))?;
    loop {
        match host.take_over(&row.run) {
            Ok(_) => {
                return match driving::drive(context, &workplace, host)? {
                    Exit::Failed => Ok(Exit::Done),
                    other => Ok(other),
                };
            }
            Err(HostError::Lock(LockError::Held { owner, .. })) => {
                tell(&format!("{owner} drives the run and ends it"));
                if let Fate::Over(exit) = driving::await_fate(context, &workplace, &row.run, request)? {
                    return Ok(exit);
                }
            }
            Err(error) => return Err(driving::of_host(&error)),
        }
    }
}
