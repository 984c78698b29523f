//! Rules for judgements of acceptance criteria: every criterion is judged, with a location or an evidence row, and the
//! verdict matches the judgements.

use super::super::expectation::Expectation;
use super::super::problem::{ContractProblem, one_of};
use super::super::schema::verification::{ReportedJudgement, Verification};
use super::duplicate_ids;

/// The maximum number of lines of all smoke commands together.
const MAX_SMOKE_LINES: usize = 5;

pub(super) fn verification(it: &Verification, verdict: &str, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = judgements(&it.criteria, expected);
    problems.extend(contradiction(&it.criteria, verdict, expected));
    let lines: usize = it.smoke.iter().map(|command| command.lines().count().max(1)).sum();
    if lines > MAX_SMOKE_LINES {
        problems.push(ContractProblem::new(
            "payload.smoke",
            format!("at most {MAX_SMOKE_LINES} lines"),
            format!("{lines}"),
        ));
    }
    problems
}

/// A review that judges criteria may accept only if all of them are met.
pub(super) fn verdict(
    all: &[ReportedJudgement],
    verdict: &str,
    expected: &Expectation,
) -> Vec<ContractProblem> {
    let mut problems = judgements(all, expected);
    if expected.known.criteria.is_some() {
        problems.extend(contradiction(all, verdict, expected));
    }
    problems
}

fn contradiction(
    all: &[ReportedJudgement],
    verdict: &str,
    expected: &Expectation,
) -> Option<ContractProblem> {
    let is_success = expected.says.first().map(String::as_str) == Some(verdict);
    let unmet: Vec<&str> =
        all.iter().filter(|one| !one.is_met()).map(|one| one.criterion.0.as_str()).collect();
    (is_success && !unmet.is_empty()).then(|| {
        let found = format!("`{verdict}` with unmet criteria {}", unmet.join(", "));
        ContractProblem::new("payload.verdict", "a verdict that matches the criteria", found)
    })
}

pub(super) fn judgements(all: &[ReportedJudgement], expected: &Expectation) -> Vec<ContractProblem> {
    let ids = all.iter().enumerate();
    let mut problems = duplicate_ids(
        ids.map(|(at, one)| (format!("payload.criteria[{at}].criterion"), one.criterion.0.as_str())),
    );
    for (at, one) in all.iter().enumerate() {
        if one.row().is_none() && !one.place.is_given() {
            let expected = "a `place` or a `row` as proof";
            problems.push(ContractProblem::new(format!("payload.criteria[{at}]"), expected, "neither"));
        }
    }
    let Some(known) = &expected.known.criteria else { return problems };
    for (at, one) in all.iter().enumerate() {
        if !known.contains(&one.criterion.0) {
            let path = format!("payload.criteria[{at}].criterion");
            let found = format!("`{}`", one.criterion.0);
            problems.push(ContractProblem::new(path, one_of(known.iter().map(String::as_str)), found));
        }
    }
    let missing: Vec<&str> = known
        .iter()
        .filter(|id| !all.iter().any(|one| one.criterion.0 == **id))
        .map(String::as_str)
        .collect();
    if !missing.is_empty() {
        let found = format!("none for {}", missing.join(", "));
        problems.push(ContractProblem::new("payload.criteria", "a judgement of every criterion", found));
    }
    problems
}
