//! The tracker as a run has it: the base's, and the run's own record in the ledger on top.

use super::super::Done;
use crate::dispatch::content;
use crate::git::Files;
use crate::tracker::{self, Edit, Record, of_tree};
use crate::workshop::{Job, Trouble};
use remand_documents::tracker::{FOLDER, IssueId, Tracker};
use remand_ledger::Reader;
use remand_ledger::fact::Artifact;
use remand_ledger::query::RunRow;
use std::collections::BTreeSet;
use std::path::Path;

/// The artifact that holds the record.
const RECORD: &str = "tracker";

/// The issue of a run, and what the run did to the tracker so far.
pub struct Account {
    pub issue: IssueId,
    pub base: Tracker,
    pub record: Record,
}

impl Account {
    pub fn of(job: &Job) -> Result<Account, Trouble> {
        let base = of_tree(job.site.repository(), &job.trees.base_tree()?)?;
        Ok(Account { issue: subject(job)?, base, record: record(job)? })
    }

    /// The tracker as it is with everything that the run did.
    pub fn tracker(&self) -> Tracker {
        self.record.applied(&self.base)
    }

    /// Forgets what goes with the work of the run, and keeps what is said about it.
    pub fn drop_work(&mut self) {
        self.record.edits.retain(|edit| matches!(edit, Edit::Comment { .. }));
    }

    pub fn add(&mut self, edit: Edit) {
        self.record.edits.push(edit);
    }

    /// The files that differ from the base.
    pub fn files(&self) -> Files {
        let changed = self.tracker().changed_since(&self.base);
        changed
            .into_iter()
            .map(|(name, text)| (Path::new(FOLDER).join(name), text.map(String::into_bytes)))
            .collect()
    }

    /// Puts the record into the ledger.
    pub fn keep(&self, job: &Job, done: &mut Done) -> Result<(), Trouble> {
        let json = serde_json::to_vec_pretty(&self.record)
            .map_err(|error| Trouble::denied(format!("the record of the tracker cannot be kept: {error}")))?;
        keep(job, done, RECORD, "json", &String::from_utf8_lossy(&json));
        Ok(())
    }
}

/// Keeps a text as an artifact, and says that the phase wrote it where the workflow lets it.
pub fn keep(job: &Job, done: &mut Done, name: &str, format: &str, text: &str) {
    let blob = job.site.blob(text);
    let digest = blob.id.digest();
    done.facts.artifacts.push(Artifact {
        name: name.to_string(),
        part: String::new(),
        digest,
        blob: blob.id,
        by: job.phase().to_string(),
        format: format.to_string(),
    });
    done.blobs.push(blob);
    let phase = job.program.phase(job.id.phase);
    let writes = phase.writes.iter().any(|id| job.program.artifacts[id.index()] == name);
    if writes {
        done.report.wrote.push((name.to_string(), digest));
    }
}

fn record(job: &Job) -> Result<Record, Trouble> {
    let reader = job.site.reader()?;
    let rows = reader.artifacts(&job.site.run)?;
    let Some(row) = rows.iter().find(|row| row.name == RECORD) else {
        return Ok(Record::default());
    };
    let text = content(&reader, row.blob)?;
    serde_json::from_str(&text)
        .map_err(|error| Trouble::denied(format!("the record of the tracker cannot be read: {error}")))
}

/// The issue that the run is about.
pub fn subject(job: &Job) -> Result<IssueId, Trouble> {
    tracker::issue_of(job.site.opened.file.as_deref()).ok_or_else(|| {
        Trouble::denied("this run is about no issue; start one with `remand run --issue ID`".to_string())
    })
}

/// The issue that another run is about.
pub fn issue_of(row: &RunRow) -> Option<IssueId> {
    tracker::issue_of(row.file.as_deref())
}

/// The issues that other runs work on, or have worked on without being merged: what touches their lines is left alone.
pub fn others(job: &Job, reader: &Reader) -> Result<BTreeSet<IssueId>, Trouble> {
    let unmerged = job.site.repository().unmerged_runs(job.trees.base())?;
    let rows = reader.runs()?;
    let concerns = rows.iter().filter(|row| row.run != job.site.run);
    let concerns = concerns.filter(|row| !row.stage.is_over() || unmerged.contains(&row.branch));
    Ok(concerns.filter_map(issue_of).collect())
}
