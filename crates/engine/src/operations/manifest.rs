//! `write-manifest`: names the task that was built without tests, with justification and sign-off, for the final review.

use super::{Done, planned};
use crate::artifacts::{content, document};
use crate::site::{Job, Trouble};
use remand_ledger::Reader;
use remand_ledger::query::DispatchRow;
use serde::Deserialize;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let reader = job.site.reader()?;
    let tasks = planned::tasks(job, &reader, &["tasks"])?.unwrap_or_default();
    let task = tasks.first();
    let id = task.map(|task| task.id.as_str()).unwrap_or_default();
    let title = task.map(|task| task.title.0.as_str()).unwrap_or_default();
    let justification = prose(&reader, planned::last_test_writer_result(job, &reader)?)?;
    let sign_off = prose(&reader, last_result(job, &reader)?)?;
    let text = format!(
        "# Tasks completed without tests\n\n## {id} {title}\n\n### Justification\n\n{justification}\n\n### Sign-off\n\n{sign_off}\n",
    );
    let mut done = Done::with_signal("written");
    done.add_artifact(job, "manifest", "md", &text);
    Ok(done)
}

/// The last result before this operation, which is the sign-off that led here.
fn last_result(job: &Job, reader: &Reader) -> Result<Option<DispatchRow>, Trouble> {
    let rows = reader.dispatches(&job.site.run)?;
    Ok(rows.into_iter().rfind(|row| row.says.is_some() && !row.advisory))
}

/// The parts of a result that hold prose, whatever its schema.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ResultProse {
    completion: CompletionProse,
    payload: PayloadProse,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CompletionProse {
    summary: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PayloadProse {
    hypothesis: String,
    summary: String,
    open: Vec<String>,
}

/// The prose of a result, in its author's words.
fn prose(reader: &Reader, row: Option<DispatchRow>) -> Result<String, Trouble> {
    let Some(result) = row.and_then(|row| row.result) else { return Ok(String::new()) };
    let Some(value) = document(&content(reader, result)?) else { return Ok(String::new()) };
    // A result with another structure has no prose.
    let ResultProse { completion, payload } = serde_json::from_value(value).unwrap_or_default();
    let parts = [completion.summary, payload.hypothesis, payload.summary];
    let mut parts: Vec<String> = parts.iter().map(|part| part.trim().to_string()).collect();
    parts.retain(|part| !part.is_empty());
    parts.dedup();
    if !payload.open.is_empty() {
        let open: Vec<String> = payload.open.iter().map(|line| format!("- {line}")).collect();
        parts.push(open.join("\n"));
    }
    Ok(parts.join("\n\n"))
}
