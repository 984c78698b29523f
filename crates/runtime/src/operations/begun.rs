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

    /// Runs the checks on the tree that the content began on, unless the ledger has their rows.
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
        if earlier.iter().any(|row| row.task.is_some() && begun.counts(row)) {
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
        let programs: Vec<CheckSpec> = job
            .site
            .pinned
            .checks
            .iter()
            .filter(|spec| !matches!(spec.action, Action::BuiltIn(_)))
            .cloned()
            .collect();
        begun.outcomes = checking.outcomes(&programs)?.outcomes;
        refuse_unfit(job, &begun.outcomes)?;
        for outcome in &mut begun.outcomes {
            let said = std::mem::take(&mut outcome.reason);
            outcome.reason =
                if said.is_empty() { begun.mark.clone() } else { format!("{said}; {}", begun.mark) };
        }
        Ok(begun)
    }
}
