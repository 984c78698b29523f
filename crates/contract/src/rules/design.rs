//! Rules for specifications and decision records: ids are unique, references are valid, and each decision selects one of
//! its alternatives.

use super::super::problem::{ContractProblem, one_of};
use super::super::schema::decision::DecisionRecord;
use super::super::schema::spec::Spec;
use super::duplicate_ids;

pub(super) fn spec(it: &Spec, verdict: &str) -> Vec<ContractProblem> {
    let requirements = it.requirements.iter().enumerate();
    let mut problems = duplicate_ids(
        requirements.map(|(at, r)| (format!("payload.requirements[{at}].id"), r.id.0.as_str())),
    );
    let criteria = it.acceptance_criteria.iter().enumerate();
    problems.extend(duplicate_ids(
        criteria.map(|(at, c)| (format!("payload.acceptance_criteria[{at}].id"), c.id.0.as_str())),
    ));
    for (at, criterion) in it.acceptance_criteria.iter().enumerate() {
        for (index, covered) in criterion.covers.iter().enumerate() {
            if !it.requirements.iter().any(|requirement| requirement.id.0 == *covered) {
                let known = one_of(it.requirements.iter().map(|requirement| requirement.id.0.as_str()));
                let path = format!("payload.acceptance_criteria[{at}].covers[{index}]");
                problems.push(ContractProblem::new(path, known, format!("`{covered}`")));
            }
        }
    }
    if verdict == "concerns" && it.concerns.is_empty() {
        let expected = "at least one concern, because the verdict is `concerns`";
        problems.push(ContractProblem::new("payload.concerns", expected, "none"));
    }
    problems
}

pub(super) fn decisions(all: &[DecisionRecord]) -> Vec<ContractProblem> {
    let ids = all.iter().enumerate();
    let mut problems =
        duplicate_ids(ids.map(|(at, it)| (format!("payload.decisions[{at}].id"), it.id.as_str())));
    for (at, decision) in all.iter().enumerate() {
        let path = format!("payload.decisions[{at}]");
        let alternatives = decision.alternatives.iter().enumerate();
        problems.extend(duplicate_ids(
            alternatives.map(|(index, it)| (format!("{path}.alternatives[{index}].id"), it.id.0.as_str())),
        ));
        let ids = || decision.alternatives.iter().map(|it| it.id.0.as_str());
        if !ids().any(|id| id == decision.selected.0) {
            let found = format!("`{}`", decision.selected.0);
            problems.push(ContractProblem::new(format!("{path}.selected"), one_of(ids()), found));
        }
    }
    problems
}
