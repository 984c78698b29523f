//! `remand log`: why a run went the way it went, from the request to the commit (CORE-03).

mod happening;
mod lines;

use super::Context;
use super::runs::chosen;
use crate::cli;
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::Ink;
use crate::workplace::Workplace;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Only the rulings
    #[arg(long)]
    pub rulings: bool,
    /// Only what happened to this task
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
}

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    All,
    Rulings,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = chosen(&reader, args.run.as_deref())?;
    let mut happenings = happening::read(&reader, &row)?;
    if let Some(task) = &args.task {
        happening::keep_task(&mut happenings, task);
        if happenings.is_empty() {
            let hint = format!("`{}` lists the tasks", cli::command(format!("status {}", row.run)));
            return Err(Failure::user(
                format!("nothing happened to a task `{task}` in run {}", row.run),
                hint,
            ));
        }
    }
    let detail = if args.rulings { Detail::Rulings } else { Detail::All };
    if context.json {
        let shown: Vec<_> = happenings.iter().map(|happening| happening.json(detail)).collect();
        print_json(&json!({ "run": row, "log": shown }))?;
        return Ok(Exit::Done);
    }
    print(&lines::text(&row, &happenings, detail, Ink::of_stdout()))?;
    Ok(Exit::Done)
}
