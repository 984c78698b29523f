//! Vets a change in a process of its own, since its checks may take longer than a call.

use super::call::{POLL, ToolCall};
use super::looks::cut;
use super::site::{asker, job_folder};
use remand_process::DetachedProcess;
use remand_terminal::CommandFailure;
use serde_json::{Value, json};
use std::time::Instant;

pub fn vet(call: &ToolCall<'_>) -> Result<Value, CommandFailure> {
    let workplace = call.site.workplace()?;
    let (id, process) = match call.arguments.text("vet") {
        Some(id) => {
            let is_known = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            let folder = job_folder(&workplace, id);
            if !is_known || !folder.is_dir() {
                return Err(CommandFailure::user(
                    format!("there is no vetting {id}"),
                    "start one without `vet`",
                ));
            }
            (id.to_string(), DetachedProcess::in_folder(&folder))
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
            return match serde_json::from_str::<Value>(&said) {
                Ok(report) => Ok(json!({ "vet": id, "done": true, "exit": exit, "report": report })),
                Err(_) => {
                    let error = std::fs::read_to_string(&process.stderr).unwrap_or_default();
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
