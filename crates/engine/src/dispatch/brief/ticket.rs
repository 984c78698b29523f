//! The parts of a brief from the run's ticket: attempts, failed approaches, and the trigger of the findings.

use super::{BriefSection, BriefSources, PartList};
use crate::ticket::TicketRun;
use remand_contract::{SchemaId, to_yaml};
use serde_json::json;

pub fn add(sources: &BriefSources<'_>, ticket_run: &TicketRun, parts: &mut PartList<'_>) {
    let about = "all attempts so far, with the engine's observations";
    parts.add(BriefSection::WhatHappened, "iteration-log.md", about, ticket_run.attempts());
    let lines = sources.job.state.approaches.iter().enumerate().map(|(index, approach)| {
        let decisions = if approach.decisions.is_empty() {
            String::new()
        } else {
            format!(" ({})", approach.decisions.join(", "))
        };
        format!("{}. {}{decisions}\n", index + 1, approach.text)
    });
    let about = "approaches that failed before; do not propose them again";
    parts.add(BriefSection::WhatHappened, "failed-approaches.md", about, lines.collect());
    if sources.role.result == SchemaId::FindingsReport.name() {
        let cause = ticket_run.history.cause.as_ref();
        let blocked = json!({
            "revision": ticket_run.history.count + 1,
            "revisions_possible": ticket_run.history.cap,
            "produced_by": cause.map(|cause| cause.producer),
            "trigger": cause.and_then(|cause| cause.trigger),
            "why": cause.map(|cause| cause.why.as_str()),
            "failed_before": ticket_run.history.matched,
        });
        let about = "what triggered these findings, according to the engine";
        parts.add(BriefSection::WhatHappened, "trigger.yaml", about, to_yaml(&blocked));
    }
}
