//! Rules for plans: dependencies are known and have no cycle, paths are inside the work tree, and pointers resolve.

use super::super::expectation::{DISPUTED, Expectation};
use super::super::pointers::Pointer;
use super::super::problem::{ContractProblem, one_of};
use super::super::schema::plan::{PlanPayload, PlannedTask};
use super::super::waves::waves;
use super::{design, duplicate_ids};
use std::path::{Component, Path};

pub(super) fn plan(it: &PlanPayload, verdict: &str, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = tasks(&it.tasks, expected);
    problems.extend(design::decisions(&it.decisions));
    problems.extend(constraints(it, verdict, expected));
    problems
}

/// Every finding that binds the plan has an answer: tasks of this plan, or the reason to dispute it.
fn constraints(it: &PlanPayload, verdict: &str, expected: &Expectation) -> Vec<ContractProblem> {
    let binding = &expected.known.constraints;
    let answers = |id: &str| it.constraints.iter().filter(|answer| answer.id.0 == id).count();
    // Several reviewers may choose the same id.
    let given = |id: &str| binding.iter().filter(|other| *other == id).count();
    let mut passed_over: Vec<&str> =
        binding.iter().map(String::as_str).filter(|id| answers(id) < given(id)).collect();
    passed_over.dedup();
    let mut problems = Vec::new();
    if !passed_over.is_empty() {
        let required =
            "for each finding that binds the plan, the tasks that meet it or the reason to dispute it";
        problems.push(ContractProblem::new(
            "payload.constraints",
            required,
            format!("none for {}", passed_over.join(", ")),
        ));
    }
    let can_dispute = expected.says.iter().any(|says| says == DISPUTED);
    for (at, answer) in it.constraints.iter().enumerate() {
        let path = format!("payload.constraints[{at}]");
        if !binding.contains(&answer.id.0) {
            let known = if binding.is_empty() {
                "no answer, because no finding binds the plan".to_string()
            } else {
                one_of(binding.iter().map(String::as_str))
            };
            problems.push(ContractProblem::new(format!("{path}.id"), known, format!("`{}`", answer.id.0)));
        }
        let ids = || it.tasks.iter().map(|task| task.id.as_str());
        for (index, task) in answer.met_by.iter().enumerate().filter(|(_, task)| !ids().any(|id| id == *task))
        {
            let path = format!("{path}.met_by[{index}]");
            problems.push(ContractProblem::new(path, one_of(ids()), format!("`{task}`")));
        }
        let is_disputed = !answer.disputed.trim().is_empty();
        if answer.met_by.is_empty() != is_disputed {
            let required = "either the tasks in `met_by` or the reason in `disputed`";
            let found = if is_disputed { "both" } else { "neither" };
            problems.push(ContractProblem::new(path, required, found));
        } else if is_disputed && !can_dispute {
            problems.push(ContractProblem::new(path, "tasks that meet it in `met_by`", "a dispute"));
        }
    }
    let disputes = it.constraints.iter().any(|answer| !answer.disputed.trim().is_empty());
    if can_dispute && disputes != (verdict == DISPUTED) {
        let required = if disputes {
            format!("`{DISPUTED}`, because the plan disputes a finding that binds it")
        } else {
            format!("another verdict than `{DISPUTED}`, because the plan disputes nothing")
        };
        problems.push(ContractProblem::new("payload.verdict", required, format!("`{verdict}`")));
    }
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
