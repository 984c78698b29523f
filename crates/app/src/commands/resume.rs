//! `remand resume`: continues runs that were interrupted or whose gates were answered.

use crate::context::CommandContext;
use crate::driving;
use crate::environment;
use crate::gate;
use crate::host;
use crate::retrying;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_kernel::Event;
use remand_ledger::query::{RunRow, RunStage};
use remand_ledger::{Reader, RunId};
use remand_terminal::output::{print, print_failure, print_json, print_line, tell};
use remand_terminal::{CommandFailure, ExitCode, Ink};
use serde_json::json;
use std::collections::BTreeSet;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest` [default: every run that can continue]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let runs: Vec<RunRow> = match &args.run {
        Some(name) => vec![reader.run(name)?],
        None => {
            let requests = reader.all_requests()?;
            let has_request =
                |row: &RunRow| !row.stage.is_over() && requests.iter().any(|request| request.run == row.run);
            let can_continue = |row: &RunRow| {
                matches!(row.stage, RunStage::Running | RunStage::Interrupted)
                    || has_request(row)
                    || host::is_unfinished(&workplace, row)
            };
            reader.runs()?.into_iter().filter(can_continue).collect()
        }
    };
    if runs.is_empty() {
        return report_none(context, &reader);
    }
    let mut host = host::open(&workplace)?;
    let (mut driven, mut exit) = (0, ExitCode::Done);
    for row in &runs {
        if row.stage.is_over() && !host::is_unfinished(&workplace, row) {
            let what = format!("run {} is over: {}", row.run, row.outcome());
            let hint = match retrying::command_for(&reader, &row.run) {
                Some(retry) => {
                    format!("`{retry}` tries the failed phase again and keeps everything before it")
                }
                None => "start a new one with `remand run`".to_string(),
            };
            return Err(CommandFailure::user(what, hint));
        }
        if row.stage == RunStage::Paused {
            let event = Event::Resumed { by: environment::user() };
            host.store().request(&row.run, clock::now(), &event)?;
        }
        match host.resume(&row.run) {
            Ok(()) => {
                driven += 1;
                tell(&format!("continuing run {} at {}", row.run, row.place));
            }
            // A run that cannot be resumed does not stop the others.
            Err(error) if runs.len() > 1 => {
                let failure = CommandFailure::from(error);
                exit = exit.max_with(failure.exit);
                print_failure(&failure);
                if context.json {
                    print_line(
                        &json!({ "run": row.run, "exit": failure.exit.number(), "failure": failure.json() }),
                    )?;
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    if driven == 0 {
        return Ok(exit);
    }
    Ok(exit.max_with(driving::drive(context, &workplace, host)?))
}

/// Reports that no run can continue, and lists the open gates.
fn report_none(context: &CommandContext<'_>, reader: &Reader) -> Result<ExitCode, CommandFailure> {
    let open = reader.open_gates()?;
    if context.json {
        let waiting: BTreeSet<&RunId> = open.iter().map(|gate| &gate.run).collect();
        print_json(&json!({ "runs": [], "waiting": waiting }))?;
    } else if open.is_empty() {
        print("no run to continue\n")?;
    } else {
        let listed = gate::list(reader, &open, Ink::of_stdout())?;
        print(&format!("every run waits for an answer:\n\n{listed}\n"))?;
    }
    Ok(if open.is_empty() { ExitCode::Done } else { ExitCode::Waiting })
}
