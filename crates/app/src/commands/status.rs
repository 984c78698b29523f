//! `remand status`: the runs in progress, or one run in detail.

pub mod overview;
pub mod run_status;
mod spending;
mod tasks;

use super::runs::find_run;
use crate::context::CommandContext;
use crate::workplace::Workplace;
use overview::Overview;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode, Ink};
use run_status::RunStatus;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest` [default: all in progress, and the last that ended]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    match &args.run {
        None => {
            let reader = workplace.reader_if_any()?;
            let overview = Overview::read(&workplace, reader.as_ref())?;
            if context.json {
                print_json(&overview.json())?;
            } else {
                print(&overview.text(Ink::of_stdout()))?;
            }
        }
        Some(name) => {
            let reader = workplace.reader()?;
            let status = RunStatus::read(&workplace, &reader, &find_run(&reader, Some(name))?.run)?;
            if context.json {
                print_json(&status.json())?;
            } else {
                print(&status.text(Ink::of_stdout()))?;
            }
        }
    }
    Ok(ExitCode::Done)
}
