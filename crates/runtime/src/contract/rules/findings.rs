//! Findings: unique, complete by the role's contract, of known origin, and in agreement with the verdict.

use super::super::expectation::{Expectation, FindingField, FindingsRule};
use super::super::problem::{Problem, one_of};
use super::super::schema::SchemaId;
use super::super::schema::finding::Finding;
use super::super::schema::header::Said;
use super::super::schema::implementation::Implementation;
use super::super::schema::words::{Category, Severity};
use super::unique;

pub(in crate::contract) fn findings(said: &Said, verdict: &str, expected: &Expectation) -> Vec<Problem> {
    let path = |at: usize| format!("payload.findings[{at}]");
    let ids = said.findings.iter().enumerate().map(|(at, it)| (format!("{}.id", path(at)), it.id.0.as_str()));
    let mut problems = unique(ids);
    for (at, finding) in said.findings.iter().enumerate() {
        problems.extend(complete(finding, &path(at), expected));
        problems.extend(origins(finding, &path(at), expected));
    }
    problems.extend(agreement(said, verdict, expected));
    if !expected.sets.is_empty() {
        let unknown = said.flags.keys().filter(|flag| !expected.sets.contains(flag));
        problems.extend(unknown.map(|flag| {
            let known = one_of(expected.sets.iter().map(String::as_str));
            Problem::new(format!("payload.flags.{flag}"), known, format!("`{flag}`"))
        }));
    }
    problems
}

/// A dispute names a finding that was sent.
pub(super) fn disputes(report: &Implementation, expected: &Expectation) -> Vec<Problem> {
    let Some(sent) = &expected.known.findings else { return Vec::new() };
    let unknown =
        report.disputes.iter().enumerate().filter(|(_, dispute)| !sent.contains(&dispute.finding.0));
    unknown
        .map(|(at, dispute)| {
            let known = if sent.is_empty() {
                "no dispute, since no finding was sent".to_string()
            } else {
                one_of(sent.iter().map(String::as_str))
            };
            Problem::new(format!("payload.disputes[{at}].finding"), known, format!("`{}`", dispute.finding.0))
        })
        .collect()
}

fn complete(finding: &Finding, path: &str, expected: &Expectation) -> Vec<Problem> {
    let needs = match &expected.findings {
        FindingsRule::NotAsked => return Vec::new(),
        FindingsRule::Reports { needs } => needs,
    };
    let lacks = |field: &FindingField| match field {
        FindingField::Kind => finding.kind.is_none(),
        FindingField::InjectedBy => finding.injected_by.is_empty(),
        FindingField::Place => !finding.place.is_given(),
        FindingField::Evidence => finding.evidence.trim().is_empty(),
        FindingField::Impact => finding.impact.trim().is_empty(),
        FindingField::Recommendation => finding.recommendation.trim().is_empty(),
    };
    let asked = |field: FindingField| match field {
        FindingField::Kind => "one of `plan`, `test`, `production`, `cosmetic`",
        FindingField::InjectedBy => "the phases that brought the defect in",
        FindingField::Place => "where it is: `file`, and `symbol` or `line`",
        FindingField::Evidence => "what shows it",
        FindingField::Impact => "what happens because of it",
        FindingField::Recommendation => "what to do instead",
    };
    let missing = needs.iter().filter(|field| lacks(field));
    missing.map(|field| Problem::new(format!("{path}.{}", field.name()), asked(*field), "nothing")).collect()
}

fn origins(finding: &Finding, path: &str, expected: &Expectation) -> Vec<Problem> {
    if expected.injects.is_empty() {
        return Vec::new();
    }
    let unknown =
        finding.injected_by.iter().enumerate().filter(|(_, phase)| !expected.injects.contains(phase));
    unknown
        .map(|(at, phase)| {
            let known = one_of(expected.injects.iter().map(String::as_str));
            Problem::new(format!("{path}.injected_by[{at}]"), known, format!("`{phase}`"))
        })
        .collect()
}

/// A diagnosis has no happy verdict, so nothing to agree with.
fn agreement(said: &Said, verdict: &str, expected: &Expectation) -> Vec<Problem> {
    let mut problems = Vec::new();
    let happy = expected.says.first().map(String::as_str) == Some(verdict);
    let reports = expected.findings != FindingsRule::NotAsked;
    if expected.schema == SchemaId::Diagnosis {
        return problems;
    }
    if !happy && reports && said.findings.is_empty() {
        let expected = format!("at least one finding, since the verdict is `{verdict}`");
        problems.push(Problem::new("payload.findings", expected, "none"));
    }
    if happy {
        let blockers = said.findings.iter().enumerate().filter(|(_, it)| is_plain_blocker(it));
        problems.extend(blockers.map(|(at, _)| {
            let expected = format!("no blocker of your own beside the verdict `{verdict}`");
            Problem::new(format!("payload.findings[{at}].severity"), expected, "`blocker`")
                .hinting("change the verdict, or the severity if the work can go on with it")
        }));
    }
    problems
}

/// A security blocker always counts, whatever the verdict, and is never sent back to be thought over.
fn is_plain_blocker(finding: &Finding) -> bool {
    finding.severity == Severity::Blocker && finding.category != Category::Security
}
