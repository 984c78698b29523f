//! `remand cancel`: ends a run, in this process or in the one that drives it.

use crate::context::CommandContext;
use crate::driving;
use crate::environment;
use crate::host;
use crate::requests;
use crate::requests::RequestOutcome;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_engine::host::HostError;
use remand_engine::lock::LockError;
use remand_kernel::Event;
use remand_terminal::output::tell;
use remand_terminal::{CommandFailure, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: String,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = reader.run(&args.run)?;
    if row.stage.is_over() {
        if host::is_unfinished(&workplace, &row) {
            host::open(&workplace)?.resume(&row.run)?;
        }
        let what = format!("run {} is over: {}", row.run, row.outcome());
        return Err(CommandFailure::user(what, "`remand runs` lists all runs"));
    }
    let mut host = host::open(&workplace)?;
    let recorded = reader.requests(&row.run)?;
    let recorded = recorded.iter().find(|request| matches!(request.event, Event::Cancelled { .. }));
    let request = match recorded {
        // The page and the terminal view record who asks before they start this process.
        Some(recorded) => recorded.id,
        None => {
            let event = Event::Cancelled { by: environment::user() };
            host.store().request(&row.run, clock::now(), &event)?
        }
    };
    loop {
        match host.take_over(&row.run) {
            Ok(_) => {
                return match driving::drive(context, &workplace, host)? {
                    ExitCode::Failed => Ok(ExitCode::Done),
                    other => Ok(other),
                };
            }
            Err(HostError::Lock(LockError::Held { owner, .. })) => {
                tell(&format!("{owner} drives the run and will end it"));
                if let RequestOutcome::Done(exit) =
                    requests::await_outcome(context, &workplace, &row.run, request)?
                {
                    return Ok(exit);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}
