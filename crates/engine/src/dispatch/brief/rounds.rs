//! The inputs of a dispatch in rounds on a gap board: gaps, objections to answer, binding decisions, and proposals to
//! judge. The role's result schema decides which of them the role gets.

use super::history::{RunHistory, Speaker, Utterance};
use crate::pinned::PinnedRole;
use crate::rounds::{RoundHistory, RoundTask, documents, schema_of};
use crate::site::{Job, Trouble};
use remand_contract::SchemaId;
use remand_kernel::command::Dispatch;
use remand_kernel::gaps::{Board, Gap, GapId, GapStatus, RetryMode, ReviewIssueId, RollbackRequest};
use remand_kernel::ids::{ArtifactId, PhaseId};
use remand_kernel::{EngineOperation, Program};
use remand_ledger::Reader;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The artifacts that operations on the board write.
const BOARD_ARTIFACTS: [&str; 2] = ["gaps", "decisions"];

/// The state of the rounds, as one dispatch needs it.
pub struct RoundInputs {
    schema: SchemaId,
    history: RoundHistory,
    task: RoundTask,
    cover: BoardCover,
    item: String,
}

impl RoundInputs {
    /// `None` for roles outside the rounds, and before the board exists.
    pub fn of(
        job: &Job,
        dispatch: &Dispatch,
        role: &PinnedRole,
        reader: &Reader,
    ) -> Result<Option<RoundInputs>, Trouble> {
        let Ok(schema @ (SchemaId::GapProposals | SchemaId::GapReview | SchemaId::GapInventory)) =
            role.result.parse::<SchemaId>()
        else {
            return Ok(None);
        };
        let history = RoundHistory::read(reader, &job.site.run, &job.site.pinned)?;
        if history.board.is_none() {
            return Ok(None);
        }
        let task = history.task(&job.program)?;
        let pinned = &job.site.pinned;
        let cover = BoardCover::new(&job.program, &|phase| schema_of(pinned, phase));
        Ok(Some(RoundInputs {
            schema,
            history,
            task,
            cover,
            item: dispatch.item.clone().unwrap_or_default(),
        }))
    }

    /// The current round of the board.
    pub fn round(&self) -> Option<u32> {
        self.history.board.as_ref().map(Board::round)
    }

    /// What these inputs replace.
    pub fn cover(&self) -> &BoardCover {
        &self.cover
    }

    /// Whether these inputs replace this artifact.
    pub fn covers(&self, artifact: &str) -> bool {
        self.cover.artifacts.contains(artifact)
    }

    /// The result must address at least one of these gaps; `None` if it need not.
    pub fn gaps(&self) -> Option<Vec<String>> {
        let gaps: Vec<&GapId> = match self.schema {
            SchemaId::GapProposals => self.assigned_gaps().iter().collect(),
            SchemaId::GapReview => self.gaps_to_judge().into_iter().map(|gap| &gap.id).collect(),
            _ => return None,
        };
        Some(gaps.into_iter().map(ToString::to_string).collect())
    }

    /// Every document: description, file name and text.
    pub fn documents(&self) -> Vec<(&'static str, &'static str, String)> {
        let Some(board) = &self.history.board else { return Vec::new() };
        let mut documents = Vec::new();
        match self.schema {
            SchemaId::GapProposals => {
                documents.push((
                    "your gaps, with objections and decisions about them",
                    "assignment.md",
                    self.assignment(board),
                ));
                if let Some(text) = self.retry_text() {
                    documents.push((
                        "why this round is repeated, and what to do differently",
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
                let description = "the proposals to judge; unreviewed ones from earlier rounds come first";
                documents.push((description, "proposals.md", self.proposals(board)));
            }
            _ => {}
        }
        if !board.decisions().is_empty() {
            documents.push((
                "decisions by a human; they are final",
                "decisions.md",
                documents::decisions(board),
            ));
        }
        documents.push(("all gaps with their status", "gaps.md", documents::status(&self.history, board)));
        documents
    }

    /// The gaps assigned to the batch.
    fn assigned_gaps(&self) -> &[GapId] {
        let batch = self.history.current.batches.get(&self.item);
        batch.map_or_else(|| self.task.batch(&self.item), Vec::as_slice)
    }

    fn assignment(&self, board: &Board) -> String {
        let mut text = format!("# Round {}, {}\n", board.round(), self.item);
        if let Some(gap) = self.history.current.required_gaps().get(self.item.as_str()) {
            let _ = write!(
                text,
                "\nThere is no proposal yet. Address {gap} now: a proposal with low confidence is better than none.\n"
            );
        }
        for gap in self.assigned_gaps().iter().filter_map(|id| board.gap(id)) {
            self.write_gap(gap, board, &mut text);
        }
        let is_assigned = |id: &ReviewIssueId| {
            let mut issues = board.issues().filter(|issue| issue.id == *id);
            issues.any(|issue| self.assigned_gaps().contains(&issue.gap))
        };
        let unanswered: Vec<String> =
            board.must_answer().iter().filter(|id| is_assigned(id)).map(ToString::to_string).collect();
        if !unanswered.is_empty() {
            let _ = write!(
                text,
                "\n## Must be answered\n\nThese issues have no answer yet: {}. Agree, or disagree with a position and a \
                 rationale; if you do not answer, a human decides.\n",
                unanswered.join(", ")
            );
        }
        text
    }

    fn write_gap(&self, gap: &Gap, board: &Board, text: &mut String) {
        let sections =
            if gap.sections.is_empty() { "not named".to_string() } else { gap.sections.join(", ") };
        let _ = write!(text, "\n## {} ({})\n\n{}\n\nSections: {sections}\n", gap.id, gap.severity, gap.claim);
        if gap.status == GapStatus::NeedsRevision {
            let last_move = board.transitions().iter().rev().find(|moved| moved.gap == gap.id);
            let _ = write!(text, "\nIt needs revision: {}\n", last_move.map_or("", |moved| &moved.why));
        }
        for issue in board.issues().filter(|issue| issue.gap == gap.id) {
            let _ = write!(text, "\n- {} ({}): {}", issue.id, issue.severity, issue.concern);
        }
        if let Some(proposal) = &gap.proposal {
            let _ = write!(
                text,
                "\n\nThe last proposal, for section `{}`:\n\n{}",
                proposal.section,
                remand_contract::markdown::fenced(&proposal.text, "markdown", 0)
            );
        }
        for decision in board.binding(&gap.id) {
            let _ = write!(
                text,
                "\nA human decided on {}: see `decisions.md`. This binds you.\n",
                decision.about
            );
        }
    }

    fn retry_text(&self) -> Option<String> {
        let RollbackRequest { mode, reason, errors, adjustments, .. } = self.task.retry.as_ref()?;
        let mut text = "# This round is repeated\n".to_string();
        if !reason.trim().is_empty() {
            let _ = write!(text, "\nWhy: {}\n", reason.trim());
        }
        if *mode == RetryMode::Narrowed {
            text.push_str("\nYou get fewer gaps this time.\n");
        }
        for (title, items) in [("Do differently", adjustments), ("What went wrong", errors)] {
            if !items.is_empty() {
                let lines: String = items.iter().map(|item| format!("- {item}\n")).collect();
                let _ = write!(text, "\n## {title}\n\n{lines}");
            }
        }
        Some(text)
    }

    /// The gaps with a proposal to judge, those of earlier rounds first.
    fn gaps_to_judge(&self) -> Vec<&Gap> {
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
                "\n## {} (not reviewed yet): {}\n\nSection: {}\n\n{}\n\n{}",
                gap.id,
                gap.claim,
                proposal.section,
                proposal.solution,
                remand_contract::markdown::fenced(&proposal.text, "markdown", 0)
            );
        }
        text.push_str(&documents::engineer_page(&self.history.current, board));
        text
    }
}

/// The artifacts that the inputs of a round replace: the board, and the artifacts that roles write about it.
#[derive(Debug)]
pub struct BoardCover {
    artifacts: BTreeSet<String>,
}

impl BoardCover {
    /// `schema` is the schema of the results of a phase.
    pub fn new(program: &Program, schema: &dyn Fn(PhaseId) -> Option<SchemaId>) -> BoardCover {
        let writes_about_board =
            |phase: &PhaseId| matches!(schema(*phase), Some(SchemaId::GapProposals | SchemaId::GapReview));
        let phases = program.phase_ids().filter(writes_about_board);
        let written = phases.flat_map(|phase| &program.phase(phase).writes);
        let written = written.map(|artifact| program.artifacts[artifact.index()].clone());
        BoardCover { artifacts: written.chain(BOARD_ARTIFACTS.map(str::to_string)).collect() }
    }

    /// Whether the inputs of a round tell what a phase reported.
    pub fn tells(&self, phase: PhaseId, program: &Program) -> bool {
        let written = &program.phase(phase).writes;
        let covers = |id: &ArtifactId| self.artifacts.contains(&program.artifacts[id.index()]);
        !written.is_empty() && written.iter().all(covers)
    }

    /// Whether the board has what a human answered in a visit: the engine recorded it as decisions right afterwards.
    pub fn has_decisions(visit: usize, history: &RunHistory, program: &Program) -> bool {
        let is_human = history.words(visit).iter().any(|said| matches!(said.speaker, Speaker::Human { .. }));
        let is_recorded = |said: &Utterance| match &said.speaker {
            Speaker::Engine { operation, .. } => {
                let operation = program.operation(*operation);
                let recorded = operation.results.first().map(|signal| program.signal(*signal));
                operation.name == EngineOperation::RecordDecision && said.says.as_deref() == recorded
            }
            Speaker::Agent { .. } | Speaker::Human { .. } => false,
        };
        is_human && history.words(visit + 1).iter().any(is_recorded)
    }
}
