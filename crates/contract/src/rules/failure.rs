//! Rules for findings reports: they match the facts about the run, and cite a part of the design.

use super::super::expectation::{Expectation, FailureFacts};
use super::super::problem::ContractProblem;
use super::super::schema::failure::FindingsReport;
use remand_documents::DesignDocument;
use serde::Serialize;

pub(super) fn report(it: &FindingsReport, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = Vec::new();
    if let Some(FailureFacts { revision, producer, trigger }) = &expected.known.blocked {
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

fn quoted(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    format!("`{}`", value.as_str().unwrap_or_default())
}
