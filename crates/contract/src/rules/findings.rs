//! Rules for findings: they are unique, have the fields that the contract requires, name known origins, and match the
//! verdict.

use super::super::expectation::{DISPUTED, Expectation, FindingField, FindingsRule};
use super::super::problem::{ContractProblem, one_of};
use super::super::schema::SchemaId;
use super::super::schema::finding::ReportedFinding;
use super::super::schema::header::CommonPayload;
use super::super::schema::implementation::Dispute;
use super::super::schema::words::{ReportedCategory, ReportedSeverity};
use super::duplicate_ids;

pub(crate) fn findings(
    common: &CommonPayload,
    verdict: &str,
    expected: &Expectation,
) -> Vec<ContractProblem> {
    let path = |at: usize| format!("payload.findings[{at}]");
    let ids =
        common.findings.iter().enumerate().map(|(at, it)| (format!("{}.id", path(at)), it.id.0.as_str()));
    let mut problems = duplicate_ids(ids);
    for (at, finding) in common.findings.iter().enumerate() {
        problems.extend(missing_fields(finding, &path(at), expected));
        problems.extend(unknown_origins(finding, &path(at), expected));
        problems.extend(unknown_repetition(finding, &path(at), expected));
    }
    problems.extend(contradictions(common, verdict, expected));
    if !expected.sets.is_empty() {
        let unknown = common.flags.keys().filter(|flag| !expected.sets.contains(flag));
        problems.extend(unknown.map(|flag| {
            let known = one_of(expected.sets.iter().map(String::as_str));
            ContractProblem::new(format!("payload.flags.{flag}"), known, format!("`{flag}`"))
        }));
    }
    problems
}

/// A dispute must name a finding that the role received.
pub(super) fn disputes(disputes: &[Dispute], expected: &Expectation) -> Vec<ContractProblem> {
    let Some(received) = &expected.known.findings else { return Vec::new() };
    let unknown = disputes.iter().enumerate().filter(|(_, dispute)| !received.contains(&dispute.finding.0));
    unknown
        .map(|(at, dispute)| {
            let known = if received.is_empty() {
                "no dispute, because you received no finding".to_string()
            } else {
                one_of(received.iter().map(String::as_str))
            };
            ContractProblem::new(
                format!("payload.disputes[{at}].finding"),
                known,
                format!("`{}`", dispute.finding.0),
            )
        })
        .collect()
}

fn missing_fields(finding: &ReportedFinding, path: &str, expected: &Expectation) -> Vec<ContractProblem> {
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
    let description = |field: FindingField| match field {
        FindingField::Kind => "one of `plan`, `test`, `production`, `cosmetic`",
        FindingField::InjectedBy => "the phases that introduced the defect",
        FindingField::Place => "the location: `file`, and `symbol` or `line`",
        FindingField::Evidence => "evidence of the defect",
        FindingField::Impact => "the consequences of the defect",
        FindingField::Recommendation => "what to do instead",
    };
    let missing = needs.iter().filter(|field| lacks(field));
    missing
        .map(|field| ContractProblem::new(format!("{path}.{}", field.name()), description(*field), "nothing"))
        .collect()
}

fn unknown_origins(finding: &ReportedFinding, path: &str, expected: &Expectation) -> Vec<ContractProblem> {
    if expected.injects.is_empty() {
        return Vec::new();
    }
    let unknown =
        finding.injected_by.iter().enumerate().filter(|(_, phase)| !expected.injects.contains(phase));
    unknown
        .map(|(at, phase)| {
            let known = one_of(expected.injects.iter().map(String::as_str));
            ContractProblem::new(format!("{path}.injected_by[{at}]"), known, format!("`{phase}`"))
        })
        .collect()
}

/// A finding that repeats an earlier one names its id. An unknown id would hide the repetition.
fn unknown_repetition(
    finding: &ReportedFinding,
    path: &str,
    expected: &Expectation,
) -> Option<ContractProblem> {
    let reported = expected.known.reported.as_ref()?;
    let id = finding.repeats.as_deref().filter(|id| !id.is_empty())?;
    let known = if reported.is_empty() {
        "nothing, because no finding was reported before".to_string()
    } else {
        one_of(reported.iter().map(String::as_str))
    };
    let is_unknown = !reported.iter().any(|other| other == id);
    is_unknown.then(|| ContractProblem::new(format!("{path}.repeats"), known, format!("`{id}`")))
}

/// The verdict must match the findings. A diagnosis has no success verdict, so nothing can contradict it.
fn contradictions(common: &CommonPayload, verdict: &str, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = Vec::new();
    let is_success = expected.says.first().map(String::as_str) == Some(verdict);
    let reports_findings = expected.findings != FindingsRule::NotAsked;
    if expected.schema == SchemaId::Diagnosis {
        return problems;
    }
    // A plan that disputes a finding reports no other.
    if !is_success && verdict != DISPUTED && reports_findings && common.findings.is_empty() {
        let expected = format!("at least one finding, because the verdict is `{verdict}`");
        problems.push(ContractProblem::new("payload.findings", expected, "none"));
    }
    if is_success {
        let blockers = common.findings.iter().enumerate().filter(|(_, it)| is_ordinary_blocker(it));
        problems.extend(blockers.map(|(at, _)| {
            let expected = format!("no blocker, because the verdict is `{verdict}`");
            ContractProblem::new(format!("payload.findings[{at}].severity"), expected, "`blocker`")
                .with_hint("change the verdict, or lower the severity if the work can continue")
        }));
    }
    problems
}

/// Whether a finding is a blocker but not a security blocker. A security blocker counts whatever the verdict, so it
/// never contradicts the verdict.
fn is_ordinary_blocker(finding: &ReportedFinding) -> bool {
    finding.severity == ReportedSeverity::Blocker && finding.category != ReportedCategory::Security
}
