//! Ids of traces and spans, derived from the run, so that they are the same in every export.

use remand_ledger::RunId;

const TRACE: &str = "remand 2026 trace id";
const SPAN: &str = "remand 2026 span id";
const TASK: &str = "remand 2026 task id";

/// The id of the run's trace: 16 bytes in hexadecimal.
pub fn trace_id(run: &RunId) -> String {
    hex(TRACE, &run.0, 32)
}

/// The id of one span: 8 bytes in hexadecimal. `key` is unique in the run.
pub fn span_id(run: &RunId, key: &str) -> String {
    hex(SPAN, &format!("{run}\n{key}"), 16)
}

/// An opaque id for a task of the run: the task's own id can contain words of the request.
pub fn task_id(run: &RunId, task: &str) -> String {
    hex(TASK, &format!("{run}\n{task}"), 16)
}

fn hex(context: &str, text: &str, digits: usize) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    hasher.update(text.as_bytes());
    hasher.finalize().to_hex().chars().take(digits).collect()
}
