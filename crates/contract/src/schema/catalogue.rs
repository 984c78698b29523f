//! The catalogue of schemas: who produces each result, who reads it, and a filled example.

use super::header::{BarePayload, Document};
use super::{
    design, diagnosis, document, failure, gaps, implementation, knowledge, plan, research, review, spec,
    verification,
};
use jsonschema::Validator;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::str::FromStr;
use std::sync::LazyLock;

/// The version of the schemas. Results of another major version are rejected.
pub const VERSION: &str = "1.0";

pub const MAJOR: u64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchemaId {
    CompletionContract,
    ResearchOutput,
    SpecOutput,
    DesignOutput,
    PlanOutput,
    SplitOutput,
    Task,
    ImplementationReport,
    VerificationReport,
    ReviewFindings,
    KnowledgeOutput,
    Finding,
    Verdict,
    Diagnosis,
    FindingsReport,
    Document,
    GapInventory,
    GapProposals,
    GapReview,
}

#[derive(Debug)]
pub struct Schema {
    pub id: SchemaId,
    pub name: &'static str,
    pub version: &'static str,
    pub about: &'static str,
    pub producer: &'static str,
    pub consumers: &'static [&'static str],
    /// A filled result, as YAML.
    pub example: &'static str,
    /// The JSON Schema of the whole result.
    pub json: Value,
    pub(crate) validator: Option<Validator>,
}

impl SchemaId {
    pub const ALL: [SchemaId; 19] = [
        SchemaId::CompletionContract,
        SchemaId::ResearchOutput,
        SchemaId::SpecOutput,
        SchemaId::DesignOutput,
        SchemaId::PlanOutput,
        SchemaId::SplitOutput,
        SchemaId::Task,
        SchemaId::ImplementationReport,
        SchemaId::VerificationReport,
        SchemaId::ReviewFindings,
        SchemaId::KnowledgeOutput,
        SchemaId::Finding,
        SchemaId::Verdict,
        SchemaId::Diagnosis,
        SchemaId::FindingsReport,
        SchemaId::Document,
        SchemaId::GapInventory,
        SchemaId::GapProposals,
        SchemaId::GapReview,
    ];

    pub fn schema(self) -> &'static Schema {
        // `ALL` has the order of the enum; a test proves it.
        &schemas()[self as usize]
    }

    /// The name in role files.
    pub fn name(self) -> &'static str {
        match self {
            SchemaId::CompletionContract => "completion-contract",
            SchemaId::ResearchOutput => "research-output",
            SchemaId::SpecOutput => "spec-output",
            SchemaId::DesignOutput => "design-output",
            SchemaId::PlanOutput => "plan-output",
            SchemaId::SplitOutput => "split-output",
            SchemaId::Task => "task",
            SchemaId::ImplementationReport => "implementation-report",
            SchemaId::VerificationReport => "verification-report",
            SchemaId::ReviewFindings => "review-findings",
            SchemaId::KnowledgeOutput => "knowledge-output",
            SchemaId::Finding => "finding",
            SchemaId::Verdict => "verdict",
            SchemaId::Diagnosis => "diagnosis",
            SchemaId::FindingsReport => "findings-report",
            SchemaId::Document => "document",
            SchemaId::GapInventory => "gap-inventory",
            SchemaId::GapProposals => "gap-proposals",
            SchemaId::GapReview => "gap-review",
        }
    }
}

/// No schema has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown schema `{0}`: use one of {known}", known = names())]
pub struct UnknownSchema(pub String);

fn names() -> String {
    SchemaId::ALL.map(SchemaId::name).join(", ")
}

impl FromStr for SchemaId {
    type Err = UnknownSchema;

    fn from_str(text: &str) -> Result<SchemaId, UnknownSchema> {
        let known = SchemaId::ALL.into_iter().find(|id| id.name() == text);
        known.ok_or_else(|| UnknownSchema(text.to_string()))
    }
}

/// The schema with this name.
pub fn schema(name: &str) -> Option<&'static Schema> {
    schemas().iter().find(|schema| schema.name == name)
}

/// Every schema, in the order of [`SchemaId::ALL`].
pub fn schemas() -> &'static [Schema] {
    static ALL: LazyLock<Vec<Schema>> = LazyLock::new(|| SchemaId::ALL.into_iter().map(entry).collect());
    &ALL
}

macro_rules! json {
    ($payload:ty) => {
        schemars::schema_for!(Document<$payload>).to_value()
    };
}

fn entry(id: SchemaId) -> Schema {
    let (about, producer, consumers, mut json): (_, _, &'static [&'static str], Value) = match id {
        SchemaId::CompletionContract => (
            "The parts that all results share: the header and the completion.",
            "every role",
            &["the engine"],
            json!(BarePayload),
        ),
        SchemaId::ResearchOutput => (
            "Observations about the repository from one perspective.",
            "researcher",
            &["spec", "designer"],
            json!(research::Research),
        ),
        SchemaId::SpecOutput => (
            "Requirements and acceptance criteria.",
            "spec",
            &["designer", "planner", "implementer", "verifier"],
            json!(spec::Spec),
        ),
        SchemaId::DesignOutput => (
            "Design decisions with their reasons.",
            "designer",
            &["planner", "implementer", "reviewer"],
            json!(design::DesignPayload),
        ),
        SchemaId::PlanOutput => (
            "Tasks with risks, sizes and dependencies.",
            "planner",
            &["the engine", "implementer", "verifier"],
            json!(plan::PlanPayload),
        ),
        SchemaId::SplitOutput => (
            "A plan as one task, or as several independent tasks.",
            "plan",
            &["the engine", "check", "test", "make"],
            json!(plan::SplitPayload),
        ),
        SchemaId::Task => (
            "One task with its files, criteria and context.",
            "planner",
            &["implementer", "verifier"],
            json!(plan::TaskPayload),
        ),
        SchemaId::ImplementationReport => (
            "The report of an implementer: baseline, changes, self-check, disputes.",
            "implementer",
            &["verifier"],
            json!(implementation::Implementation),
        ),
        SchemaId::VerificationReport => (
            "A judgement of each acceptance criterion of a task, with a location or an evidence row.",
            "verifier",
            &["the engine", "reviewer"],
            json!(verification::Verification),
        ),
        SchemaId::ReviewFindings => (
            "An adversarial review from one perspective: a verdict and its findings.",
            "reviewer",
            &["the engine", "knowledge"],
            json!(review::Review),
        ),
        SchemaId::KnowledgeOutput => (
            "Decisions and lessons for later runs, and proposals for instruction files.",
            "knowledge",
            &["later runs"],
            json!(knowledge::Knowledge),
        ),
        SchemaId::Finding => (
            "Only findings.",
            "every role that reports findings",
            &["the engine", "the role that receives them"],
            json!(review::FindingPayload),
        ),
        SchemaId::Verdict => (
            "A review: a verdict and its findings.",
            "check, simplify and the other reviewers",
            &["the engine", "the role that receives the findings"],
            json!(review::VerdictPayload),
        ),
        SchemaId::Diagnosis => (
            "Why the work was not finished: one cause, with notes for the next attempt.",
            "check",
            &["the engine", "make", "test"],
            json!(diagnosis::Diagnosis),
        ),
        SchemaId::FindingsReport => (
            "Why a design does not work, reported by the role closest to the failure.",
            "coder, checks, reviewer or prototyper",
            &["a human", "architect", "design-reviewer"],
            json!(failure::FindingsReport),
        ),
        SchemaId::Document => (
            "A Markdown artifact.",
            "architect, plan, documenter, prototyper",
            &["the roles that read the artifact"],
            json!(document::DocumentPayload),
        ),
        SchemaId::GapInventory => (
            "The gaps of a specification, and what was examined.",
            "spec-reviewer",
            &["the engine", "engineer"],
            json!(gaps::GapInventory),
        ),
        SchemaId::GapProposals => (
            "Proposed text that closes gaps, and answers to issues.",
            "engineer",
            &["spec-reviewer", "the engine"],
            json!(gaps::GapProposals),
        ),
        SchemaId::GapReview => (
            "A review of each proposal, and what was checked.",
            "spec-reviewer",
            &["the engine", "engineer"],
            json!(gaps::GapReview),
        ),
    };
    json.sort_all_objects();
    let validator = jsonschema::validator_for(&json).ok();
    Schema {
        id,
        name: id.name(),
        version: VERSION,
        about,
        producer,
        consumers,
        example: example(id),
        json,
        validator,
    }
}

fn example(id: SchemaId) -> &'static str {
    match id {
        SchemaId::CompletionContract => include_str!("../examples/completion-contract.yaml"),
        SchemaId::ResearchOutput => include_str!("../examples/research-output.yaml"),
        SchemaId::SpecOutput => include_str!("../examples/spec-output.yaml"),
        SchemaId::DesignOutput => include_str!("../examples/design-output.yaml"),
        SchemaId::PlanOutput => include_str!("../examples/plan-output.yaml"),
        SchemaId::SplitOutput => include_str!("../examples/split-output.yaml"),
        SchemaId::Task => include_str!("../examples/task.yaml"),
        SchemaId::ImplementationReport => include_str!("../examples/implementation-report.yaml"),
        SchemaId::VerificationReport => include_str!("../examples/verification-report.yaml"),
        SchemaId::ReviewFindings => include_str!("../examples/review-findings.yaml"),
        SchemaId::KnowledgeOutput => include_str!("../examples/knowledge-output.yaml"),
        SchemaId::Finding => include_str!("../examples/finding.yaml"),
        SchemaId::Verdict => include_str!("../examples/verdict.yaml"),
        SchemaId::Diagnosis => include_str!("../examples/diagnosis.yaml"),
        SchemaId::FindingsReport => include_str!("../examples/findings-report.yaml"),
        SchemaId::Document => include_str!("../examples/document.yaml"),
        SchemaId::GapInventory => include_str!("../examples/gap-inventory.yaml"),
        SchemaId::GapProposals => include_str!("../examples/gap-proposals.yaml"),
        SchemaId::GapReview => include_str!("../examples/gap-review.yaml"),
    }
}
