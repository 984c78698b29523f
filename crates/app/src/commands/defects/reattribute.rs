//! `remand defects reattribute`: a human sets the phases that injected a defect.

use crate::context::CommandContext;
use crate::environment;
use crate::host;
use crate::requests;
use crate::workplace::Workplace;
use remand_kernel::Event;
use remand_ledger::query::FindingRow;
use remand_ledger::{Reader, RunId};
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode, invocation};
use remand_workflow::diagnostic::nearest;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    run: String,
    /// The finding, by its id
    #[arg(value_name = "FINDING")]
    finding: String,
    /// The phases that injected it
    #[arg(long, required = true, value_delimiter = ',', value_name = "PHASE")]
    to: Vec<String>,
    /// The reason
    #[arg(long, short, default_value = "", hide_default_value = true, value_name = "TEXT")]
    note: String,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let run = reader.run(&args.run)?.run;
    let finding = find(&reader, &run, &args.finding)?;
    let event = Event::Reattributed {
        at: finding.position,
        from: finding.injected_by.clone(),
        to: args.to.clone(),
        by: environment::user(),
        note: host::redactor(&workplace.config)?.redact(&args.note).into_owned(),
    };
    match requests::record(context, &workplace, &run, &event)? {
        Some(exit) => Ok(exit),
        None => report(context, &reader, &run, &finding),
    }
}

/// The last finding with this id.
fn find(reader: &Reader, run: &RunId, id: &str) -> Result<FindingRow, CommandFailure> {
    let findings = reader.findings(run)?;
    if let Some(finding) = findings.iter().rfind(|finding| finding.id == id) {
        return Ok(finding.clone());
    }
    let list = invocation::command(format!("defects {run}"));
    let hint = match nearest(id, findings.iter().map(|finding| finding.id.as_str())) {
        Some(near) => format!("did you mean `{near}`? `{list}` lists them"),
        None => format!("`{list}` lists them"),
    };
    Err(CommandFailure::user(format!("run {run} has no finding `{id}`"), hint))
}

fn report(
    context: &CommandContext<'_>,
    reader: &Reader,
    run: &RunId,
    before: &FindingRow,
) -> Result<ExitCode, CommandFailure> {
    let findings = reader.findings(run)?;
    let now = findings.iter().find(|finding| finding.position == before.position).unwrap_or(before);
    if context.json {
        let value = json!({
            "run": run, "finding": now.id, "from": before.injected_by, "to": now.injected_by, "status": now.status,
        });
        print_json(&value)?;
    } else {
        let from = match before.injected_by.as_slice() {
            [] => "had none".to_string(),
            phases => format!("was {}", phases.join(", ")),
        };
        print(&format!(
            "the origin of {} is now {}; before, it {from}\n",
            now.id,
            now.injected_by.join(", ")
        ))?;
    }
    Ok(ExitCode::Done)
}
