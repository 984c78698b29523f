//! Reads artifacts from the ledger.

use crate::site::Trouble;
use remand_contract::schema::implementation::Dispute;
use remand_contract::schema::plan::PlannedTask;
use remand_contract::{RawResult, ResultLimits, find};
use remand_ledger::query::ArtifactRow;
use remand_ledger::{BlobId, LedgerError, Reader, RunId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// Artifacts that list tasks. The list of a split replaces the plan, so it comes first.
pub const TASK_LISTS: [&str; 2] = ["tasks", "plan"];

/// A result as it is stored; only the payload depends on the schema.
#[derive(Deserialize)]
struct StoredResult<P> {
    payload: P,
}

/// The payload of a plan or a split.
#[derive(Deserialize)]
struct StoredTasks {
    tasks: Vec<Value>,
}

/// A task of a stored plan or split.
#[derive(Clone, Debug)]
pub struct StoredTask {
    pub task: PlannedTask,
    /// The task as it is stored; a rendering keeps all its fields.
    pub source: Value,
}

/// The text of a blob, which must be in the ledger.
pub fn content(reader: &Reader, id: BlobId) -> Result<String, LedgerError> {
    Ok(String::from_utf8_lossy(&reader.blob(id)?).into_owned())
}

/// The structured artifacts, by name.
pub fn parsed(rows: &[ArtifactRow], reader: &Reader) -> Result<BTreeMap<String, Value>, Trouble> {
    let mut parsed = BTreeMap::new();
    for row in rows.iter().filter(|row| is_structured(row)) {
        let text = content(reader, row.blob)?;
        if let Some(value) = document(&text) {
            parsed.insert(row.name.clone(), value);
        }
    }
    Ok(parsed)
}

/// A stored artifact as structured data; `None` if it is not structured.
pub fn document(text: &str) -> Option<Value> {
    document_of(Some(text.to_string()), String::new())
}

/// A result as structured data, from the file or the answer of an agent; `None` if neither is structured.
pub fn document_of(file: Option<String>, answer: String) -> Option<Value> {
    let raw = RawResult { file: file.map(String::into_bytes), answer };
    find(&raw, &ResultLimits::default()).ok().map(|found| found.value)
}

/// The payload of a stored result; `None` if it has another schema.
pub fn payload<P: DeserializeOwned>(text: &str) -> Option<P> {
    payload_of(document(text)?)
}

/// The Markdown of a stored document. A document of an agent has more fields; a document that the engine copied from a
/// branch has only this one.
pub fn markdown(text: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Document {
        markdown: String,
    }
    payload::<Document>(text).map(|document| document.markdown)
}

/// The payload of a parsed result; `None` if it has another schema.
pub fn payload_of<P: DeserializeOwned>(result: Value) -> Option<P> {
    serde_json::from_value::<StoredResult<P>>(result).ok().map(|stored| stored.payload)
}

/// The findings that a result disputes.
pub fn disputes(result: Value) -> Vec<Dispute> {
    #[derive(Deserialize)]
    struct Disputing {
        #[serde(default)]
        disputes: Vec<Dispute>,
    }
    payload_of::<Disputing>(result).map(|payload| payload.disputes).unwrap_or_default()
}

/// The payload of the latest version of a structured artifact; `None` if it is missing or has another schema.
pub fn latest_payload<P: DeserializeOwned>(
    run: &RunId,
    name: &str,
    reader: &Reader,
) -> Result<Option<P>, LedgerError> {
    let rows = reader.artifacts(run)?;
    match rows.iter().find(|row| row.name == name && is_structured(row)) {
        Some(row) => Ok(payload(&content(reader, row.blob)?)),
        None => Ok(None),
    }
}

/// The tasks of a stored plan or split; empty for any other result.
pub fn tasks(text: &str) -> Vec<StoredTask> {
    document(text).map(tasks_of).unwrap_or_default()
}

/// The tasks of a parsed plan or split; empty for any other result.
pub fn tasks_of(result: Value) -> Vec<StoredTask> {
    let Some(StoredTasks { tasks }) = payload_of(result) else { return Vec::new() };
    let typed = tasks
        .into_iter()
        .map(|source| PlannedTask::deserialize(&source).map(|task| StoredTask { task, source }));
    typed.filter_map(Result::ok).collect()
}

/// Whether an artifact is a whole result in YAML.
fn is_structured(row: &ArtifactRow) -> bool {
    row.part.is_empty() && row.format == "yaml"
}
