//! What a dispatch is given of the ticket that the run is about: the run's copy, attempts, approaches, what led here.

use super::prompt::Input;
use crate::contract::{SchemaId, to_yaml};
use crate::papers::Case;
use crate::pinned::PinnedRole;
use crate::workshop::{Job, Trouble};
use serde_json::json;
use std::path::Path;

/// Writes the inputs into `folder` and tells where each new one is.
pub fn lay_out(job: &Job, role: &PinnedRole, case: &Case, folder: &Path) -> Result<Vec<Input>, Trouble> {
    // The run's copy goes in the place of the ticket as it was.
    let own = folder.join(format!("{}.md", job.program.subject));
    std::fs::write(own, job.site.redact(&case.ticket()))?;
    let mut inputs = Vec::new();
    let mut put = |about: &str, name: &str, text: String| -> Result<(), Trouble> {
        let path = folder.join(name);
        std::fs::write(&path, job.site.redact(&text))?;
        inputs.push(Input { about: about.to_string(), path });
        Ok(())
    };
    let attempts = case.attempts();
    if !attempts.is_empty() {
        put("all attempts so far, with what the engine saw of each", "iteration-log.md", attempts)?;
    }
    if !job.state.approaches.is_empty() {
        let lines = job.state.approaches.iter().enumerate().map(|(at, approach)| {
            let rests = if approach.decisions.is_empty() {
                String::new()
            } else {
                format!(" ({})", approach.decisions.join(", "))
            };
            format!("{}. {}{rests}\n", at + 1, approach.text)
        });
        put(
            "approaches that failed before; none of them may come back",
            "failed-approaches.md",
            lines.collect(),
        )?;
    }
    if role.result == SchemaId::FindingsReport.name() {
        let led = case.history.led.as_ref();
        let blocked = json!({
            "revision": case.history.count + 1,
            "revisions_possible": case.history.cap,
            "produced_by": led.map(|led| led.producer),
            "trigger": led.and_then(|led| led.trigger),
            "why": led.map(|led| led.why.as_str()),
            "failed_before": case.history.matched,
        });
        put("what led to these findings, as the engine knows it", "trigger.yaml", to_yaml(&blocked))?;
    }
    Ok(inputs)
}
