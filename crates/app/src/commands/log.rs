//! `remand log`: why a run went the way it did, from the request to the commit.

mod lines;
mod logged_event;

use super::runs::find_run;
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode, Ink, invocation};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Only the rulings
    #[arg(long)]
    pub rulings: bool,
    /// Only events of this task
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
}

/// How much to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    All,
    Rulings,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = find_run(&reader, args.run.as_deref())?;
    let mut events = logged_event::read(&reader, &row)?;
    if let Some(task) = &args.task {
        logged_event::keep_task(&mut events, task);
        if events.is_empty() {
            let hint = format!("`{}` lists the tasks", invocation::command(format!("status {}", row.run)));
            return Err(CommandFailure::user(
                format!("task `{task}` has no events in run {}", row.run),
                hint,
            ));
        }
    }
    let detail = if args.rulings { Detail::Rulings } else { Detail::All };
    if context.json {
        let shown: Vec<_> = events.iter().map(|event| event.json(detail)).collect();
        print_json(&json!({ "run": row, "log": shown }))?;
        return Ok(ExitCode::Done);
    }
    print(&lines::text(&row, &events, detail, Ink::of_stdout()))?;
    Ok(ExitCode::Done)
}
