//! What a role of the rounds is given: its gaps, the issues that it must answer, the decisions that bind it, and the
//! proposals that it has to judge. Which of them depends on the contract alone.

use crate::contract::SchemaId;
use crate::pinned::{Pinned, PinnedRole};
use crate::rounds::{History, Task, documents, schema_of};
use crate::workshop::{Job, Trouble};
use remand_kernel::command::Dispatch;
use remand_kernel::gaps::{Board, Gap, GapId, GapStatus, IssueId, RetryMode, RollbackRequest};
use remand_kernel::ids::PhaseId;
use remand_ledger::Reader;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What the operations on the board write.
const BOARD: [&str; 2] = ["gaps", "decisions"];

/// A dispatch in a round.
pub struct Round {
    schema: SchemaId,
    history: History,
    task: Task,
    covered: BTreeSet<String>,
    item: String,
}

impl Round {
    /// None for roles that have nothing to do with rounds, and before there is a board.
    pub fn of(
        job: &Job,
        dispatch: &Dispatch,
        role: &PinnedRole,
        reader: &Reader,
    ) -> Result<Option<Round>, Trouble> {
        let Ok(schema @ (SchemaId::GapProposals | SchemaId::GapReview | SchemaId::GapInventory)) =
            role.result.parse::<SchemaId>()
        else {
            return Ok(None);
        };
        let history = History::read(reader, &job.site.run, &job.site.pinned)?;
        if history.board.is_none() {
            return Ok(None);
        }
        let task = history.task(&job.program)?;
        let covered = covered(&job.site.pinned);
        Ok(Some(Round { schema, history, task, covered, item: dispatch.item.clone().unwrap_or_default() }))
    }

    /// Tells whether an artifact is shown by these documents.
    pub fn covers(&self, artifact: &str) -> bool {
        self.covered.contains(artifact)
    }

    /// The gaps that a result must be about, at least one of them (SR-03).
    pub fn gaps(&self) -> Option<Vec<String>> {
        let gaps: Vec<&GapId> = match self.schema {
            SchemaId::GapProposals => self.given().iter().collect(),
            SchemaId::GapReview => self.proposed().into_iter().map(|gap| &gap.id).collect(),
            _ => return None,
        };
        Some(gaps.into_iter().map(ToString::to_string).collect())
    }

    /// Every document with what it is, its name and its text.
    pub fn documents(&self) -> Vec<(&'static str, &'static str, String)> {
        let Some(board) = &self.history.board else { return Vec::new() };
        let mut documents = Vec::new();
        match self.schema {
            SchemaId::GapProposals => {
                documents.push((
                    "your gaps, and what was said about them",
                    "assignment.md",
                    self.assignment(board),
                ));
                if let Some(text) = self.retry() {
                    documents.push((
                        "why this round is done again, and what to heed",
                        "adjustments.md",
                        text,
                    ));
                }
                if let Some((_, last)) = self.history.closed.last_key_value() {
                    let text = documents::reviewer_page(last);
                    documents.push(("the review of the last round", "reviews.md", text));
                }
            }
            SchemaId::GapReview => {
                let about = "the proposals to judge; those that nobody reviewed come first";
                documents.push((about, "proposals.md", self.proposals(board)));
            }
            _ => {}
        }
        if !board.decisions().is_empty() {
            documents.push((
                "decisions of a human: they are final",
                "decisions.md",
                documents::decisions(board),
            ));
        }
        documents.push(("all gaps and how far they are", "gaps.md", documents::status(&self.history, board)));
        documents
    }

    /// The gaps of the batch, as they were assigned.
    fn given(&self) -> &[GapId] {
        let batch = self.history.current.batches.get(&self.item);
        batch.map_or_else(|| self.task.batch(&self.item), Vec::as_slice)
    }

    fn assignment(&self, board: &Board) -> String {
        let mut text = format!("# Round {}, {}\n", board.round(), self.item);
        if let Some(gap) = self.history.current.by_name().get(self.item.as_str()) {
            let _ = write!(
                text,
                "\nNobody proposed anything so far. Address {gap} now: a proposal of low confidence is better than none.\n"
            );
        }
        for gap in self.given().iter().filter_map(|id| board.gap(id)) {
            self.gap(gap, board, &mut text);
        }
        let mine = |id: &IssueId| {
            let mut issues = board.issues().filter(|issue| issue.id == *id);
            issues.any(|issue| self.given().contains(&issue.gap))
        };
        let must: Vec<String> =
            board.must_answer().iter().filter(|id| mine(id)).map(ToString::to_string).collect();
        if !must.is_empty() {
            let _ = write!(
                text,
                "\n## Must be answered\n\nThese issues were passed over in silence: {}. Agree, or disagree with a \
                 position and a rationale; silence takes them to a human.\n",
                must.join(", ")
            );
        }
        text
    }

    fn gap(&self, gap: &Gap, board: &Board, text: &mut String) {
        let sections =
            if gap.sections.is_empty() { "not named".to_string() } else { gap.sections.join(", ") };
        let _ = write!(text, "\n## {} ({})\n\n{}\n\nSections: {sections}\n", gap.id, gap.severity, gap.claim);
        if gap.status == GapStatus::NeedsRevision {
            let why = board.transitions().iter().rev().find(|moved| moved.gap == gap.id);
            let _ = write!(text, "\nIt needs revision: {}\n", why.map_or("", |moved| &moved.why));
        }
        for issue in board.issues().filter(|issue| issue.gap == gap.id) {
            let _ = write!(text, "\n- {} ({}): {}", issue.id, issue.severity, issue.concern);
        }
        if let Some(proposal) = &gap.proposal {
            let _ = write!(
                text,
                "\n\nThe last proposal, for section `{}`:\n\n{}",
                proposal.section,
                crate::contract::markdown::fenced(&proposal.text, "markdown", 0)
            );
        }
        for decision in board.binding(&gap.id) {
            let _ = write!(
                text,
                "\nA human decided on {}: {}. This binds you.\n",
                decision.about, decision.choice
            );
        }
    }

    fn retry(&self) -> Option<String> {
        let RollbackRequest { mode, reason, errors, adjustments, .. } = self.task.retry.as_ref()?;
        let mut text = "# This round is done again\n".to_string();
        if !reason.trim().is_empty() {
            let _ = write!(text, "\nWhy: {}\n", reason.trim());
        }
        if *mode == RetryMode::Narrowed {
            text.push_str("\nYou are given fewer gaps this time.\n");
        }
        for (title, items) in [("Heed", adjustments), ("What went wrong", errors)] {
            if !items.is_empty() {
                let lines: String = items.iter().map(|item| format!("- {item}\n")).collect();
                let _ = write!(text, "\n## {title}\n\n{lines}");
            }
        }
        Some(text)
    }

    /// The gaps with a proposal to judge: those of earlier rounds first.
    fn proposed(&self) -> Vec<&Gap> {
        let Some(board) = &self.history.board else { return Vec::new() };
        let old = self.task.review_first.iter().filter_map(|id| board.gap(id));
        let results = self.history.current.proposals.values().flat_map(|result| &result.proposals);
        let new =
            results.filter_map(|proposal| board.gaps().find(|gap| gap.id.to_string() == proposal.gap.0));
        let mut all: Vec<&Gap> = old.collect();
        for gap in new {
            if !all.iter().any(|known| known.id == gap.id) {
                all.push(gap);
            }
        }
        all
    }

    fn proposals(&self, board: &Board) -> String {
        let mut text = format!("# Proposals of round {}\n", board.round());
        for gap in self.task.review_first.iter().filter_map(|id| board.gap(id)) {
            let Some(proposal) = &gap.proposal else { continue };
            let _ = write!(
                text,
                "\n## {} (left unreviewed): {}\n\nSection: {}\n\n{}\n\n{}",
                gap.id,
                gap.claim,
                proposal.section,
                proposal.solution,
                crate::contract::markdown::fenced(&proposal.text, "markdown", 0)
            );
        }
        text.push_str(&documents::engineer_page(&self.history.current, board));
        text
    }
}

/// The artifacts that are shown in other words: the board, and what roles write about it.
fn covered(pinned: &Pinned) -> BTreeSet<String> {
    let program = &pinned.program;
    let phases = (0..program.phases.len()).filter_map(|at| u16::try_from(at).ok()).map(PhaseId);
    let about = |phase: &PhaseId| {
        matches!(schema_of(pinned, *phase), Some(SchemaId::GapProposals | SchemaId::GapReview))
    };
    let written = phases.filter(about).flat_map(|phase| &program.phase(phase).writes);
    let written = written.map(|artifact| program.artifacts[artifact.index()].clone());
    written.chain(BOARD.map(str::to_string)).collect()
}
