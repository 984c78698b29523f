//! `remand retry`: continues a run that an agent's failure ended, or whose commit a hook refused.

use super::runs::find_run;
use crate::context::CommandContext;
use crate::driving;
use crate::environment;
use crate::host;
use crate::workplace::Workplace;
use remand_engine::bundle;
use remand_engine::host::HostError;
use remand_kernel::Event;
use remand_terminal::output::tell;
use remand_terminal::{CommandFailure, ExitCode, invocation};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest` [default: latest]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let row = find_run(&workplace.reader()?, args.run.as_deref())?;
    if !row.stage.is_over() {
        let resume = invocation::command(format!("resume {}", row.run));
        let what = format!("run {} is not over, so there is nothing to retry", row.run);
        return Err(CommandFailure::user(what, format!("continue it with `{resume}`")));
    }
    if remand_git::is_cleaned(&workplace.repository, &row.run.0)? {
        let what =
            format!("run {} cannot be retried, because its work was removed by `remand clean`", row.run);
        return Err(CommandFailure::user(what, "start a new one with `remand run`"));
    }
    let mut host = host::open(&workplace)?;
    host.take_over(&row.run)?;
    match host.enqueue(&row.run, Event::Retried { by: environment::user() }) {
        Ok(()) => {}
        Err(HostError::Refused { source, .. }) => {
            let what = format!("run {} cannot be retried: {source}", row.run);
            return Err(CommandFailure::user(what, "start a new one with `remand run`"));
        }
        Err(error) => return Err(error.into()),
    }
    // Without the page of the earlier end, a killed process cannot leave the run looking complete.
    let _ = std::fs::remove_file(workplace.home.run(&row.run).join(bundle::FILE));
    tell(&format!("retrying run {}", row.run));
    driving::drive(context, &workplace, host)
}
