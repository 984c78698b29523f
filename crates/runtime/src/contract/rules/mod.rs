//! The rules that a JSON Schema cannot state: what must agree with what. Each says all that it finds.

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

use super::content::Content;
use super::expectation::{ApproachRule, Expectation};
use super::problem::Problem;
use std::collections::BTreeSet;

/// The rules of one payload.
pub(super) fn payload(content: &Content, verdict: &str, expected: &Expectation) -> Vec<Problem> {
    let mut problems = match content {
        Content::Spec(it) => design::spec(it, verdict),
        Content::Design(it) => design::decisions(&it.decisions),
        Content::Plan(it) => plan::plan(it, expected),
        Content::Split(it) => split::split(it, expected),
        Content::Task(it) => plan::task(&it.task, "payload.task", expected),
        Content::Implementation(it) => findings::disputes(it, expected),
        Content::Verification(it) => verification::verification(it, verdict, expected),
        Content::Verdict(it) => verification::verdict(&it.criteria, verdict, expected),
        Content::Failure(it) => failure::report(it, expected),
        Content::Prose(it) => document::design(it, verdict, expected),
        Content::Inventory(it) => rounds::inventory(it, verdict),
        Content::Proposals(it) => rounds::proposals(it, verdict, expected),
        Content::GapReview(it) => rounds::review(it, verdict, expected),
        Content::Completion(_)
        | Content::Research(_)
        | Content::Review(_)
        | Content::Knowledge(_)
        | Content::Finding(_)
        | Content::Diagnosis(_) => Vec::new(),
    };
    match expected.approach {
        ApproachRule::Stated if content.approach().is_none() => {
            let expected = "what the design does in its core: `text` and the ids of its `decisions`";
            problems.push(Problem::new("payload.approach", expected, "nothing"));
        }
        ApproachRule::Stated | ApproachRule::NotAsked => {}
    }
    problems
}

/// A problem for each id that is there twice.
fn unique<'a>(ids: impl IntoIterator<Item = (String, &'a str)>) -> Vec<Problem> {
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    for (path, id) in ids {
        if !seen.insert(id) {
            problems.push(Problem::new(
                path,
                "an id that nothing else in the list has",
                format!("`{id}` again"),
            ));
        }
    }
    problems
}
