//! Rules that a JSON Schema cannot express, because they relate several parts of a result. Each rule reports all
//! violations.

mod design;
mod document;
mod failure;
mod findings;
mod header;
mod plan;
mod rounds;
mod split;
mod verification;

pub(super) use findings::findings;
pub(super) use header::{header, status};

use super::expectation::{ApproachRule, Expectation};
use super::payload::Payload;
use super::problem::ContractProblem;
use std::collections::BTreeSet;

/// Checks the rules for one payload.
pub(super) fn payload(payload: &Payload, verdict: &str, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = match payload {
        Payload::Spec(it) => design::spec(it, verdict),
        Payload::Design(it) => design::decisions(&it.decisions),
        Payload::Plan(it) => plan::plan(it, verdict, expected),
        Payload::Split(it) => split::split(it, expected),
        Payload::Task(it) => plan::task(&it.task, "payload.task", expected),
        Payload::Verification(it) => verification::verification(it, verdict, expected),
        Payload::Verdict(it) => verification::verdict(&it.criteria, verdict, expected),
        Payload::Failure(it) => failure::report(it, expected),
        Payload::Prose(it) => document::design(it, verdict, expected),
        Payload::Inventory(it) => rounds::inventory(it, verdict),
        Payload::Proposals(it) => rounds::proposals(it, verdict, expected),
        Payload::GapReview(it) => rounds::review(it, verdict, expected),
        Payload::Completion(_)
        | Payload::Research(_)
        | Payload::Implementation(_)
        | Payload::Review(_)
        | Payload::Knowledge(_)
        | Payload::Finding(_)
        | Payload::Diagnosis(_) => Vec::new(),
    };
    problems.extend(findings::disputes(&payload.disputes(), expected));
    match expected.approach {
        ApproachRule::Stated if payload.approach().is_none() => {
            let expected = "the core idea of the design: `text` and the ids of its `decisions`";
            problems.push(ContractProblem::new("payload.approach", expected, "nothing"));
        }
        ApproachRule::Stated | ApproachRule::NotAsked => {}
    }
    problems
}

/// A problem for each duplicate id.
fn duplicate_ids<'a>(ids: impl IntoIterator<Item = (String, &'a str)>) -> Vec<ContractProblem> {
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    for (path, id) in ids {
        if !seen.insert(id) {
            problems.push(ContractProblem::new(
                path,
                "an id that is unique in the list",
                format!("`{id}` again"),
            ));
        }
    }
    problems
}
