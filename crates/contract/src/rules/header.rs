//! Rules for the header: it names this phase, instance and task, and its number of findings is correct.

use super::super::expectation::Expectation;
use super::super::problem::ContractProblem;
use super::super::schema::SchemaId;
use super::super::schema::words::CompletionStatus;
use super::super::shape::{listed_findings, normalize};
use serde_json::Value;

/// Rejects a result of another phase, instance or task, such as one that an earlier dispatch left.
pub(crate) fn header(document: &Value, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = Vec::new();
    for (key, known) in [("step", &expected.step), ("instance", &expected.instance)] {
        let given = document.get(key).and_then(Value::as_str).unwrap_or_default();
        if !known.is_empty() && normalize(given) != normalize(known) {
            problems.push(ContractProblem::new(key, format!("`{known}`"), format!("`{given}`")));
        }
    }
    // The payload may omit its task. If it names another task, the result belongs to another dispatch.
    let task = document["payload"]["task"].as_str().filter(|task| !task.trim().is_empty());
    if let (Some(known), Some(given)) = (&expected.known.task, task)
        && normalize(given) != normalize(known)
    {
        problems.push(ContractProblem::new("payload.task", format!("`{known}`"), format!("`{given}`")));
    }
    let count = document["completion"]["findings_count"].as_u64();
    let listed = listed_findings(document).len();
    if let Some(count) = count
        && usize::try_from(count) != Ok(listed)
    {
        let expected = format!("{listed}, the number of entries in `payload.findings`");
        problems.push(ContractProblem::new("completion.findings_count", expected, count.to_string()));
    }
    problems
}

/// A success verdict excludes the status `NEEDS_REVISION`. A diagnosis has no success verdict.
pub(crate) fn status(document: &Value, verdict: &str, expected: &Expectation) -> Option<ContractProblem> {
    let is_success = expected.says.first().map(String::as_str) == Some(verdict);
    let needs_revision = document["completion"]["status"] == CompletionStatus::NeedsRevision.name();
    (is_success && needs_revision && expected.schema != SchemaId::Diagnosis).then(|| {
        let expected = format!("`DONE`, because the verdict is `{verdict}`");
        ContractProblem::new("completion.status", expected, "`NEEDS_REVISION`")
    })
}
