//! The inputs from the run's ticket: the ticket itself, attempts, failed approaches, and the trigger of the findings.

use super::prompt::Input;
use crate::pinned::PinnedRole;
use crate::site::{Job, Trouble};
use crate::ticket::TicketRun;
use remand_contract::{SchemaId, to_yaml};
use serde_json::json;
use std::path::Path;

/// Writes the inputs into `folder` and returns the new ones.
pub fn write(
    job: &Job,
    role: &PinnedRole,
    ticket_run: &TicketRun,
    folder: &Path,
) -> Result<Vec<Input>, Trouble> {
    // The run's version of the ticket replaces the version of the base commit.
    let ticket_file = folder.join(format!("{}.md", job.program.subject));
    std::fs::write(ticket_file, job.site.redact(&ticket_run.ticket()))?;
    let mut inputs = Vec::new();
    let mut put = |about: &str, name: &str, text: String| -> Result<(), Trouble> {
        let path = folder.join(name);
        std::fs::write(&path, job.site.redact(&text))?;
        inputs.push(Input { about: about.to_string(), path });
        Ok(())
    };
    let attempts = ticket_run.attempts();
    if !attempts.is_empty() {
        put("all attempts so far, with the engine's observations", "iteration-log.md", attempts)?;
    }
    if !job.state.approaches.is_empty() {
        let lines = job.state.approaches.iter().enumerate().map(|(index, approach)| {
            let decisions = if approach.decisions.is_empty() {
                String::new()
            } else {
                format!(" ({})", approach.decisions.join(", "))
            };
            format!("{}. {}{decisions}\n", index + 1, approach.text)
        });
        put(
            "approaches that failed before; do not propose them again",
            "failed-approaches.md",
            lines.collect(),
        )?;
    }
    if role.result == SchemaId::FindingsReport.name() {
        let cause = ticket_run.history.cause.as_ref();
        let blocked = json!({
            "revision": ticket_run.history.count + 1,
            "revisions_possible": ticket_run.history.cap,
            "produced_by": cause.map(|cause| cause.producer),
            "trigger": cause.and_then(|cause| cause.trigger),
            "why": cause.map(|cause| cause.why.as_str()),
            "failed_before": ticket_run.history.matched,
        });
        put("what triggered these findings, according to the engine", "trigger.yaml", to_yaml(&blocked))?;
    }
    Ok(inputs)
}
