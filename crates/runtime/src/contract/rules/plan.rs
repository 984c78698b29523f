//! Plans: known and acyclic dependencies, sizes that fit the risk, paths inside the tree, pointers that lead somewhere.

use super::super::expectation::Expectation;
use super::super::pointers::Pointer;
use super::super::problem::{Problem, one_of};
use super::super::schema::plan::{Plan, Task};
use super::super::waves::waves;
use super::{design, unique};
use std::path::{Component, Path};

pub(super) fn plan(it: &Plan, expected: &Expectation) -> Vec<Problem> {
    let mut problems = tasks(&it.tasks, expected);
    problems.extend(design::decisions(&it.decisions));
    problems
}

/// The rules of every list of tasks.
pub(super) fn tasks(all: &[Task], expected: &Expectation) -> Vec<Problem> {
    let ids = all.iter().enumerate();
    let mut problems = unique(ids.map(|(at, task)| (format!("payload.tasks[{at}].id"), task.id.as_str())));
    for (at, one) in all.iter().enumerate() {
        let path = format!("payload.tasks[{at}]");
        problems.extend(task(one, &path, expected));
        for (on, id) in one.depends_on.iter().enumerate() {
            let others = || all.iter().map(|task| task.id.as_str()).filter(|other| *other != one.id);
            if !others().any(|other| other == id) {
                let path = format!("{path}.depends_on[{on}]");
                problems.push(Problem::new(path, one_of(others()), format!("`{id}`")));
            }
        }
    }
    if let Err(circular) = waves(all) {
        problems.push(Problem::new("payload.tasks", "dependencies without a circle", circular.to_string()));
    }
    problems
}

pub(super) fn task(it: &Task, path: &str, expected: &Expectation) -> Vec<Problem> {
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
            let expected = "a path inside the work tree, relative to it";
            problems.push(Problem::new(
                format!("{path}.files[{at}].path"),
                expected,
                format!("`{}`", file.path.0),
            ));
        }
    }
    for (at, text) in it.relevant_context.iter().enumerate() {
        let place = format!("{path}.relevant_context[{at}]");
        match Pointer::parse(text) {
            Err(error) => problems.push(Problem::new(
                place,
                "a pointer as in `design#payload.decisions[id='D-8']`",
                format!("`{text}`: {error}"),
            )),
            Ok(pointer) => {
                let resolved = expected.known.documents.as_ref().map(|documents| pointer.resolve(documents));
                if let Some(Err(error)) = resolved {
                    problems.push(Problem::new(
                        place,
                        "a pointer that leads somewhere",
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
