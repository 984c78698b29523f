//! Gates, and the answers that a client may give.
//!
//! An answer is bound to the gate and to the question as the client saw it. Attempts that are refused are recorded.

use super::call::ToolCall;
use super::runs::continue_run;
use super::site::{McpSite, asker, run_of};
use crate::answering::{self, HumanAnswer};
use crate::gate;
use crate::host;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_engine::store::Store;
use remand_kernel::Event;
use remand_kernel::event::Grants;
use remand_ledger::Reader;
use remand_ledger::query::GateRow;
use remand_terminal::CommandFailure;
use serde_json::{Value, json};

/// The open gates.
pub fn gates(call: &ToolCall<'_>) -> Result<Value, CommandFailure> {
    let workplace = call.site.workplace()?;
    let Some(reader) = workplace.reader_if_any()? else { return Ok(json!({ "gates": [] })) };
    let mut open = reader.open_gates()?;
    if let Some(name) = call.arguments.text("run") {
        let run = run_of(&reader, Some(name))?;
        open.retain(|gate| gate.run == run);
    }
    let gates: Vec<Value> = open.iter().map(|gate| described(call.site, &workplace, gate)).collect();
    Ok(json!({ "gates": gates }))
}

/// A gate as a client sees it.
pub fn described(site: &McpSite, workplace: &Workplace, gate: &GateRow) -> Value {
    let options: Vec<&str> = gate.options.iter().map(|option| option.name.as_str()).collect();
    json!({
        "run": gate.run,
        "gate": gate.command,
        "phase": gate.phase,
        "task": gate.task,
        "question": gate.question,
        "options": options,
        "default": gate.default,
        "mandatory": gate.mandatory,
        "digest": gate.digest().to_string(),
        "you_may_answer": obstacle(site, workplace, gate).is_none(),
        "command_for_the_user": gate::answer_command(gate, std::slice::from_ref(gate)),
    })
}

/// Answers a gate, if the user permits it.
pub fn answer(call: &ToolCall<'_>) -> Result<Value, CommandFailure> {
    let workplace = call.site.workplace()?;
    let reader = workplace.reader()?;
    let gate = find(call, &reader)?;
    let (option, digest) = (call.arguments.required("option")?, call.arguments.required("digest")?);
    let redactor = host::redactor(&workplace.config)?;
    let answer = HumanAnswer {
        option: option.to_string(),
        note: call.arguments.text("note").unwrap_or_default().to_string(),
        flags: Vec::new(),
        grants: Grants::AskedFor,
        by: asker(call.client),
    };
    let changed = (gate.digest().to_string() != digest)
        .then(|| "the question is not the one that was seen; call `gates` again".to_string());
    if let Some(why) = obstacle(call.site, &workplace, &gate).or(changed) {
        record_refusal(&workplace, &gate, &answer, &why)?;
        let hint =
            format!("the user can answer: `{}`", gate::answer_command(&gate, std::slice::from_ref(&gate)));
        return Err(CommandFailure::user(format!("refused, and recorded: {why}"), hint));
    }
    let store = workplace.store()?;
    let request = answering::submit(&store, &reader, &redactor, &gate, &answer)?;
    store.close();
    continue_run(call, &workplace, &gate.run, request)?;
    Ok(
        json!({ "run": gate.run, "gate": gate.command, "option": option, "by": answer.by, "next": "call `wait`" }),
    )
}

/// Why a client may not answer a gate.
fn obstacle(site: &McpSite, workplace: &Workplace, gate: &GateRow) -> Option<String> {
    if gate.mandatory {
        return Some("this gate is asked in every mode, so only a person may answer it".to_string());
    }
    (!site.may_answer(workplace, &gate.phase)).then(|| {
        format!("the user has not named the gate `{}` in `mcp.may-answer` or `--may-answer`", gate.phase)
    })
}

fn find(call: &ToolCall<'_>, reader: &Reader) -> Result<GateRow, CommandFailure> {
    let run = run_of(reader, call.arguments.text("run"))?;
    let mut open = answering::open_gates(reader, &run)?;
    if let Some(id) = call.arguments.text("gate") {
        open.retain(|gate| gate.command == id);
    }
    match (open.pop(), open.len()) {
        (Some(gate), 0) => Ok(gate),
        (None, _) => Err(CommandFailure::user(format!("run {run} has no such open gate"), "call `gates`")),
        (Some(_), _) => {
            Err(CommandFailure::user(format!("run {run} has several open gates"), "name the `gate`"))
        }
    }
}

fn record_refusal(
    workplace: &Workplace,
    gate: &GateRow,
    answer: &HumanAnswer,
    why: &str,
) -> Result<(), CommandFailure> {
    tracing::warn!(run = %gate.run, gate = gate.command, option = answer.option, by = answer.by, why, "answer over MCP refused");
    let Ok(id) = gate.command.parse() else { return Ok(()) };
    let redactor = host::redactor(&workplace.config)?;
    let event = Event::Answered {
        id,
        option: redactor.redact(&answer.option).into_owned(),
        by: answer.by.clone(),
        note: redactor.redact(&answer.note).into_owned(),
        flags: Default::default(),
        grants: answer.grants,
    };
    workplace.ledger()?.record_refusal(&gate.run, clock::now(), &event, why)?;
    Ok(())
}
