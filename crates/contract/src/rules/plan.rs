//! Rules for plans: dependencies are known and have no cycle, paths are inside the work tree, and pointers resolve.

use super::super::expectation::Expectation;
use super::super::pointers::Pointer;
use super::super::problem::{ContractProblem, one_of};
use super::super::schema::plan::{PlanPayload, PlannedTask};
use super::super::waves::waves;
use super::{design, duplicate_ids};
use std::path::{Component, Path};

pub(super) fn plan(it: &PlanPayload, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = tasks(&it.tasks, expected);
    problems.extend(design::decisions(&it.decisions));
    problems
}

/// Checks the rules for any list of tasks.
pub(super) fn tasks(all: &[PlannedTask], expected: &Expectation) -> Vec<ContractProblem> {
    let ids = all.iter().enumerate();
    let mut problems =
        duplicate_ids(ids.map(|(at, task)| (format!("payload.tasks[{at}].id"), task.id.as_str())));
    for (at, one) in all.iter().enumerate() {
        let path = format!("payload.tasks[{at}]");
        problems.extend(task(one, &path, expected));
        for (index, id) in one.depends_on.iter().enumerate() {
            let others = || all.iter().map(|task| task.id.as_str()).filter(|other| *other != one.id);
            if !others().any(|other| other == id) {
                let path = format!("{path}.depends_on[{index}]");
                problems.push(ContractProblem::new(path, one_of(others()), format!("`{id}`")));
            }
        }
    }
    if let Err(cycle) = waves(all) {
        problems.push(ContractProblem::new(
            "payload.tasks",
            "dependencies without a cycle",
            cycle.to_string(),
        ));
    }
    problems
}

pub(super) fn task(it: &PlannedTask, path: &str, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = Vec::new();
    let criteria = it.acceptance_criteria.iter().enumerate();
    problems.extend(duplicate_ids(
        criteria.map(|(at, one)| (format!("{path}.acceptance_criteria[{at}].id"), one.id.0.as_str())),
    ));
    let files = it.files.iter().enumerate();
    problems.extend(duplicate_ids(
        files.map(|(at, file)| (format!("{path}.files[{at}].path"), file.path.0.as_str())),
    ));
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
        let pointer_path = format!("{path}.relevant_context[{at}]");
        match Pointer::parse(text) {
            Err(error) => problems.push(ContractProblem::new(
                pointer_path,
                "a pointer such as `design#payload.decisions[id='D-8']`",
                format!("`{text}`: {error}"),
            )),
            Ok(pointer) => {
                let resolved = expected.known.documents.as_ref().map(|documents| pointer.resolve(documents));
                if let Some(Err(error)) = resolved {
                    problems.push(ContractProblem::new(
                        pointer_path,
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
