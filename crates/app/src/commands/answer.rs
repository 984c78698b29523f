//! `remand answer`: answers a gate, and continues the run unless another process drives it.

use crate::answering;
use crate::answering::HumanAnswer;
use crate::beginning;
use crate::context::CommandContext;
use crate::environment;
use crate::host;
use crate::requests;
use crate::workplace::Workplace;
use remand_engine::config::Flag;
use remand_kernel::event::Grants;
use remand_ledger::query::GateRow;
use remand_ledger::{LimitKind, Reader};
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
        Some(amount) => parse_grant(context, &gate, &args.option, amount)?,
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

/// Reads the amount to grant at a limit, which is written as in the configuration.
fn parse_grant(
    context: &CommandContext<'_>,
    gate: &GateRow,
    option: &str,
    amount: &str,
) -> Result<Grants, CommandFailure> {
    let limit = gate.limit_kind.filter(|limit| option == "go-on" && limit.has_amount());
    let amount = match limit {
        Some(limit) => {
            let key = format!("limits.{}", limit.name());
            let flags = vec![Flag { name: "--grant".to_string(), key, value: amount.to_string() }];
            let limits = beginning::limits(&Workplace::open(context, flags)?.config);
            match limit {
                LimitKind::Dispatches => limits.dispatches,
                LimitKind::Tokens => limits.tokens,
                LimitKind::Time => limits.time,
                LimitKind::Money => limits.money,
                LimitKind::UnknownTokens | LimitKind::UnknownCosts | LimitKind::AgentBudget => None,
            }
        }
        None => None,
    };
    let not_accepted = || {
        let what = "`--grant` only works with `go-on` at a gate about a limit".to_string();
        CommandFailure::user(what, "answer without it")
    };
    amount.map(Grants::Amount).ok_or_else(not_accepted)
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
