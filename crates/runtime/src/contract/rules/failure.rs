//! Findings about a design: they say what the engine knows, and cite something that is in the design (DR-07).

use super::super::expectation::{Blocked, Expectation};
use super::super::problem::Problem;
use super::super::schema::failure::FindingsReport;
use remand_documents::Design;
use serde::Serialize;

pub(super) fn report(it: &FindingsReport, expected: &Expectation) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some(Blocked { revision, producer, trigger }) = &expected.known.blocked {
        if it.revision != u32::from(*revision) {
            problems.push(Problem::new("payload.revision", revision.to_string(), it.revision.to_string()));
        }
        if it.produced_by != *producer {
            problems.push(Problem::new("payload.produced_by", word(producer), word(&it.produced_by)));
        }
        if let Some(trigger) = trigger.filter(|trigger| *trigger != it.trigger) {
            problems.push(Problem::new("payload.trigger", word(&trigger), word(&it.trigger)));
        }
    }
    if let Some(design) = &expected.known.design
        && Design::read(design.as_str()).named_in(&it.root_cause.section.0).is_empty()
    {
        let asked = "the id of a decision or the title of a section of the design";
        problems.push(Problem::new(
            "payload.root_cause.section",
            asked,
            format!("`{}`", it.root_cause.section.0),
        ));
    }
    problems
}

fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    format!("`{}`", value.as_str().unwrap_or_default())
}
