//! The typed payload of a result, and the parts that the kernel and the ledger use.

use super::schema::SchemaId;
use super::schema::header::{self, BarePayload};
use super::schema::implementation::{Dispute, Implementation};
use super::schema::plan::{PlanPayload, PlannedTask, SplitPayload, TaskPayload};
use super::schema::verification::{ReportedJudgement, Verification};
use super::schema::words::{NonBlankText, ReportedRisk, ReportedSize};
use super::schema::{design, diagnosis, document, failure, gaps, knowledge, research, review, spec};
use remand_documents::DesignDocument;
use remand_kernel::change::Approach;
use remand_kernel::criteria::CriterionJudgement;
use remand_kernel::event::{self, Item};
use remand_ledger::BlobId;
use remand_ledger::fact::{Decision, Note, NoteKind};
use remand_notation::ordered;
use serde_json::Value;

/// The payload of a result, by schema.
#[derive(Clone, Debug)]
pub enum Payload {
    Completion(BarePayload),
    Research(research::Research),
    Spec(spec::Spec),
    Design(design::DesignPayload),
    Plan(PlanPayload),
    Split(SplitPayload),
    Task(Box<TaskPayload>),
    Implementation(Implementation),
    Verification(Verification),
    Review(review::Review),
    Knowledge(knowledge::Knowledge),
    Finding(review::FindingPayload),
    Verdict(review::VerdictPayload),
    Diagnosis(diagnosis::Diagnosis),
    Failure(Box<failure::FindingsReport>),
    Prose(document::DocumentPayload),
    Inventory(gaps::GapInventory),
    Proposals(gaps::GapProposals),
    GapReview(gaps::GapReview),
}

impl Payload {
    pub(super) fn read(id: SchemaId, payload: Value) -> Result<Payload, serde_json::Error> {
        use serde_json::from_value as typed;
        Ok(match id {
            SchemaId::CompletionContract => Payload::Completion(typed(payload)?),
            SchemaId::ResearchOutput => Payload::Research(typed(payload)?),
            SchemaId::SpecOutput => Payload::Spec(typed(payload)?),
            SchemaId::DesignOutput => Payload::Design(typed(payload)?),
            SchemaId::PlanOutput => Payload::Plan(typed(payload)?),
            SchemaId::SplitOutput => Payload::Split(typed(payload)?),
            SchemaId::Task => Payload::Task(typed(payload)?),
            SchemaId::ImplementationReport => Payload::Implementation(typed(payload)?),
            SchemaId::VerificationReport => Payload::Verification(typed(payload)?),
            SchemaId::ReviewFindings => Payload::Review(typed(payload)?),
            SchemaId::KnowledgeOutput => Payload::Knowledge(typed(payload)?),
            SchemaId::Finding => Payload::Finding(typed(payload)?),
            SchemaId::Verdict => Payload::Verdict(typed(payload)?),
            SchemaId::Diagnosis => Payload::Diagnosis(typed(payload)?),
            SchemaId::FindingsReport => Payload::Failure(typed(payload)?),
            SchemaId::Document => Payload::Prose(typed(payload)?),
            SchemaId::GapInventory => Payload::Inventory(typed(payload)?),
            SchemaId::GapProposals => Payload::Proposals(typed(payload)?),
            SchemaId::GapReview => Payload::GapReview(typed(payload)?),
        })
    }

    /// The tasks of a plan. A task with a red file is large.
    pub fn tasks(&self) -> Vec<PlannedTask> {
        let mut tasks = if let Payload::Plan(plan) = self {
            plan.tasks.clone()
        } else if let Payload::Split(split) = self {
            split.tasks.iter().map(|task| task.task.clone()).collect()
        } else if let Payload::Task(payload) = self {
            vec![payload.task.clone()]
        } else {
            Vec::new()
        };
        for task in &mut tasks {
            if task.files.iter().any(|file| file.risk == ReportedRisk::Red) {
                task.size = ReportedSize::Large;
            }
        }
        tasks
    }

    /// The lists for the kernel: `tasks` of a plan, `gaps` of an inventory.
    pub(super) fn lists(&self, document: &Value) -> Vec<(String, Vec<Item>)> {
        if let Payload::Inventory(inventory) = self {
            return vec![("gaps".to_string(), super::gaps::items(&inventory.gaps))];
        }
        let (Payload::Plan(_) | Payload::Split(_)) = self else { return Vec::new() };
        // The digest covers the task as the agent wrote it, including fields that the type does not have.
        let written = |at: usize| &document["payload"]["tasks"][at];
        let items = self.tasks().into_iter().enumerate().map(|(at, task)| Item {
            id: task.id,
            needs: task.depends_on,
            spec: BlobId::of(ordered::line(written(at)).as_bytes()).digest(),
            files: task.files.iter().map(|file| file.path.0.clone()).collect(),
        });
        vec![("tasks".to_string(), items.collect())]
    }

    /// The highest risk of any file in a plan, or the plan's overall risk if that is higher.
    pub(super) fn risk(&self) -> Option<event::Risk> {
        let stated = if let Payload::Plan(plan) = self {
            plan.overall_risk
        } else if let Payload::Split(split) = self {
            split.overall_risk
        } else {
            None
        };
        let files = self.tasks().into_iter().flat_map(|task| task.files).map(|file| file.risk).max();
        stated.into_iter().chain(files).max().map(Into::into)
    }

    pub(super) fn approach(&self) -> Option<Approach> {
        let stated = if let Payload::Design(design) = self {
            design.approach.clone()
        } else if let Payload::Prose(prose) = self {
            // People read the document, so the approach in its text takes precedence over the field.
            let stated = DesignDocument::read(prose.markdown.0.as_str()).approach();
            prose.approach.clone().map(|approach| match stated {
                Some(text) => header::StatedApproach { text: NonBlankText(text), ..approach },
                None => approach,
            })
        } else if let Payload::Failure(report) = self {
            Some(report.proposed_change.approach.clone())
        } else {
            None
        };
        stated.map(Into::into)
    }

    pub(super) fn hypothesis(&self) -> Option<String> {
        let Payload::Implementation(it) = self else { return None };
        Some(it.hypothesis.trim().to_string()).filter(|it| !it.is_empty())
    }

    pub(super) fn disputes(&self) -> Vec<Dispute> {
        if let Payload::Implementation(it) = self {
            it.disputes.clone()
        } else if let Payload::Design(it) = self {
            it.disputes.clone()
        } else if let Payload::Plan(it) = self {
            it.disputes.clone()
        } else {
            Vec::new()
        }
    }

    pub(super) fn judgements(&self) -> &[ReportedJudgement] {
        if let Payload::Verification(it) = self {
            &it.criteria
        } else if let Payload::Verdict(it) = self {
            &it.criteria
        } else {
            &[]
        }
    }

    pub(super) fn criteria(&self) -> Vec<CriterionJudgement> {
        self.judgements().iter().map(CriterionJudgement::from).collect()
    }

    /// Notes for the ledger.
    pub(super) fn notes(&self, mapped: &[String]) -> Vec<Note> {
        let mut notes: Vec<Note> =
            mapped.iter().map(|line| note(NoteKind::Mapped, line.clone(), &[])).collect();
        if let Payload::Spec(spec) = self {
            notes.extend(spec.concerns.iter().map(|it| note(NoteKind::Concern, it.text.0.clone(), &[])));
        }
        if let Payload::Design(design) = self {
            let files: Vec<String> = design.components.iter().flat_map(|part| part.files.clone()).collect();
            notes.extend(design.decisions.iter().map(|decision| decision_note(decision.into(), &files)));
        }
        if let Payload::Plan(plan) = self {
            let files = plan.tasks.iter().flat_map(|task| &task.files);
            let files: Vec<String> = files.map(|file| file.path.0.clone()).collect();
            notes.extend(plan.decisions.iter().map(|decision| decision_note(decision.into(), &files)));
        }
        if let Payload::Prose(prose) = self {
            let decisions = DesignDocument::read(prose.markdown.0.as_str()).decisions();
            notes.extend(decisions.into_iter().map(|decision| {
                let decision = Decision {
                    id: decision.id,
                    title: decision.title,
                    context: decision.affects,
                    rejected: Some(decision.alternatives).filter(|it| !it.is_empty()).into_iter().collect(),
                    rationale: decision.rationale,
                    ..Decision::default()
                };
                decision_note(decision, &[])
            }));
        }
        if let Payload::Knowledge(it) = self {
            notes.extend(it.decisions.iter().map(|entry| {
                let decision = Decision {
                    id: entry.id.clone(),
                    title: entry.text.0.clone(),
                    rationale: entry.rationale.clone(),
                    ..Decision::default()
                };
                decision_note(decision, &entry.files)
            }));
            notes.extend(it.lessons.iter().map(|lesson| {
                note(NoteKind::Lesson, with_reason(&lesson.text.0, &lesson.evidence), &lesson.files)
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
    Note { files: files.to_vec(), ..Note::new(kind, text) }
}

/// A decision for the decisions log, with the files that it concerns.
pub fn decision_note(decision: Decision, files: &[String]) -> Note {
    let mut files = files.to_vec();
    files.sort();
    files.dedup();
    let text = with_reason(&decision.title, &decision.rationale);
    Note { files, decision: Some(decision), ..Note::new(NoteKind::Decision, text) }
}

fn with_reason(text: &str, reason: &str) -> String {
    if reason.trim().is_empty() { text.to_string() } else { format!("{text} ({reason})") }
}
