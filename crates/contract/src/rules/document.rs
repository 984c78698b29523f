//! Rules for design documents: the required parts are present, and a delta changes only what the findings cite.

use super::super::expectation::{ApproachRule, CitedSections, Expectation};
use super::super::problem::ContractProblem;
use super::super::schema::document::DocumentPayload;
use super::duplicate_ids;
use remand_documents::{Delta, DesignDecision, DesignDocument};

const MARKDOWN_PATH: &str = "payload.markdown";

pub(super) fn design(it: &DocumentPayload, verdict: &str, expected: &Expectation) -> Vec<ContractProblem> {
    let is_success = expected.says.first().map(String::as_str) == Some(verdict);
    if expected.approach != ApproachRule::Stated || !is_success {
        return Vec::new();
    }
    let design = DesignDocument::read(it.markdown.0.as_str());
    let mut problems = check_parts(&design, expected);
    let decisions = design.decisions();
    let exists = |id: &String| decisions.iter().any(|decision| decision.id == *id);
    let cited = it.approach.iter().flat_map(|approach| &approach.decisions).enumerate();
    problems.extend(cited.filter(|(_, id)| !exists(id)).map(|(at, id)| {
        ContractProblem::new(
            format!("payload.approach.decisions[{at}]"),
            "the id of a decision in the design",
            format!("`{id}`"),
        )
    }));
    if let (Some(before), Some(findings)) = (&expected.known.design, &expected.known.answers) {
        problems.extend(check_delta(&DesignDocument::read(before.as_str()), &design, findings));
        if it.revision_notes.is_empty() {
            problems.push(ContractProblem::new("payload.revision_notes", "a note for each change", "none"));
        }
    }
    problems
}

fn check_parts(design: &DesignDocument, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = Vec::new();
    if design.approach().is_none() {
        let required = "a section `Approach` with one paragraph";
        problems.push(ContractProblem::new(MARKDOWN_PATH, required, "none"));
    }
    let decisions = design.decisions();
    if decisions.is_empty() {
        problems.push(ContractProblem::new(
            MARKDOWN_PATH,
            "decisions under headings such as `DD-0079-001: One clock`",
            "none",
        ));
    }
    problems.extend(duplicate_ids(
        decisions.iter().map(|decision| (MARKDOWN_PATH.to_string(), decision.id.as_str())),
    ));
    for decision in &decisions {
        problems.extend(check_decision(decision, expected));
    }
    problems
}

fn check_decision(decision: &DesignDecision, expected: &Expectation) -> Vec<ContractProblem> {
    let DesignDecision { id, .. } = decision;
    let mut problems = Vec::new();
    let missing = decision.missing();
    if !missing.is_empty() {
        let required = format!("affects, rationale, alternatives, trade-offs and status of {id}");
        problems.push(ContractProblem::new(MARKDOWN_PATH, required, format!("no {}", missing.join(", no "))));
    }
    if let Some(number) = &expected.known.numbered
        && !id.to_lowercase().starts_with(&format!("dd-{}-", number.to_lowercase()))
    {
        problems.push(ContractProblem::new(
            MARKDOWN_PATH,
            format!("a decision id that begins with `DD-{number}-`"),
            format!("`{id}`"),
        ));
    }
    problems
}

/// The revision must change everything that the findings cite, and nothing else.
fn check_delta(
    before: &DesignDocument,
    after: &DesignDocument,
    findings: &CitedSections,
) -> Vec<ContractProblem> {
    let preserved: Vec<String> =
        findings.preserve.iter().flat_map(|kept| before.decisions_in(kept)).collect();
    let mut cited = before.named_in(&findings.section);
    for id in before.decisions_in(&findings.scope) {
        if !cited.contains(&id) && !preserved.contains(&id) {
            cited.push(id);
        }
    }
    let departures = Delta { cited }.departures(before, after);
    let problem = |departure: String| ContractProblem::new(MARKDOWN_PATH, "a delta of the design", departure);
    departures.into_iter().map(|departure| problem(departure.to_string())).collect()
}
