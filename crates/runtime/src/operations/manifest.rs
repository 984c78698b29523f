//! `write-manifest`: a task that is built without tests, with the justification and the sign-off, for the final review
//! to judge (OT-14, OT-18).

use super::Done;
use super::tracker::keep;
use crate::dispatch::{content, document, parsed};
use crate::workshop::{Job, Trouble};
use remand_ledger::Reader;
use remand_ledger::query::DispatchRow;
use serde_json::Value;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let reader = job.site.reader()?;
    let documents = parsed(&reader.artifacts(&job.site.run)?, &reader)?;
    let task = documents.get("tasks").and_then(|tasks| tasks.pointer("/payload/tasks/0"));
    let part = |key: &str| task.and_then(|task| task.get(key)).and_then(Value::as_str).unwrap_or_default();
    let justification = last_of_tests(job, &reader)?.map(|value| told(&value)).unwrap_or_default();
    let signed = last_before(job, &reader)?;
    let sign_off = signed.map(|value| told(&value)).unwrap_or_default();
    let text = format!(
        "# Tasks completed without tests\n\n## {} {}\n\n### Justification\n\n{justification}\n\n### Sign-off\n\n{sign_off}\n",
        part("id"),
        part("title"),
    );
    let mut done = Done::saying("written");
    keep(job, &mut done, "manifest", "md", &text);
    Ok(done)
}

/// What the role that writes tests said last.
pub fn last_of_tests(job: &Job, reader: &Reader) -> Result<Option<Value>, Trouble> {
    let tests = job.program.artifact_named("tests");
    last(reader, job, |row| {
        job.program.contracts.iter().any(|contract| {
            contract.title() == row.role && tests.is_some_and(|tests| contract.changes.contains(&tests))
        })
    })
}

/// What was said right before this operation: the sign-off that led here.
fn last_before(job: &Job, reader: &Reader) -> Result<Option<Value>, Trouble> {
    last(reader, job, |row| !row.advisory)
}

fn last(reader: &Reader, job: &Job, wanted: impl Fn(&DispatchRow) -> bool) -> Result<Option<Value>, Trouble> {
    let rows = reader.dispatches(&job.site.run)?;
    let row = rows.iter().rev().find(|row| row.says.is_some() && wanted(row));
    let text = row.and_then(|row| row.result).map(|result| content(reader, result)).transpose()?;
    Ok(text.and_then(|text| document(&text)))
}

/// The words of a result, as they were given.
fn told(value: &Value) -> String {
    let text =
        |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().trim().to_string();
    let open = value.pointer("/payload/open").and_then(Value::as_array).cloned().unwrap_or_default();
    let open = open.iter().filter_map(Value::as_str).map(|line| format!("- {line}"));
    let parts = [text("/completion/summary"), text("/payload/hypothesis"), text("/payload/summary")];
    let mut parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.dedup();
    let open: Vec<String> = open.collect();
    if !open.is_empty() {
        parts.push(open.join("\n"));
    }
    parts.join("\n\n")
}
