//! Rules for specifications and decision records: unique ids, valid references, and a choice among the alternatives.

use super::super::problem::{ContractProblem, one_of};
use super::super::schema::decision::DecisionRecord;
use super::super::schema::spec::Spec;
use super::unique;

pub(super) fn spec(it: &Spec, verdict: &str) -> Vec<ContractProblem> {
    let requirements = it.requirements.iter().enumerate();
    let mut problems =
        unique(requirements.map(|(at, r)| (format!("payload.requirements[{at}].id"), r.id.0.as_str())));
    let criteria = it.acceptance_criteria.iter().enumerate();
    problems.extend(unique(
        criteria.map(|(at, c)| (format!("payload.acceptance_criteria[{at}].id"), c.id.0.as_str())),
    ));
    for (at, criterion) in it.acceptance_criteria.iter().enumerate() {
        for (on, covered) in criterion.covers.iter().enumerate() {
            if !it.requirements.iter().any(|requirement| requirement.id.0 == *covered) {
                let known = one_of(it.requirements.iter().map(|requirement| requirement.id.0.as_str()));
                let path = format!("payload.acceptance_criteria[{at}].covers[{on}]");
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
    let mut problems = unique(ids.map(|(at, it)| (format!("payload.decisions[{at}].id"), it.id.as_str())));
    for (at, decision) in all.iter().enumerate() {
        let path = format!("payload.decisions[{at}]");
        let alternatives = decision.alternatives.iter().enumerate();
        problems.extend(unique(
            alternatives.map(|(on, it)| (format!("{path}.alternatives[{on}].id"), it.id.0.as_str())),
        ));
        let weighed = || decision.alternatives.iter().map(|it| it.id.0.as_str());
        if !weighed().any(|id| id == decision.selected.0) {
            let found = format!("`{}`", decision.selected.0);
            problems.push(ContractProblem::new(format!("{path}.selected"), one_of(weighed()), found));
        }
    }
    problems
}
