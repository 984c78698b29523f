//! Reads documents of a run as typed values: the tasks of its plan, and the results of its roles.

use crate::artifacts::{content, document, parsed};
use crate::site::{Job, Trouble};
use remand_contract::schema::implementation::Implementation;
use remand_contract::schema::plan::PlannedTask;
use remand_contract::schema::words;
use remand_contract::{SchemaId, typed_payload};
use remand_kernel::evidence::TaskSize;
use remand_ledger::Reader;
use remand_ledger::query::DispatchRow;
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
struct TaskList {
    tasks: Vec<PlannedTask>,
}

/// The tasks from the first of these artifacts that lists tasks; `None` if none does.
pub fn tasks(job: &Job, reader: &Reader, artifacts: &[&str]) -> Result<Option<Vec<PlannedTask>>, Trouble> {
    let mut documents = parsed(&reader.artifacts(&job.site.run)?, reader)?;
    let list = artifacts.iter().find_map(|name| {
        let payload = documents.get_mut(*name)?.get_mut("payload")?.take();
        serde_json::from_value::<TaskList>(payload).ok()
    });
    Ok(list.map(|list| list.tasks))
}

/// The size of a task according to the plan. A large task needs more evidence.
pub fn task_size(job: &Job, id: &str) -> Result<TaskSize, Trouble> {
    let tasks = tasks(job, &job.site.reader()?, &["plan"])?.unwrap_or_default();
    let task = tasks.iter().find(|task| task.id == id);
    Ok(match task.map(|task| task.size) {
        Some(words::ReportedSize::Large) => TaskSize::Large,
        Some(words::ReportedSize::Standard) | None => TaskSize::Standard,
    })
}

/// The payload that a dispatch returned; `None` if it does not match the schema.
pub fn result_of<P: DeserializeOwned>(
    reader: &Reader,
    row: &DispatchRow,
    schema: SchemaId,
) -> Result<Option<P>, Trouble> {
    let Some(result) = row.result else { return Ok(None) };
    let document = document(&content(reader, result)?);
    Ok(document.and_then(|document| typed_payload(document, schema)))
}

/// The last accepted result of a role that writes tests.
pub fn last_test_writer_result(job: &Job, reader: &Reader) -> Result<Option<DispatchRow>, Trouble> {
    let Some(tests) = job.program.artifact_named("tests") else { return Ok(None) };
    let writes_tests = |role: &str| {
        let contracts = &job.program.contracts;
        contracts.iter().any(|contract| contract.title() == role && contract.changes.contains(&tests))
    };
    let rows = reader.dispatches(&job.site.run)?;
    Ok(rows.into_iter().rfind(|row| row.says.is_some() && writes_tests(&row.role)))
}

/// The last accepted result of a role that writes tests, as an implementation report.
pub fn last_test_report(job: &Job, reader: &Reader) -> Result<Option<Implementation>, Trouble> {
    match last_test_writer_result(job, reader)? {
        Some(row) => result_of(reader, &row, SchemaId::ImplementationReport),
        None => Ok(None),
    }
}
