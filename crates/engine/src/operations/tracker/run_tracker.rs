//! The tracker from a run's view: the tracker of the base, with the run's edits from the ledger.

use super::super::Done;
use crate::artifacts::content;
use crate::site::{Job, Trouble};
use crate::tracker::{self, Edit, TrackerRecord, read_tree};
use remand_documents::tracker::{FOLDER, IssueKey, Tracker};
use remand_git::FileContents;
use remand_ledger::Reader;
use remand_ledger::query::RunRow;
use std::collections::BTreeSet;
use std::path::Path;

/// The artifact that contains the record.
const RECORD: &str = "tracker";

/// The issue of a run, and the run's edits to the tracker so far.
pub struct RunTracker {
    pub issue: IssueKey,
    pub base: Tracker,
    pub record: TrackerRecord,
}

impl RunTracker {
    pub fn of(job: &Job) -> Result<RunTracker, Trouble> {
        let base = read_tree(job.site.repository(), &job.trees.base_tree()?)?;
        Ok(RunTracker { issue: subject(job)?, base, record: read_record(job)? })
    }

    /// The tracker with the run's edits.
    pub fn tracker(&self) -> Tracker {
        self.record.apply_to(&self.base)
    }

    /// Drops the edits that belong to the work of the run, and keeps comments.
    pub fn drop_work(&mut self) {
        self.record.edits.retain(|edit| matches!(edit, Edit::Comment { .. }));
    }

    pub fn add(&mut self, edit: Edit) {
        self.record.edits.push(edit);
    }

    /// The files that differ from the base.
    pub fn files(&self) -> FileContents {
        let changed = self.tracker().changed_since(&self.base);
        changed
            .into_iter()
            .map(|(name, text)| (Path::new(FOLDER).join(name), text.map(String::into_bytes)))
            .collect()
    }

    /// Adds the record to the result, for the ledger.
    pub fn save(&self, job: &Job, done: &mut Done) -> Result<(), Trouble> {
        let json = serde_json::to_vec_pretty(&self.record)
            .map_err(|error| Trouble::denied(format!("the tracker record cannot be written: {error}")))?;
        done.add_artifact(job, RECORD, "json", &String::from_utf8_lossy(&json));
        Ok(())
    }
}

fn read_record(job: &Job) -> Result<TrackerRecord, Trouble> {
    let reader = job.site.reader()?;
    let rows = reader.artifacts(&job.site.run)?;
    let Some(row) = rows.iter().find(|row| row.name == RECORD) else {
        return Ok(TrackerRecord::default());
    };
    let text = content(&reader, row.blob)?;
    serde_json::from_str(&text)
        .map_err(|error| Trouble::denied(format!("the tracker record cannot be read: {error}")))
}

/// The issue that the run is about.
pub fn subject(job: &Job) -> Result<IssueKey, Trouble> {
    tracker::issue_of(job.site.opened.file.as_deref()).ok_or_else(|| {
        Trouble::denied("this run has no issue; start one with `remand run --issue ID`".to_string())
    })
}

/// The issue that a run in the ledger is about.
pub fn issue_of(row: &RunRow) -> Option<IssueKey> {
    tracker::issue_of(row.file.as_deref())
}

/// The issues of other runs that are active or not yet merged. Lists are not changed next to their lines.
pub fn issues_of_other_runs(job: &Job, reader: &Reader) -> Result<BTreeSet<IssueKey>, Trouble> {
    let unmerged = job.site.repository().unmerged_runs(job.trees.base())?;
    let rows = reader.runs()?;
    let others = rows.iter().filter(|row| row.run != job.site.run);
    let pending = others.filter(|row| !row.stage.is_over() || unmerged.contains(&row.branch));
    Ok(pending.filter_map(issue_of).collect())
}
