//! `remand answer`: answers a question, and goes on with the run if nobody else drives it.

use super::Context;
use crate::beginning;
use crate::cli;
use crate::driving::{self, Fate};
use crate::exit::{Exit, Failure, print, print_json, tell};
use crate::workplace::{Workplace, of_ledger};
use remand_kernel::Event;
use remand_kernel::event::{Grants, Limits};
use remand_ledger::query::{GateRow, RequestFate};
use remand_ledger::{Reader, RunId};
use remand_runtime::clock;
use remand_runtime::config::Flag;
use remand_runtime::host::HostError;
use remand_runtime::lock::LockError;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The gate, or the run if only one of its gates waits
    #[arg(value_name = "GATE|RUN")]
    pub gate: String,
    /// One of the options that the gate offers
    #[arg(value_name = "OPTION")]
    pub option: String,
    /// What the work should take into account
    #[arg(long, short, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub note: String,
    /// Something that the question also asks, such as `prototype`
    #[arg(long = "set", value_name = "FLAG")]
    pub flags: Vec<String>,
    /// With `go-on` at a limit: the limit from here on, such as 2h, 500k or 2.50
    #[arg(long, value_name = "AMOUNT")]
    pub grant: Option<String>,
    /// Only record the answer; `remand resume` goes on later
    #[arg(long)]
    pub park: bool,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let gate = find(&reader, &args.gate)?;
    let note = driving::redactor(&workplace)?.redact(&args.note).into_owned();
    if !gate.options.iter().any(|option| option.name == args.option) {
        let options: Vec<&str> = gate.options.iter().map(|option| option.name.as_str()).collect();
        let what = format!("`{}` is not offered by this gate", args.option);
        return Err(Failure::user(what, format!("answer with one of {}", options.join(", "))));
    }
    let grants = match &args.grant {
        Some(amount) => granted(context, &gate, &args.option, amount)?,
        None => Grants::AskedFor,
    };
    let event = match driving::answered(&gate, &args.option, &note)? {
        Event::Answered { id, option, by, note, .. } => {
            let flags = args.flags.iter().map(|flag| (flag.clone(), true)).collect();
            Event::Answered { id, option, by, note, flags, grants }
        }
        other => other,
    };
    let waiting = reader.requests(&gate.run).map_err(|error| of_ledger(&error))?;
    let answers =
        |event: &Event| matches!(event, Event::Answered { id, .. } if id.to_string() == gate.command);
    let resume = cli::command(format!("resume {}", gate.run));
    if waiting.iter().any(|request| answers(&request.event)) {
        let what = format!("an answer to this gate of run {} is recorded already", gate.run);
        return Err(Failure::user(what, format!("`{resume}` goes on with it")));
    }
    if args.park {
        let mut host = driving::host(&workplace)?;
        host.ledger().request(&gate.run, clock::now(), &event).map_err(|error| of_ledger(&error))?;
        if context.json {
            print_json(&json!({ "run": gate.run, "gate": gate.command, "answer": "recorded" }))?;
        } else {
            print(&format!("recorded; `{resume}` goes on\n"))?;
        }
        return Ok(Exit::Done);
    }
    hand_in(context, &workplace, &gate.run, &event, "see `remand gates`")
}

/// What is granted at a limit, written as in the configuration.
fn granted(context: &Context<'_>, gate: &GateRow, option: &str, amount: &str) -> Result<Grants, Failure> {
    let limit = gate.limit().filter(|_| option == "go-on").unwrap_or_default();
    let key = format!("limits.{limit}");
    let flags = vec![Flag { name: "--grant".to_string(), key, value: amount.to_string() }];
    let set = |pick: fn(&Limits) -> Option<u64>| -> Result<Option<u64>, Failure> {
        Ok(pick(&beginning::limits(&Workplace::open(context, flags)?.config)))
    };
    let amount = match limit {
        Limits::DISPATCHES => set(|limits| limits.dispatches)?,
        Limits::TOKENS => set(|limits| limits.tokens)?,
        Limits::TIME => set(|limits| limits.time)?,
        Limits::MONEY => set(|limits| limits.money)?,
        _ => None,
    };
    let not_here = || {
        let what = "`--grant` goes with `go-on` at a limit that is reached, and this is none".to_string();
        Failure::user(what, "answer without it")
    };
    amount.map(Grants::Amount).ok_or_else(not_here)
}

/// Hands in what a human did, and goes on with the run if nobody else drives it.
pub fn hand_in(
    context: &Context<'_>,
    workplace: &Workplace,
    run: &RunId,
    event: &Event,
    hint: &str,
) -> Result<Exit, Failure> {
    let reader = workplace.reader()?;
    let mut host = driving::host(workplace)?;
    let request = host.ledger().request(run, clock::now(), event).map_err(|error| of_ledger(&error))?;
    loop {
        match host.resume(run) {
            Ok(()) => {
                let exit = driving::drive(context, workplace, host)?;
                return match reader.fate(request).map_err(|error| of_ledger(&error))? {
                    RequestFate::Refused(why) => Err(Failure::user(format!("refused: {why}"), hint)),
                    RequestFate::Taken | RequestFate::Waiting => Ok(exit),
                };
            }
            Err(HostError::Lock(LockError::Held { owner, .. })) => {
                tell(&format!("{owner} drives the run and takes the answer"));
                if let Fate::Over(exit) = driving::await_fate(context, workplace, run, request)? {
                    return Ok(exit);
                }
            }
            Err(error) => return Err(driving::of_host(&error)),
        }
    }
}

/// The open gate that is meant.
fn find(reader: &Reader, name: &str) -> Result<GateRow, Failure> {
    let open = reader.open_gates().map_err(|error| of_ledger(&error))?;
    let (run, command) = name.rsplit_once('/').unwrap_or((name, ""));
    let row = reader.run(run).map_err(|error| of_ledger(&error))?;
    let mut gates: Vec<GateRow> = open
        .into_iter()
        .filter(|gate| gate.run == row.run && (command.is_empty() || gate.command == command))
        .collect();
    match (gates.pop(), gates.len()) {
        (Some(gate), 0) => Ok(gate),
        (None, _) => Err(Failure::user(
            format!("no gate of run {} waits", row.run),
            "`remand gates` lists those that do",
        )),
        (Some(last), _) => {
            gates.push(last);
            let names: Vec<String> =
                gates.iter().map(|gate| format!("{}/{}", gate.run, gate.command)).collect();
            let what = format!("run {} waits at several gates", row.run);
            Err(Failure::user(what, format!("name one of {}", names.join(", "))))
        }
    }
}
