//! Rules for plans: known and acyclic dependencies, paths inside the work tree, and pointers that resolve.

use super::super::expectation::Expectation;
use super::super::pointers::Pointer;
use super::super::problem::{ContractProblem, one_of};
use super::super::schema::plan::{PlanPayload, PlannedTask};
use super::super::waves::waves;
use super::{design, unique};
use std::path::{Component, Path};

pub(super) fn plan(it: &PlanPayload, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = tasks(&it.tasks, expected);
    problems.extend(design::decisions(&it.decisions));
    problems
}

/// The rules of every list of tasks.
pub(super) fn tasks(all: &[PlannedTask], expected: &Expectation) -> Vec<ContractProblem> {
    let ids = all.iter().enumerate();
    let mut problems = unique(ids.map(|(at, task)| (format!("payload.tasks[{at}].id"), task.id.as_str())));
    for (at, one) in all.iter().enumerate() {
        let path = format!("payload.tasks[{at}]");
        problems.extend(task(one, &path, expected));
        for (on, id) in one.depends_on.iter().enumerate() {
            let others = || all.iter().map(|task| task.id.as_str()).filter(|other| *other != one.id);
            if !others().any(|other| other == id) {
                let path = format!("{path}.depends_on[{on}]");
                problems.push(ContractProblem::new(path, one_of(others()), format!("`{id}`")));
            }
        }
    }
    if let Err(circular) = waves(all) {
        problems.push(ContractProblem::new(
            "payload.tasks",
            "dependencies without a cycle",
            circular.to_string(),
        ));
    }
    problems
}

pub(super) fn task(it: &PlannedTask, path: &str, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = Vec::new();
    let criteria = it.acceptance_criteria.iter().enumerate();
    problems.extend(unique(
        criteria.map(|(at, one)| (format!("{path}.acceptance_criteria[{at}].id"), one.id.0.as_str())),
    ));
    let files = it.files.iter().enumerate();
    problems
        .extend(unique(files.map(|(at, file)| (format!("{path}.files[{at}].path"), file.path.0.as_str()))));
    for (at, file) in it.files.iter().enumerate() {
        if !is_inside(&file.path.0) {
            let expected = "a relative path inside the work tree";
            problems.push(ContractProblem::new(
                format!("{path}.files[{at}].path"),
                expected,
                format!("`{}`", file.path.0),
            ));
        }
    }
    for (at, text) in it.relevant_context.iter().enumerate() {
        let place = format!("{path}.relevant_context[{at}]");
        match Pointer::parse(text) {
            Err(error) => problems.push(ContractProblem::new(
                place,
                "a pointer such as `design#payload.decisions[id='D-8']`",
                format!("`{text}`: {error}"),
            )),
            Ok(pointer) => {
                let resolved = expected.known.documents.as_ref().map(|documents| pointer.resolve(documents));
                if let Some(Err(error)) = resolved {
                    problems.push(ContractProblem::new(
                        place,
                        "a pointer that resolves",
                        format!("`{text}`: {error}"),
                    ));
                }
            }
        }
    }
    problems
}

fn is_inside(path: &str) -> bool {
    !path.contains('\n')
        && Path::new(path).components().all(|part| match part {
            Component::Normal(_) | Component::CurDir => true,
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => false,
        })
}
