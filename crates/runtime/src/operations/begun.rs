//! What the checks gave on the tree that a task began on, where others' work was in it already (EP-19).

use super::checking::Checking;
use super::verify::refuse_unfit;
use crate::checks::{Action, CheckOutcome, CheckSpec, Files, LeftOut, Which};
use crate::git::TreeId;
use crate::workshop::{Job, LaneContent, Trouble};
use remand_ledger::Reader;
use remand_ledger::query::CheckRow;
use std::collections::BTreeSet;

/// Empty where the run's baseline is all there is.
#[derive(Default)]
pub struct Begun {
    pub outcomes: Vec<CheckOutcome>,
    /// How the rows about that tree are known.
    mark: String,
    task: Option<String>,
}

impl Begun {
    /// Whether a baseline row of the ledger is about a tree that this task is held against.
    pub fn counts(&self, row: &CheckRow) -> bool {
        row.task.is_none()
            || (row.task == self.task && !self.mark.is_empty() && row.reason.contains(&self.mark))
    }

    /// Runs those checks on the tree that the content began on of which the ledger has no row.
    pub fn on(
        job: &Job,
        content: &LaneContent,
        reader: &Reader,
        earlier: &[CheckRow],
        (base, task, which, left_out): (&TreeId, Option<&str>, Which, &LeftOut),
    ) -> Result<Begun, Trouble> {
        let tree = job.site.repository().tree_of(&content.base)?;
        if task.is_none() || which == Which::Quick || tree == *base {
            return Ok(Begun::default());
        }
        let mark =
            format!("on tree {}, which the task began on", tree.to_string().get(..12).unwrap_or_default());
        let mut begun = Begun { outcomes: Vec::new(), mark, task: task.map(str::to_string) };
        let is_known = |spec: &&CheckSpec| {
            let is_of = |row: &&CheckRow| row.task.is_some() && row.name == spec.name && begun.counts(row);
            earlier.iter().filter(is_of).any(|row| covers(row, spec, left_out))
        };
        let in_scope: Vec<&CheckSpec> =
            job.site.pinned.checks.iter().filter(|spec| may_be_held(spec, left_out)).collect();
        let missing: BTreeSet<&str> =
            in_scope.iter().filter(|spec| !is_known(spec)).map(|spec| spec.name.as_str()).collect();
        if missing.is_empty() {
            return Ok(begun);
        }
        let content = content.holding(&tree);
        let files = Files::Whole;
        let checking = Checking {
            job,
            reader,
            content: &content,
            which,
            files,
            left_out,
            base,
            before: &[],
            failed: &BTreeSet::new(),
        };
        let mut outcomes = checking.outcomes(&with_needed(&in_scope, &missing))?.outcomes;
        refuse_unfit(job, &outcomes)?;
        outcomes.retain(|outcome| missing.contains(outcome.name.as_str()));
        begun.outcomes = outcomes;
        for outcome in &mut begun.outcomes {
            let said = std::mem::take(&mut outcome.reason);
            outcome.reason =
                if said.is_empty() { begun.mark.clone() } else { format!("{said}; {}", begun.mark) };
        }
        Ok(begun)
    }
}

/// Whether a task is held against what a check gave before it. What its change cannot affect so far, a later round may.
fn may_be_held(spec: &CheckSpec, left_out: &LeftOut) -> bool {
    !matches!(spec.action, Action::BuiltIn(_)) && left_out.get(&spec.name).is_none()
}

/// Whether a row is about all members of a workspace that a check is asked about now.
fn covers(row: &CheckRow, spec: &CheckSpec, left_out: &LeftOut) -> bool {
    let narrowed = left_out.narrowed(spec);
    let commands = [Some(spec), narrowed.as_ref()].into_iter().flatten().map(|spec| spec.action.typed());
    spec.members.is_none() || commands.into_iter().any(|command| command == row.command)
}

/// These checks and those that they need, in order.
fn with_needed(specs: &[&CheckSpec], missing: &BTreeSet<&str>) -> Vec<CheckSpec> {
    let mut wanted = missing.clone();
    for spec in specs.iter().rev() {
        if wanted.contains(spec.name.as_str()) {
            wanted.extend(spec.needs.iter().map(String::as_str));
        }
    }
    specs.iter().filter(|spec| wanted.contains(spec.name.as_str())).map(|spec| (*spec).clone()).collect()
}
