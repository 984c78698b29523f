//! Reads a document as the result of one dispatch: validated, its rules checked, and turned into what the kernel takes.

use super::content::Content;
use super::expectation::{Expectation, FindingsRule};
use super::limits::Limits;
use super::problem::{Problem, shown};
use super::rules;
use super::schema::SchemaId;
use super::schema::finding;
use super::schema::header::{Completion, Said};
use super::schema::implementation::Dispute;
use super::schema::plan::Task;
use super::schema::words::Status;
use super::shape::{at, required, squashed};
use super::{spelling, validate};
use remand_kernel::change::Approach;
use remand_kernel::criteria::CriterionJudgement;
use remand_kernel::event::{Item, Risk};
use remand_kernel::finding::Finding;
use remand_ledger::fact::Note;
use serde_json::Value;

/// A result that obeys its contract.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The whole document, cleaned and in our spelling; fields that nobody knows are kept.
    pub value: Value,
    /// The payload by its schema.
    pub content: Content,
    pub says: String,
    pub status: Status,
    pub summary: String,
    pub findings: Vec<Finding>,
    /// Severities of the source's second list that were mapped, one line each (EP-07).
    pub mapped: Vec<String>,
    /// Lists for the kernel, such as `tasks`.
    pub lists: Vec<(String, Vec<Item>)>,
    pub risk: Option<Risk>,
    pub approach: Option<Approach>,
    pub flags: Vec<(String, bool)>,
    pub hypothesis: Option<String>,
    pub disputes: Vec<Dispute>,
    pub criteria: Vec<CriterionJudgement>,
    /// The tasks of a plan, with their sizes as they count: any red file makes a task large.
    pub tasks: Vec<Task>,
    /// Ids of tasks, wave by wave; each wave depends on earlier ones only.
    pub waves: Vec<Vec<String>>,
    /// For the ledger: mappings, concerns, decisions, lessons, proposals.
    pub notes: Vec<Note>,
}

/// Why a document is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The agent itself says that it failed.
    Failed { summary: String },
    /// It does not obey its contract.
    Malformed {
        problems: Vec<Problem>,
        /// Security blockers among its findings: they count whatever else is wrong with it.
        blockers: Vec<Finding>,
    },
}

/// Reads a document that was found.
pub fn read(mut value: Value, expected: &Expectation, limits: &Limits) -> Result<Reading, Unread> {
    let entry = expected.schema.schema();
    if let Some(problem) = validate::check_version(&value) {
        return Err(Unread::Malformed { problems: vec![problem], blockers: Vec::new() });
    }
    let mapped = spelling::respell(&mut value, &entry.json);
    if let Some(summary) = failed(&value) {
        return Err(Unread::Failed { summary });
    }
    fill_header(&mut value, expected);
    value.sort_all_objects();
    read_spelt(&value, mapped, expected, limits).map_err(|mut problems| {
        problems.dedup();
        problems.truncate(limits.problems);
        Unread::Malformed { problems, blockers: security_blockers(&value) }
    })
}

fn read_spelt(
    value: &Value,
    mapped: Vec<String>,
    expected: &Expectation,
    limits: &Limits,
) -> Result<Reading, Vec<Problem>> {
    let mut problems = too_many(value, limits);
    let verdict = match verdict(value, expected) {
        Ok(verdict) => Some(verdict),
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    let id = verdict.as_deref().map_or(expected.schema, |verdict| effective(value, verdict, expected));
    problems.extend(validate::validate(value, id.schema()));
    problems.extend(validate::misspelt(value, &expected.schema.schema().json));
    problems.extend(rules::header(value, expected));
    let payload = value.get("payload").cloned().unwrap_or_default();
    let content = Content::read(id, payload).ok();
    if let (Some(content), Some(said), Some(verdict)) = (&content, said(value), &verdict) {
        problems.extend(rules::status(value, verdict, expected));
        problems.extend(rules::findings(&said, verdict, expected));
        problems.extend(rules::payload(content, verdict, expected));
    }
    match (content, verdict, completion(value), said(value)) {
        (Some(content), Some(says), Some(completion), Some(said)) if problems.is_empty() => {
            Ok(assemble(value, content, says, completion, said, mapped, expected))
        }
        _ if problems.is_empty() => Err(vec![Problem::new("", format!("a `{}`", id.name()), shown(value))]),
        _ => Err(problems),
    }
}

/// A role that sends work back by its findings has nothing else to show: a planner without a plan, a designer without
/// a design. Its findings are then the whole result.
fn effective(value: &Value, verdict: &str, expected: &Expectation) -> SchemaId {
    let is_happy = expected.says.first().map(String::as_str) == Some(verdict);
    if is_happy || expected.findings == FindingsRule::NotAsked {
        return expected.schema;
    }
    match expected.schema {
        SchemaId::ResearchOutput
        | SchemaId::SpecOutput
        | SchemaId::DesignOutput
        | SchemaId::PlanOutput
        | SchemaId::SplitOutput
        | SchemaId::Task
        | SchemaId::ImplementationReport
        | SchemaId::KnowledgeOutput
        | SchemaId::Document => {
            let lacks = |name: &&str| match value.get("payload").and_then(|payload| payload.get(*name)) {
                None | Some(Value::Null) => true,
                Some(Value::Array(items)) => items.is_empty(),
                Some(Value::String(text)) => text.trim().is_empty(),
                Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => false,
            };
            let needed = at(&expected.schema.schema().json, "/payload").map(required).unwrap_or_default();
            if needed.iter().any(lacks) { SchemaId::Finding } else { expected.schema }
        }
        SchemaId::CompletionContract
        | SchemaId::VerificationReport
        | SchemaId::ReviewFindings
        | SchemaId::Finding
        | SchemaId::Verdict
        | SchemaId::Diagnosis
        | SchemaId::FindingsReport
        | SchemaId::GapInventory
        | SchemaId::GapProposals
        | SchemaId::GapReview => expected.schema,
    }
}

fn assemble(
    value: &Value,
    content: Content,
    says: String,
    completion: Completion,
    said: Said,
    mapped: Vec<String>,
    expected: &Expectation,
) -> Reading {
    let tasks = content.tasks();
    let flags = said.flags.iter().filter(|(flag, _)| expected.sets.contains(flag));
    Reading {
        says,
        status: completion.status,
        summary: completion.summary.trim().to_string(),
        findings: said.findings.iter().cloned().map(Finding::from).collect(),
        lists: content.lists(value),
        risk: content.risk().or(completion.risk_level.map(Into::into)),
        approach: content.approach(),
        flags: flags.map(|(flag, set)| (flag.clone(), *set)).collect(),
        hypothesis: content.hypothesis(),
        disputes: content.disputes(),
        criteria: content.criteria(),
        waves: super::waves::waves(&tasks).unwrap_or_default(),
        tasks,
        notes: content.notes(&mapped),
        mapped,
        value: value.clone(),
        content,
    }
}

/// The summary of a result that says of itself that it is none.
fn failed(value: &Value) -> Option<String> {
    let completion = value.get("completion")?;
    (completion.get("status")?.as_str()? == Status::Error.name()).then(|| {
        completion.get("summary").and_then(Value::as_str).unwrap_or("no summary was given").trim().to_string()
    })
}

/// The engine knows the header; what the agent left out is filled in.
fn fill_header(value: &mut Value, expected: &Expectation) {
    let Some(root) = value.as_object_mut() else { return };
    for (key, known) in
        [("agent", &expected.role), ("instance", &expected.instance), ("step", &expected.step)]
    {
        let is_blank = root.get(key).is_none_or(|it| it.as_str().is_some_and(|it| it.trim().is_empty()));
        if is_blank {
            root.insert(key.to_string(), Value::from(known.as_str()));
        }
    }
}

/// The verdict: the payload's own word, else the only one there is, else the one that the status stands for.
fn verdict(value: &Value, expected: &Expectation) -> Result<String, Problem> {
    let says = || super::problem::one_of(expected.says.iter().map(String::as_str));
    let given = value.get("payload").and_then(|payload| payload.get("verdict")).filter(|it| !it.is_null());
    if let Some(given) = given {
        let word = given.as_str().map(squashed).unwrap_or_default();
        let known = expected.says.iter().find(|verdict| squashed(verdict) == word);
        return known.cloned().ok_or_else(|| Problem::new("payload.verdict", says(), shown(given)));
    }
    let status = value.get("completion").and_then(|it| it.get("status")).and_then(Value::as_str);
    match expected.says.as_slice() {
        [only] => Ok(only.clone()),
        [done, other] if done == "done" && status == Some(Status::NeedsRevision.name()) => Ok(other.clone()),
        [done, _] if done == "done" && status == Some(Status::Done.name()) => Ok(done.clone()),
        _ => Err(Problem::new("payload.verdict", says(), "nothing")),
    }
}

fn too_many(value: &Value, limits: &Limits) -> Vec<Problem> {
    let count = value.pointer("/payload/findings").and_then(Value::as_array).map_or(0, Vec::len);
    let problem = || {
        Problem::new("payload.findings", format!("at most {} findings", limits.findings), format!("{count}"))
    };
    (count > limits.findings).then(problem).into_iter().collect()
}

fn completion(value: &Value) -> Option<Completion> {
    serde_json::from_value(value.get("completion")?.clone()).ok()
}

fn said(value: &Value) -> Option<Said> {
    serde_json::from_value(value.get("payload")?.clone()).ok()
}

fn security_blockers(value: &Value) -> Vec<Finding> {
    let listed = value.pointer("/payload/findings").and_then(Value::as_array);
    let parsed = listed.into_iter().flatten().filter_map(|finding| {
        let finding: finding::Finding = serde_json::from_value(finding.clone()).ok()?;
        Some(Finding::from(finding))
    });
    parsed.filter(Finding::is_security_blocker).collect()
}
