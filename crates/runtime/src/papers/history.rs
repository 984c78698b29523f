//! What the journal of a run says of its ticket: where it stands, what was tried, what was found, and who decided what.

use super::observer::Observer;
use super::taken_up::TakenUp;
use super::trigger::Led;
use crate::pinned::Pinned;
use crate::workshop::Trouble;
use remand_documents::Status;
use remand_kernel::change::{Approach, FileChange};
use remand_ledger::{BlobId, Millis, Reader, RunId};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The statuses that it went through; the last is where it stands.
    pub statuses: Vec<Status>,
    /// Revisions of the design so far, those of earlier runs included.
    pub count: u16,
    /// How many there may be.
    pub cap: u16,
    pub attempts: Vec<Attempt>,
    pub gates: Vec<GateRun>,
    pub answers: Vec<Answer>,
    /// One for each number under which findings were stated.
    pub revisions: Vec<Revision>,
    /// What an earlier run left to be revised.
    pub taken_up: Option<TakenUp>,
    /// The latest version of each document, by artifact.
    pub documents: BTreeMap<String, BlobId>,
    /// Approaches that failed, as the run has them now.
    pub approaches: Vec<Approach>,
    /// The design as it is, and what the workflow calls it.
    pub design: Option<BlobId>,
    pub design_name: Option<String>,
    /// What led to the last findings, or leads to those that are being stated.
    pub led: Option<Led>,
    /// How the last proposal was found to have failed before.
    pub matched: Option<String>,
}

/// One implementation attempt (DR-24).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Over all designs of the run.
    pub number: usize,
    pub at: Millis,
    /// Which design it followed, from 1 over all runs.
    pub design: u16,
    pub says: String,
    /// The agent's own words.
    pub hypothesis: String,
    pub files: Vec<FileChange>,
    /// What the engine and reviewers found since.
    pub results: Vec<String>,
    /// What the detectors saw.
    pub flags: Vec<String>,
}

/// One run of the engine's checks as a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateRun {
    pub at: Millis,
    pub attempt: usize,
    pub passed: bool,
    /// Name, result, and what it said.
    pub checks: Vec<(String, bool, String)>,
    pub claims: Vec<String>,
    /// Failures in a row, this one included.
    pub in_a_row: usize,
    /// The run led to findings about the design.
    pub recommends_revision: bool,
}

/// What a human decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub at: Millis,
    /// The status under which it was asked.
    pub status: Option<Status>,
    pub option: String,
    pub by: String,
    pub note: String,
    pub flags: Vec<(String, bool)>,
}

/// Findings about the design, and what became of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    pub number: u16,
    pub cap: u16,
    pub at: Millis,
    pub led: Led,
    pub findings: BlobId,
    pub decision: Option<Answer>,
    /// The gate did not offer a revision any more.
    pub is_capped: bool,
    /// The approach of the design that failed, once the revision is recorded.
    pub ruled_out: Option<Approach>,
    /// The design that failed, and the one that came of the revision.
    pub before: Option<BlobId>,
    pub after: Option<BlobId>,
}

impl History {
    /// Lives the run through again, and looks.
    pub fn read(reader: &Reader, run: &RunId, pinned: &Pinned) -> Result<History, Trouble> {
        let mut observer = Observer::new(pinned);
        for row in reader.journal(run, 0)? {
            observer.see(&row)?;
        }
        let mut history = observer.into_history();
        if let Some(taken) = history.taken_up.as_mut()
            && let Some(earlier) = TakenUp::find(reader, run, taken.revision.number)?
        {
            *taken = earlier;
        }
        Ok(history)
    }

    /// Where the ticket stands, once the run has moved it.
    pub fn status(&self) -> Option<Status> {
        self.statuses.last().copied()
    }

    /// The revision whose design is being worked on.
    pub fn current(&self) -> Option<&Revision> {
        match self.revisions.last() {
            Some(own) => Some(own).filter(|revision| revision.ruled_out.is_some()),
            None => self.taken_up.as_ref().map(|taken| &taken.revision),
        }
    }
}
