//! Reads a document as the result of one dispatch: validates it, checks the rules and converts it for the kernel.

use super::expectation::{DISPUTED, Expectation, FindingsRule};
use super::find::{RawResult, find};
use super::limits::ResultLimits;
use super::payload::Payload;
use super::problem::{ContractProblem, describe_value, too_short};
use super::rules;
use super::schema::SchemaId;
use super::schema::finding;
use super::schema::header::{CommonPayload, Completion};
use super::schema::implementation::Dispute;
use super::schema::plan::PlannedTask;
use super::schema::words::CompletionStatus;
use super::shape::{at, listed_findings, normalize, required};
use super::{spelling, validate};
use remand_kernel::change::Approach;
use remand_kernel::criteria::CriterionJudgement;
use remand_kernel::event::{Item, Risk};
use remand_kernel::finding::Finding;
use remand_ledger::fact::Note;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A result that satisfies its contract.
#[derive(Clone, Debug)]
pub struct AcceptedResult {
    /// The whole document, cleaned and in canonical spelling. Unknown fields are kept.
    pub value: Value,
    /// The typed payload.
    pub payload: Payload,
    pub says: String,
    pub status: CompletionStatus,
    pub summary: String,
    pub findings: Vec<Finding>,
    /// Severities from another scale that were mapped to ours, one line each.
    pub mapped: Vec<String>,
    /// Lists for the kernel, such as `tasks`.
    pub lists: Vec<(String, Vec<Item>)>,
    pub risk: Option<Risk>,
    pub approach: Option<Approach>,
    pub flags: Vec<(String, bool)>,
    pub hypothesis: Option<String>,
    pub disputes: Vec<Dispute>,
    pub criteria: Vec<CriterionJudgement>,
    /// The tasks of a plan. A task with a red file is large, whatever size the plan states.
    pub tasks: Vec<PlannedTask>,
    /// Task ids by wave. Each wave depends only on earlier waves.
    pub waves: Vec<Vec<String>>,
    /// Notes for the ledger: mappings, concerns, decisions, lessons, proposals.
    pub notes: Vec<Note>,
}

/// Why a document is not a usable result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The agent reports that it failed.
    Failed { summary: String },
    /// The document does not satisfy its contract.
    Malformed {
        problems: Vec<ContractProblem>,
        /// Security blockers among its findings. They count even though the result is malformed.
        blockers: Vec<Finding>,
    },
}

/// Reads the document that `find` found.
pub fn read(
    mut value: Value,
    expected: &Expectation,
    limits: &ResultLimits,
) -> Result<AcceptedResult, Rejection> {
    let entry = expected.schema.schema();
    if let Some(problem) = validate::check_version(&value) {
        return Err(Rejection::Malformed { problems: vec![problem], blockers: Vec::new() });
    }
    let mapped = spelling::respell(&mut value, &entry.json);
    if let Some(summary) = reported_failure(&value) {
        return Err(Rejection::Failed { summary });
    }
    fill_header(&mut value, expected);
    value.sort_all_objects();
    read_respelled(&value, mapped, expected, limits).map_err(|mut problems| {
        problems.dedup();
        let mut problems = grouped(problems);
        problems.truncate(limits.problems);
        Rejection::Malformed { problems, blockers: security_blockers(&value) }
    })
}

/// If more entries of a list than this have the same problem, it is reported only once.
const MAX_SAME: usize = 3;

/// If many entries of a list have the same problem, reports it for the first entry, with the number of the other
/// entries.
fn grouped(problems: Vec<ContractProblem>) -> Vec<ContractProblem> {
    let form = |problem: &ContractProblem| {
        let path: String = problem.path.chars().filter(|it| !it.is_ascii_digit()).collect();
        (path, problem.expected.clone())
    };
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for problem in problems.iter().filter(|problem| problem.path.contains('[')) {
        *counts.entry(form(problem)).or_default() += 1;
    }
    counts.retain(|_, count| *count > MAX_SAME);
    let mut seen = BTreeSet::new();
    let report = |problem: ContractProblem| {
        let form = form(&problem);
        let Some(count) = counts.get(&form) else { return Some(problem) };
        let others = format!("{} other entries have the same problem", count.saturating_sub(1));
        let hint = problem.hint.as_deref().map_or_else(|| others.clone(), |hint| format!("{hint}; {others}"));
        seen.insert(form).then(|| problem.with_hint(hint))
    };
    problems.into_iter().filter_map(report).collect()
}

/// The problems of a raw result, which needs at least `min_chars` characters. Empty if the contract accepts the result,
/// or if the agent reports that it failed.
pub fn problems(
    raw: &RawResult,
    expected: &Expectation,
    min_chars: usize,
    limits: &ResultLimits,
) -> Vec<ContractProblem> {
    if let Some(problem) = too_short(&raw.text(), min_chars) {
        return vec![problem];
    }
    match find(raw, limits).map(|found| read(found.value, expected, limits)) {
        Err(problem) => vec![problem],
        Ok(Err(Rejection::Malformed { problems, .. })) => problems,
        Ok(Ok(_) | Err(Rejection::Failed { .. })) => Vec::new(),
    }
}

fn read_respelled(
    value: &Value,
    mapped: Vec<String>,
    expected: &Expectation,
    limits: &ResultLimits,
) -> Result<AcceptedResult, Vec<ContractProblem>> {
    let mut problems = too_many_findings(value, limits);
    let verdict = match verdict(value, expected) {
        Ok(verdict) => Some(verdict),
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    let id = verdict.as_deref().map_or(expected.schema, |verdict| effective_schema(value, verdict, expected));
    problems.extend(validate::validate(value, id.schema()));
    problems.extend(validate::misspelt(value, &expected.schema.schema().json));
    problems.extend(rules::header(value, expected));
    let payload = value.get("payload").cloned().unwrap_or_default();
    let payload = Payload::read(id, payload).ok();
    if let (Some(payload), Some(common), Some(verdict)) = (&payload, common(value), &verdict) {
        problems.extend(rules::status(value, verdict, expected));
        problems.extend(rules::findings(&common, verdict, expected));
        problems.extend(rules::payload(payload, verdict, expected));
    }
    match (payload, verdict, completion(value), common(value)) {
        (Some(payload), Some(says), Some(completion), Some(common)) if problems.is_empty() => {
            Ok(assemble(value, payload, says, completion, common, mapped, expected))
        }
        _ if problems.is_empty() => {
            Err(vec![ContractProblem::new("", format!("a `{}`", id.name()), describe_value(value))])
        }
        _ => Err(problems),
    }
}

/// The schema that applies. A role that rejects its input may return only findings: a planner without a plan, a designer
/// without a design. Then the findings are the whole result.
fn effective_schema(value: &Value, verdict: &str, expected: &Expectation) -> SchemaId {
    let is_success = expected.says.first().map(String::as_str) == Some(verdict);
    if is_success || verdict == DISPUTED || expected.findings == FindingsRule::NotAsked {
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
    payload: Payload,
    says: String,
    completion: Completion,
    common: CommonPayload,
    mapped: Vec<String>,
    expected: &Expectation,
) -> AcceptedResult {
    let tasks = payload.tasks();
    let flags = common.flags.iter().filter(|(flag, _)| expected.sets.contains(flag));
    AcceptedResult {
        says,
        status: completion.status,
        summary: completion.summary.trim().to_string(),
        findings: common.findings.iter().cloned().map(Finding::from).collect(),
        lists: payload.lists(value),
        risk: payload.risk().or(completion.risk_level.map(Into::into)),
        approach: payload.approach(),
        flags: flags.map(|(flag, set)| (flag.clone(), *set)).collect(),
        hypothesis: payload.hypothesis(),
        disputes: payload.disputes(),
        criteria: payload.criteria(),
        waves: super::waves::waves(&tasks).unwrap_or_default(),
        tasks,
        notes: payload.notes(&mapped),
        mapped,
        value: value.clone(),
        payload,
    }
}

/// The summary of a result whose status is an error.
fn reported_failure(value: &Value) -> Option<String> {
    let completion = value.get("completion")?;
    (completion.get("status")?.as_str()? == CompletionStatus::Error.name()).then(|| {
        completion.get("summary").and_then(Value::as_str).unwrap_or("no summary was given").trim().to_string()
    })
}

/// Fills in the header fields that the agent left out.
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

/// The verdict that the payload states; otherwise the only possible one, or the one that the status implies.
fn verdict(value: &Value, expected: &Expectation) -> Result<String, ContractProblem> {
    let says = || super::problem::one_of(expected.says.iter().map(String::as_str));
    let given = value.get("payload").and_then(|payload| payload.get("verdict")).filter(|it| !it.is_null());
    if let Some(given) = given {
        let word = given.as_str().map(normalize).unwrap_or_default();
        let known = expected.says.iter().find(|verdict| normalize(verdict) == word);
        return known
            .cloned()
            .ok_or_else(|| ContractProblem::new("payload.verdict", says(), describe_value(given)));
    }
    let status = value.get("completion").and_then(|it| it.get("status")).and_then(Value::as_str);
    match expected.says.as_slice() {
        [only] => Ok(only.clone()),
        [done, other] if done == "done" && status == Some(CompletionStatus::NeedsRevision.name()) => {
            Ok(other.clone())
        }
        [done, _] if done == "done" && status == Some(CompletionStatus::Done.name()) => Ok(done.clone()),
        _ => Err(ContractProblem::new("payload.verdict", says(), "nothing")),
    }
}

fn too_many_findings(value: &Value, limits: &ResultLimits) -> Vec<ContractProblem> {
    let count = listed_findings(value).len();
    let problem = || {
        ContractProblem::new(
            "payload.findings",
            format!("at most {} findings", limits.findings),
            format!("{count}"),
        )
    };
    (count > limits.findings).then(problem).into_iter().collect()
}

fn completion(value: &Value) -> Option<Completion> {
    serde_json::from_value(value.get("completion")?.clone()).ok()
}

fn common(value: &Value) -> Option<CommonPayload> {
    serde_json::from_value(value.get("payload")?.clone()).ok()
}

fn security_blockers(value: &Value) -> Vec<Finding> {
    // A finding that does not parse is already among the problems.
    let parsed = listed_findings(value).iter().filter_map(|finding| {
        let finding: finding::ReportedFinding = serde_json::from_value(finding.clone()).ok()?;
        Some(Finding::from(finding))
    });
    parsed.filter(Finding::is_security_blocker).collect()
}
