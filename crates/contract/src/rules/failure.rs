//! Rules for findings reports: they match the facts about the run, and cite a part of the design.

use super::super::expectation::{Expectation, FailureFacts};
use super::super::problem::{ContractProblem, one_of};
use super::super::schema::failure::FindingsReport;
use remand_documents::DesignDocument;
use serde::Serialize;

pub(super) fn report(it: &FindingsReport, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = Vec::new();
    if let Some(FailureFacts { revision, producer, trigger, attempts }) = &expected.known.blocked {
        problems.extend(invented_attempts(it, attempts));
        if it.revision != u32::from(*revision) {
            problems.push(ContractProblem::new(
                "payload.revision",
                revision.to_string(),
                it.revision.to_string(),
            ));
        }
        if it.produced_by != *producer {
            problems.push(ContractProblem::new(
                "payload.produced_by",
                quoted(producer),
                quoted(&it.produced_by),
            ));
        }
        if let Some(trigger) = trigger.filter(|trigger| *trigger != it.trigger) {
            problems.push(ContractProblem::new("payload.trigger", quoted(&trigger), quoted(&it.trigger)));
        }
    }
    if let Some(design) = &expected.known.design
        && DesignDocument::read(design.as_str()).named_in(&it.root_cause.section.0).is_empty()
    {
        let required = "the id of a decision or the title of a section in the design";
        problems.push(ContractProblem::new(
            "payload.root_cause.section",
            required,
            format!("`{}`", it.root_cause.section.0),
        ));
    }
    problems
}

/// Rows about attempts that the engine did not see.
fn invented_attempts(it: &FindingsReport, attempts: &[u32]) -> Vec<ContractProblem> {
    if attempts.is_empty() {
        return Vec::new();
    }
    let known = one_of(attempts.iter().map(u32::to_string).collect::<Vec<_>>().iter().map(String::as_str));
    let rows = it.iterations.iter().enumerate().filter(|(_, row)| !attempts.contains(&row.number));
    rows.map(|(at, row)| {
        ContractProblem::new(
            format!("payload.iterations[{at}].number"),
            known.clone(),
            row.number.to_string(),
        )
        .with_hint("the iteration log has every attempt at this design; add words about them, not rows")
    })
    .collect()
}

fn quoted(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    format!("`{}`", value.as_str().unwrap_or_default())
}
