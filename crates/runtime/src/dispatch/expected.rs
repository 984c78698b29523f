//! What a dispatch must return: the role's contract, and what the run already knows that it can be held to.

use super::inputs;
use crate::contract::{ApproachRule, Expectation, FindingField, FindingsRule, Known, SchemaId};
use crate::pinned::PinnedRole;
use crate::workshop::{Job, Trouble};
use remand_kernel::command::Dispatch;
use remand_ledger::Reader;
use serde_json::Value;

/// The expectation for one dispatch.
pub fn expectation(
    job: &Job,
    dispatch: &Dispatch,
    role: &PinnedRole,
    reader: &Reader,
) -> Result<Expectation, Trouble> {
    let spec = job.program.contract(dispatch.contract);
    let schema: SchemaId =
        role.result.parse().map_err(|_| Trouble::denied(format!("there is no schema `{}`", role.result)))?;
    let says: Vec<&str> = spec.says.iter().map(|id| job.program.signal(*id)).collect();
    let mut expected = Expectation::new(schema, &spec.title(), job.phase(), &says);
    expected.instance = dispatch.item.clone().or_else(|| dispatch.task.clone()).unwrap_or_default();
    expected.findings = match (spec.findings, spec.by_kind) {
        (false, _) => FindingsRule::NotAsked,
        (true, false) => FindingsRule::Reports { needs: Vec::new() },
        (true, true) => FindingsRule::Reports { needs: vec![FindingField::Kind] },
    };
    expected.approach = if spec.states_approach { ApproachRule::Stated } else { ApproachRule::NotAsked };
    let phase = job.program.phase(job.id.phase);
    expected.sets = phase.sets.iter().map(|flag| job.program.flags[flag.index()].clone()).collect();
    expected.injects = job.program.injects.iter().map(|id| job.program.phase(*id).name.clone()).collect();
    let documents = inputs::parsed(&reader.artifacts(&job.site.run)?, reader)?;
    let judges = schema == SchemaId::VerificationReport;
    expected.known = Known {
        criteria: dispatch.task.as_deref().filter(|_| judges).and_then(|task| criteria(&documents, task)),
        documents: Some(documents),
        gaps: None,
        findings: Some(addressed(job, dispatch)),
        task: dispatch.task.clone(),
    };
    Ok(expected)
}

/// The acceptance criteria of a task, by id.
fn criteria(documents: &std::collections::BTreeMap<String, Value>, task: &str) -> Option<Vec<String>> {
    let tasks = documents.get("plan")?.pointer("/payload/tasks")?.as_array()?;
    let entry = tasks.iter().find(|entry| entry.get("id").and_then(Value::as_str) == Some(task))?;
    let criteria = entry.get("acceptance_criteria")?.as_array()?;
    Some(criteria.iter().filter_map(|entry| entry.get("id")?.as_str()).map(str::to_string).collect())
}

/// The findings that the dispatch must answer, by id.
fn addressed(job: &Job, dispatch: &Dispatch) -> Vec<String> {
    dispatch
        .findings
        .iter()
        .filter_map(|at| job.state.findings.get(*at as usize))
        .map(|filed| filed.finding.id.clone())
        .collect()
}
