//! The payload of a result by its schema, and what of it the kernel and the ledger take.

use super::schema::SchemaId;
use super::schema::header::{self, Bare};
use super::schema::implementation::{Dispute, Implementation};
use super::schema::plan::{Plan, Split, Task, TaskPayload};
use super::schema::verification::{Judgement, Verification};
use super::schema::words::{Risk, Size, Text};
use super::schema::{design, diagnosis, document, failure, gaps, knowledge, research, review, spec};
use crate::ordered;
use remand_documents::Design;
use remand_kernel::change::Approach;
use remand_kernel::criteria::CriterionJudgement;
use remand_kernel::event::{self, Item};
use remand_ledger::BlobId;
use remand_ledger::fact::{Note, NoteKind};
use serde_json::Value;

/// A payload.
#[derive(Clone, Debug)]
pub enum Content {
    Completion(Bare),
    Research(research::Research),
    Spec(spec::Spec),
    Design(design::Design),
    Plan(Plan),
    Split(Split),
    Task(Box<TaskPayload>),
    Implementation(Implementation),
    Verification(Verification),
    Review(review::Review),
    Knowledge(knowledge::Knowledge),
    Finding(review::FindingPayload),
    Verdict(review::VerdictPayload),
    Diagnosis(diagnosis::Diagnosis),
    Failure(Box<failure::FindingsReport>),
    Prose(document::Prose),
    Inventory(gaps::GapInventory),
    Proposals(gaps::GapProposals),
    GapReview(gaps::GapReview),
}

impl Content {
    pub(super) fn read(id: SchemaId, payload: Value) -> Result<Content, serde_json::Error> {
        use serde_json::from_value as typed;
        Ok(match id {
            SchemaId::CompletionContract => Content::Completion(typed(payload)?),
            SchemaId::ResearchOutput => Content::Research(typed(payload)?),
            SchemaId::SpecOutput => Content::Spec(typed(payload)?),
            SchemaId::DesignOutput => Content::Design(typed(payload)?),
            SchemaId::PlanOutput => Content::Plan(typed(payload)?),
            SchemaId::SplitOutput => Content::Split(typed(payload)?),
            SchemaId::Task => Content::Task(typed(payload)?),
            SchemaId::ImplementationReport => Content::Implementation(typed(payload)?),
            SchemaId::VerificationReport => Content::Verification(typed(payload)?),
            SchemaId::ReviewFindings => Content::Review(typed(payload)?),
            SchemaId::KnowledgeOutput => Content::Knowledge(typed(payload)?),
            SchemaId::Finding => Content::Finding(typed(payload)?),
            SchemaId::Verdict => Content::Verdict(typed(payload)?),
            SchemaId::Diagnosis => Content::Diagnosis(typed(payload)?),
            SchemaId::FindingsReport => Content::Failure(typed(payload)?),
            SchemaId::Document => Content::Prose(typed(payload)?),
            SchemaId::GapInventory => Content::Inventory(typed(payload)?),
            SchemaId::GapProposals => Content::Proposals(typed(payload)?),
            SchemaId::GapReview => Content::GapReview(typed(payload)?),
        })
    }

    /// The tasks of a plan; any red file makes a task large.
    pub fn tasks(&self) -> Vec<Task> {
        let mut tasks = if let Content::Plan(plan) = self {
            plan.tasks.clone()
        } else if let Content::Split(split) = self {
            split.tasks.iter().map(|task| task.task.clone()).collect()
        } else if let Content::Task(payload) = self {
            vec![payload.task.clone()]
        } else {
            Vec::new()
        };
        for task in &mut tasks {
            if task.files.iter().any(|file| file.risk == Risk::Red) {
                task.size = Size::Large;
            }
        }
        tasks
    }

    /// The lists that the kernel takes: `tasks` of a plan, `gaps` of an inventory.
    pub(super) fn lists(&self, document: &Value) -> Vec<(String, Vec<Item>)> {
        if let Content::Inventory(inventory) = self {
            return vec![("gaps".to_string(), super::gaps::items(&inventory.gaps))];
        }
        let (Content::Plan(_) | Content::Split(_)) = self else { return Vec::new() };
        let own = |at: usize| document.pointer(&format!("/payload/tasks/{at}")).unwrap_or(&Value::Null);
        let items = self.tasks().into_iter().enumerate().map(|(at, task)| Item {
            id: task.id,
            needs: task.depends_on,
            spec: BlobId::of(ordered::line(own(at)).as_bytes()).digest(),
            files: task.files.iter().map(|file| file.path.0.clone()).collect(),
        });
        vec![("tasks".to_string(), items.collect())]
    }

    /// The highest risk of any file of a plan; the plan's own word counts only when it is higher.
    pub(super) fn risk(&self) -> Option<event::Risk> {
        let stated = if let Content::Plan(plan) = self {
            plan.overall_risk
        } else if let Content::Split(split) = self {
            split.overall_risk
        } else {
            None
        };
        let files = self.tasks().into_iter().flat_map(|task| task.files).map(|file| file.risk).max();
        stated.into_iter().chain(files).max().map(Into::into)
    }

    pub(super) fn approach(&self) -> Option<Approach> {
        let stated = if let Content::Design(design) = self {
            design.approach.clone()
        } else if let Content::Prose(prose) = self {
            // What the document says counts, since that is what people read (DR-23).
            let stated = Design::read(prose.markdown.0.as_str()).approach();
            prose.approach.clone().map(|approach| match stated {
                Some(text) => header::Approach { text: Text(text), ..approach },
                None => approach,
            })
        } else if let Content::Failure(report) = self {
            Some(report.proposed_change.approach.clone())
        } else {
            None
        };
        stated.map(Into::into)
    }

    pub(super) fn hypothesis(&self) -> Option<String> {
        let Content::Implementation(it) = self else { return None };
        Some(it.hypothesis.trim().to_string()).filter(|it| !it.is_empty())
    }

    pub(super) fn disputes(&self) -> Vec<Dispute> {
        if let Content::Implementation(it) = self { it.disputes.clone() } else { Vec::new() }
    }

    pub(super) fn judgements(&self) -> &[Judgement] {
        if let Content::Verification(it) = self {
            &it.criteria
        } else if let Content::Verdict(it) = self {
            &it.criteria
        } else {
            &[]
        }
    }

    pub(super) fn criteria(&self) -> Vec<CriterionJudgement> {
        self.judgements().iter().map(CriterionJudgement::from).collect()
    }

    /// What the ledger notes of it.
    pub(super) fn notes(&self, mapped: &[String]) -> Vec<Note> {
        let mut notes: Vec<Note> =
            mapped.iter().map(|line| note(NoteKind::Mapped, line.clone(), &[])).collect();
        if let Content::Spec(spec) = self {
            notes.extend(spec.concerns.iter().map(|it| note(NoteKind::Concern, it.text.0.clone(), &[])));
        }
        if let Content::Knowledge(it) = self {
            notes.extend(it.decisions.iter().map(|decision| {
                note(NoteKind::Decision, joined(&decision.text.0, &decision.rationale), &decision.files)
            }));
            notes.extend(it.lessons.iter().map(|lesson| {
                note(NoteKind::Lesson, joined(&lesson.text.0, &lesson.evidence), &lesson.files)
            }));
            notes.extend(it.proposals.iter().map(|proposal| {
                let text = format!("{}\n\n{}", proposal.reason.0, proposal.change.0);
                note(NoteKind::Proposal, text, std::slice::from_ref(&proposal.file.0))
            }));
        }
        notes
    }
}

fn note(kind: NoteKind, text: String, files: &[String]) -> Note {
    Note { kind, text, files: files.to_vec(), blob: None }
}

fn joined(text: &str, reason: &str) -> String {
    if reason.trim().is_empty() { text.to_string() } else { format!("{text} ({reason})") }
}
