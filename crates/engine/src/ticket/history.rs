//! The history of a ticket within a run: its statuses, attempts, gate results, findings and decisions.

use super::cause::FindingsCause;
use remand_documents::TicketStatus;
use remand_kernel::change::{Approach, FileChange};
use remand_ledger::{BlobId, Millis, RunId};
use std::collections::BTreeMap;

/// The history of a ticket, from the journal of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TicketHistory {
    /// All statuses in order; the last one is current.
    pub statuses: Vec<TicketStatus>,
    /// Revisions of the design so far, including earlier runs.
    pub count: u16,
    /// Maximum number of revisions.
    pub cap: u16,
    pub attempts: Vec<ImplementationAttempt>,
    pub gates: Vec<GateRun>,
    pub answers: Vec<GateDecision>,
    /// The revisions that have findings; one for each revision number.
    pub revisions: Vec<Revision>,
    /// A revision that was approved in an earlier run; this run continues it.
    pub inherited: Option<InheritedRevision>,
    /// The latest version of each document, by artifact.
    pub documents: BTreeMap<String, BlobId>,
    /// The current list of failed approaches.
    pub approaches: Vec<Approach>,
    /// The current design, and its artifact name in the workflow.
    pub design: Option<BlobId>,
    pub design_name: Option<String>,
    /// Designs that were refused, and not built, because their approach had failed before.
    pub refused: Vec<RefusedDesign>,
    /// The cause of the last findings, or of the findings that are being written.
    pub cause: Option<FindingsCause>,
    /// The detector's message if the last proposal matched a failed approach.
    pub matched: Option<String>,
}

/// One implementation attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImplementationAttempt {
    /// 1-based, over all designs of the run.
    pub number: u32,
    pub at: Millis,
    /// 1-based number of the design, over all runs.
    pub design: u16,
    pub says: String,
    /// The hypothesis in the agent's words.
    pub hypothesis: String,
    pub files: Vec<FileChange>,
    /// Results of the quality gate and of reviews.
    pub results: Vec<String>,
    /// Messages of the detectors.
    pub flags: Vec<String>,
}

/// One run of the quality gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateRun {
    pub at: Millis,
    pub attempt: u32,
    pub passed: bool,
    pub checks: Vec<GateCheck>,
    pub claims: Vec<String>,
    /// Consecutive failures up to this run of the gate.
    pub in_a_row: usize,
    /// Whether the failure led to findings about the design.
    pub recommends_revision: bool,
}

/// The result of one check in a quality gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateCheck {
    pub name: String,
    pub passed: bool,
    pub detail: String,
}

/// A human's answer at a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateDecision {
    pub at: Millis,
    /// The status of the ticket when the gate opened.
    pub status: Option<TicketStatus>,
    pub option: String,
    pub by: String,
    pub note: String,
    pub flags: Vec<(String, bool)>,
}

/// Findings about the design, and the revision that followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    pub number: u16,
    pub cap: u16,
    pub at: Millis,
    pub cause: FindingsCause,
    pub findings: BlobId,
    pub decision: Option<GateDecision>,
    /// Whether the gate offered no revision because the maximum number was reached.
    pub is_capped: bool,
    /// The failed approach, once the revision is recorded.
    pub ruled_out: Option<Approach>,
    /// The design before and after the revision.
    pub before: Option<BlobId>,
    pub after: Option<BlobId>,
}

/// A design that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedDesign {
    /// The artifact.
    pub name: String,
    pub design: BlobId,
}

/// A revision that a human approved in an earlier run on the same ticket, and that this run continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InheritedRevision {
    pub revision: Revision,
    /// The earlier run and its attempts; `None` if only the documents of the ticket mention the revision.
    pub earlier_run: Option<(RunId, Vec<ImplementationAttempt>)>,
}

impl TicketHistory {
    /// The current status, once the run has set one.
    pub fn status(&self) -> Option<TicketStatus> {
        self.statuses.last().copied()
    }

    /// The attempts at the design with this number.
    pub fn attempts_at(&self, design: u16) -> impl Iterator<Item = &ImplementationAttempt> {
        let earlier = self.inherited.iter().filter_map(|inherited| inherited.earlier_run.as_ref());
        let earlier = earlier.flat_map(|(_, attempts)| attempts);
        earlier.chain(&self.attempts).filter(move |attempt| attempt.design == design)
    }

    /// The revision whose design is being implemented.
    pub fn current(&self) -> Option<&Revision> {
        match self.revisions.last() {
            Some(last) => Some(last).filter(|revision| revision.ruled_out.is_some()),
            None => self.inherited.as_ref().map(|inherited| &inherited.revision),
        }
    }
}
