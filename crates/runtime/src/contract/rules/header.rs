//! The header: the result is of this phase, instance and task, and the count of findings is right.

use super::super::expectation::Expectation;
use super::super::problem::Problem;
use super::super::schema::SchemaId;
use super::super::schema::words::Status;
use super::super::shape::squashed;
use serde_json::Value;

/// A result of another phase or instance is refused: it was left by an earlier dispatch.
pub(in crate::contract) fn header(document: &Value, expected: &Expectation) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (key, known) in [("step", &expected.step), ("instance", &expected.instance)] {
        let given = document.get(key).and_then(Value::as_str).unwrap_or_default();
        if !known.is_empty() && squashed(given) != squashed(known) {
            problems.push(Problem::new(key, format!("`{known}`"), format!("`{given}`")));
        }
    }
    // A body may leave its task out; one that names another task is of another dispatch.
    let task =
        document.pointer("/payload/task").and_then(Value::as_str).filter(|task| !task.trim().is_empty());
    if let (Some(known), Some(given)) = (&expected.known.task, task)
        && squashed(given) != squashed(known)
    {
        problems.push(Problem::new("payload.task", format!("`{known}`"), format!("`{given}`")));
    }
    let count = document.pointer("/completion/findings_count").and_then(Value::as_u64);
    let listed = document.pointer("/payload/findings").and_then(Value::as_array).map_or(0, Vec::len);
    if let Some(count) = count
        && usize::try_from(count) != Ok(listed)
    {
        let expected = format!("{listed}, as many as `payload.findings` lists");
        problems.push(Problem::new("completion.findings_count", expected, count.to_string()));
    }
    problems
}

/// A happy verdict does not ask for a revision. A diagnosis has no happy verdict, so it may.
pub(in crate::contract) fn status(
    document: &Value,
    verdict: &str,
    expected: &Expectation,
) -> Option<Problem> {
    let is_happy = expected.says.first().map(String::as_str) == Some(verdict);
    let given = document.pointer("/completion/status").and_then(Value::as_str);
    let asks = given == Some(Status::NeedsRevision.name());
    (is_happy && asks && expected.schema != SchemaId::Diagnosis).then(|| {
        let expected = format!("`DONE` beside the verdict `{verdict}`");
        Problem::new("completion.status", expected, "`NEEDS_REVISION`")
    })
}
