//! `remand answer`: answers a gate, and continues the run unless another process drives it.

use crate::answering;
use crate::answering::HumanAnswer;
use crate::context::CommandContext;
use crate::environment;
use crate::granting;
use crate::host;
use crate::requests;
use crate::workplace::Workplace;
use remand_kernel::event::Grants;
use remand_ledger::Reader;
use remand_ledger::query::GateRow;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode, invocation};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The gate, or the run if it has one open gate
    #[arg(value_name = "GATE|RUN")]
    pub gate: String,
    /// One of the options that the gate offers
    #[arg(value_name = "OPTION")]
    pub option: String,
    /// A note for the agents that continue the work
    #[arg(long, short, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub note: String,
    /// Set a flag of the question, such as `prototype`
    #[arg(long = "set", value_name = "FLAG")]
    pub flags: Vec<String>,
    /// With `go-on` at a limit: the amount to grant, such as 2h, 500k or 2.50
    #[arg(long, value_name = "AMOUNT")]
    pub grant: Option<String>,
    /// Only record the answer; continue later with `remand resume`
    #[arg(long)]
    pub park: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let gate = find(&reader, &args.gate)?;
    let grants = match &args.grant {
        Some(amount) => granting::parse(&workplace.repository, &gate, &args.option, amount)?,
        None => Grants::AskedFor,
    };
    let answer = HumanAnswer {
        option: args.option.clone(),
        note: args.note.clone(),
        flags: args.flags.clone(),
        grants,
        by: environment::user(),
    };
    let host = host::open(&workplace)?;
    let redactor = host::redactor(&workplace.config)?;
    let request = answering::submit(host.store(), &reader, &redactor, &gate, &answer)?;
    if !args.park {
        return requests::drive_request(context, &workplace, host, &gate.run, request, "see `remand gates`");
    }
    if context.json {
        print_json(&json!({ "run": gate.run, "gate": gate.command, "answer": "recorded" }))?;
    } else {
        print(&format!("recorded; `{}` continues\n", invocation::command(format!("resume {}", gate.run))))?;
    }
    Ok(ExitCode::Done)
}

/// Finds the open gate that the user names.
fn find(reader: &Reader, name: &str) -> Result<GateRow, CommandFailure> {
    let open = reader.open_gates()?;
    let (run, command) = name.rsplit_once('/').unwrap_or((name, ""));
    let row = reader.run(run)?;
    let mut gates: Vec<GateRow> = open
        .into_iter()
        .filter(|gate| gate.run == row.run && (command.is_empty() || gate.command == command))
        .collect();
    match (gates.pop(), gates.len()) {
        (Some(gate), 0) => Ok(gate),
        (None, _) => Err(CommandFailure::user(
            format!("run {} has no open gate", row.run),
            "`remand gates` lists all open gates",
        )),
        (Some(last), _) => {
            gates.push(last);
            let names: Vec<String> =
                gates.iter().map(|gate| format!("{}/{}", gate.run, gate.command)).collect();
            let what = format!("run {} has several open gates", row.run);
            Err(CommandFailure::user(what, format!("name one of {}", names.join(", "))))
        }
    }
}
