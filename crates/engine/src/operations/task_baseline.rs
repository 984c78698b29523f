//! The baseline of a task: results on the tree that the task started from, which may contain the work of other tasks.

use super::checking::{Checking, refuse_incomplete};
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::{CheckAction, CheckResult, CheckSpec, FileScope, LeftOut, Selection};
use remand_git::TreeId;
use remand_ledger::Reader;
use remand_ledger::query::CheckRow;
use std::collections::BTreeSet;

/// Number of digits in a shortened tree id.
const SHORT_ID_DIGITS: usize = 12;

/// Results that a task is compared with, in addition to the run's baseline. Empty if the run's baseline is enough.
#[derive(Default)]
pub struct TaskBaseline {
    /// Results that the ledger does not have yet.
    pub results: Vec<CheckResult>,
    /// The tree that the task started from, if it differs from the base of the run.
    pub tree: Option<String>,
    task: Option<String>,
}

/// The task and the checks that a measurement covers.
#[derive(Clone, Copy)]
pub struct TaskScope<'s> {
    pub task: Option<&'s str>,
    pub selection: Selection,
    pub left_out: &'s LeftOut,
}

impl TaskBaseline {
    /// Whether a baseline row of the ledger belongs to a tree that this task is compared with.
    pub fn includes(&self, row: &CheckRow) -> bool {
        let is_on = |tree: &String| row.is_baseline_on(tree);
        row.task.is_none() || (row.task == self.task && self.tree.as_ref().is_some_and(is_on))
    }

    /// Runs the checks that the ledger has no row for, on the tree that the content started from.
    pub fn measure(
        job: &Job,
        content: &LaneContent,
        reader: &Reader,
        earlier: &[CheckRow],
        base: &TreeId,
        scope: TaskScope<'_>,
    ) -> Result<TaskBaseline, Trouble> {
        let TaskScope { task, selection, left_out } = scope;
        let tree = job.site.repository().tree_of(&content.base)?;
        if task.is_none() || selection == Selection::Quick || tree == *base {
            return Ok(TaskBaseline::default());
        }
        let mut baseline = TaskBaseline {
            results: Vec::new(),
            tree: Some(tree.to_string()),
            task: task.map(str::to_string),
        };
        let is_known = |spec: &&CheckSpec| {
            let is_for_spec =
                |row: &&CheckRow| row.task.is_some() && row.name == spec.name && baseline.includes(row);
            earlier.iter().filter(is_for_spec).any(|row| covers(row, spec, left_out))
        };
        let in_scope: Vec<&CheckSpec> =
            job.site.pinned.checks.iter().filter(|spec| is_in_scope(spec, left_out)).collect();
        let missing: BTreeSet<&str> =
            in_scope.iter().filter(|spec| !is_known(spec)).map(|spec| spec.name.as_str()).collect();
        if missing.is_empty() {
            return Ok(baseline);
        }
        let checking = Checking {
            job,
            reader,
            content: &content.holding(&tree),
            selection,
            files: FileScope::Whole,
            left_out,
            base,
            before: &[],
            suspects: &BTreeSet::new(),
        };
        let mut results = checking.run(&with_needed(&in_scope, &missing))?.results;
        refuse_incomplete(job, &results)?;
        results.retain(|result| missing.contains(result.name.as_str()));
        let shown = tree.to_string();
        let shown = shown.get(..SHORT_ID_DIGITS).unwrap_or(&shown);
        for result in &mut results {
            result.add_reason(&format!("on tree {shown}, where the task started"));
        }
        baseline.results = results;
        Ok(baseline)
    }
}

/// Whether a check needs a baseline at the task's start. A check that the change cannot affect now may need one in a
/// later round.
fn is_in_scope(spec: &CheckSpec, left_out: &LeftOut) -> bool {
    !matches!(spec.action, CheckAction::BuiltIn(_)) && left_out.get(&spec.name).is_none()
}

/// Whether a row covers all members of a workspace that a check runs for now.
fn covers(row: &CheckRow, spec: &CheckSpec, left_out: &LeftOut) -> bool {
    let narrowed = left_out.narrowed(spec);
    let commands = [Some(spec), narrowed.as_ref()].into_iter().flatten().map(|spec| spec.action.typed());
    spec.members.is_none() || commands.into_iter().any(|command| command == row.command)
}

/// The missing checks and the checks that they need, in the order of `specs`.
fn with_needed(specs: &[&CheckSpec], missing: &BTreeSet<&str>) -> Vec<CheckSpec> {
    let mut needed = missing.clone();
    for spec in specs.iter().rev() {
        if needed.contains(spec.name.as_str()) {
            needed.extend(spec.needs.iter().map(String::as_str));
        }
    }
    specs.iter().filter(|spec| needed.contains(spec.name.as_str())).map(|spec| (*spec).clone()).collect()
}
