//! Vets a change in a process of its own, since its checks may take longer than a call.

use super::call::{POLL, ToolCall};
use super::looks::cut;
use super::site::{asker, started_earlier};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::{Value, json};
use std::time::Instant;

/// The exit codes of a vetting that came to a verdict.
const VERDICTS: [ExitCode; 4] =
    [ExitCode::Done, ExitCode::VetFailed, ExitCode::Unmeasured, ExitCode::Blocked];

pub fn vet(call: &ToolCall<'_>) -> Result<Value, CommandFailure> {
    let workplace = call.site.workplace()?;
    let (id, process) = match call.arguments.text("vet") {
        Some(id) => {
            let process = started_earlier(&workplace, id).ok_or_else(|| {
                CommandFailure::user(format!("there is no vetting {id}"), "start one without `vet`")
            })?;
            (id.to_string(), process)
        }
        None => {
            let by = asker(call.client);
            let mut arguments = vec!["vet", "--by", &by];
            for (name, flag) in [("base", "--base"), ("request", "--request")] {
                if let Some(value) = call.arguments.text(name) {
                    arguments.extend([flag, value]);
                }
            }
            match call.arguments.text("change") {
                Some(change) => arguments.extend(["--", change]),
                None => arguments.push("--uncommitted"),
            }
            call.site.start(&workplace, &arguments)?
        }
    };
    let deadline = Instant::now() + call.patience();
    loop {
        if let Some(exit) = process.exit() {
            let said = std::fs::read_to_string(&process.stdout).unwrap_or_default();
            // With other exit codes, the JSON describes an error.
            let is_judged = VERDICTS.iter().any(|code| i32::from(code.number()) == exit);
            return match serde_json::from_str::<Value>(&said) {
                Ok(report) if is_judged => {
                    Ok(json!({ "vet": id, "done": true, "exit": exit, "report": report }))
                }
                Ok(_) | Err(_) => {
                    let error = std::fs::read_to_string(&process.stderr).unwrap_or_default();
                    let error = if error.trim().is_empty() { said } else { error };
                    let what = format!("the change was not judged (exit code {exit})");
                    Err(CommandFailure::user(what, "").caused_by(cut(error)))
                }
            };
        }
        if Instant::now() >= deadline {
            return Ok(json!({ "vet": id, "done": false, "next": "call `vet` with this id" }));
        }
        std::thread::sleep(POLL);
    }
}
