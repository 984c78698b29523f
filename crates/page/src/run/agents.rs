//! What each agent was given, what it answered, and its transcript as it grows.

use super::context::RunPage;
use crate::address::part;
use crate::problem::PageProblem;
use crate::words;
use maud::{Markup, html};
use remand_ledger::BlobId;
use remand_ledger::query::{DispatchRow, DispatchStatus};
use remand_terminal::amount;
use remand_views::Transcript;

/// Of a transcript the page shows so much, and links to the whole.
const SHOWN: u64 = 64 * 1024;

pub fn body(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let mut rows = page.dispatches()?;
    rows.reverse();
    let part = page.part("agents", &rows);
    Ok(html! {
        section.panel aria-label="Agents" {
            @if rows.is_empty() { p.empty { "No agent was asked yet." } }
            @else {
                div.scroll tabindex="0" role="region" aria-label="Dispatches" { table {
                    thead { tr { th { "event" } th { "phase" } th { "role" } th { "agent" } th { "result" } th { "time" } th { "tokens" } th { "cost" } } }
                    tbody { @for row in part.rows { (table_row(page, row)) } }
                } }
                (part.links)
            }
        }
    })
}

fn table_row(page: &RunPage<'_>, row: &DispatchRow) -> Markup {
    html! {
        tr {
            td.num { (row.seq) }
            td.row { a href=(page.link(&format!("agents/{}", part(&row.command)))) { (words::of_task(&row.phase, row.task.as_deref())) } }
            td { (words::text(&row.role)) @if let Some(item) = &row.item { " (" (words::text(item)) ")" } }
            td { (agent(row)) }
            td { (outcome(row)) }
            td.num { @if row.status == DispatchStatus::Running { (words::since(row.started_at)) } @else { (row.time.map_or("–".to_string(), amount::time)) } }
            td.num { (known(row, row.tokens.map(amount::grouped))) }
            td.num { (known(row, row.money.map(amount::money))) }
        }
    }
}

/// One dispatch in full.
pub fn one(page: &RunPage<'_>, command: &str) -> Result<Markup, PageProblem> {
    let row = find(page, command)?;
    let stored = |blob: Option<BlobId>| -> Result<Option<String>, PageProblem> {
        let bytes = blob.map(|blob| page.reader.blob(blob)).transpose()?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let (prompt, result) = (stored(row.prompt)?, stored(row.result)?);
    let (transcript, start) = tail(page, &row)?;
    let whole = page.address(&format!("agents/{}/transcript", part(command)));
    Ok(html! {
        section.panel aria-labelledby="dispatch-heading" {
            h2 id="dispatch-heading" { (words::text(&row.role)) " for " (words::of_task(&row.phase, row.task.as_deref())) " " (outcome(&row)) }
            dl.facts {
                dt { "agent" } dd { (agent(&row)) }
                @if let Some(summary) = row.summary.as_deref().filter(|text| !text.is_empty()) { dt { "summary" } dd { (words::text(summary)) } }
                @if let Some(detail) = row.detail.as_deref().filter(|text| !text.is_empty()) { dt { "why" } dd { (words::text(detail)) } }
                dt { "started" } dd { (words::when(row.started_at)) ", at " a href=(page.at_event("", row.seq)) { "event " (row.seq) } }
                dt { "time" } dd.num { @if row.status == DispatchStatus::Running { (words::since(row.started_at)) } @else { (row.time.map_or("unknown".to_string(), amount::time)) } }
                dt { "tokens" } dd.num { (known(&row, row.tokens.map(amount::grouped))) }
                dt { "cost" } dd.num { (known(&row, row.money.map(amount::money))) }
                dt { "attempt" } dd.num { (row.attempt) @if row.retries > 0 { ", after " (row.retries) " failures" } }
                @if let Some(code) = row.exit_code { dt { "exit code" } dd.num { (code) } }
            }
        }
        section.panel aria-labelledby="given-heading" {
            h2 id="given-heading" { "What it was given" }
            @match &prompt {
                Some(prompt) => details { summary { "The prompt, " (amount::bytes(prompt.len() as u64)) } (words::pre(prompt)) },
                None => p.empty { "The prompt is recorded when the agent ends." },
            }
        }
        section.panel aria-labelledby="answered-heading" {
            h2 id="answered-heading" { "What it answered" }
            @match &result {
                Some(result) => (words::pre(result)),
                None => p.empty { "It has left no result." },
            }
        }
        section.panel aria-labelledby="transcript-heading" {
            h2 id="transcript-heading" { "Transcript" }
            @if transcript.is_empty() { p.empty { "Nothing yet." } }
            @else {
                @if start > 0 { p { "The last " (amount::bytes(SHOWN)) ". " a href=(whole) { "The whole transcript" } } }
                @else { p { a href=(whole) { "As plain text" } } }
                div data-follow="" { (words::pre(&transcript)) }
            }
        }
    })
}

/// The whole transcript of a dispatch.
pub fn transcript(page: &RunPage<'_>, command: &str) -> Result<Vec<u8>, PageProblem> {
    let row = find(page, command)?;
    Ok(last_bytes(page, &row, u64::MAX)?.bytes)
}

/// The end of the transcript, and where it starts.
fn tail(page: &RunPage<'_>, row: &DispatchRow) -> Result<(String, u64), PageProblem> {
    let tail = last_bytes(page, row, SHOWN)?;
    Ok((String::from_utf8_lossy(&tail.bytes).into_owned(), tail.start))
}

fn last_bytes(page: &RunPage<'_>, row: &DispatchRow, most: u64) -> Result<Transcript, PageProblem> {
    Ok(remand_views::transcript(page.site, &page.repository, &page.reader, row, most)?)
}

fn find(page: &RunPage<'_>, command: &str) -> Result<DispatchRow, PageProblem> {
    let found = page.dispatches()?.into_iter().find(|row| row.command == command);
    found.ok_or_else(|| PageProblem::missing("this run has no such dispatch"))
}

fn agent(row: &DispatchRow) -> String {
    let driver = words::or_dash(row.driver.as_deref());
    match &row.model {
        Some(model) => words::text(&format!("{driver}, {model}")).into_owned(),
        None => words::text(driver).into_owned(),
    }
}

fn outcome(row: &DispatchRow) -> Markup {
    let word = row.failure.as_deref().or(row.says.as_deref());
    html! {
        @match row.status {
            DispatchStatus::Running => span.stage.running { "running" },
            DispatchStatus::Error => span.tag.bad { (words::text(word.unwrap_or("error"))) },
            DispatchStatus::Done => span.tag.good { (words::text(word.unwrap_or("done"))) },
            DispatchStatus::NeedsRevision => span.tag.back { (words::text(word.unwrap_or("needs revision"))) },
        }
    }
}

/// A figure of a dispatch: an agent that ended without reporting it leaves it unknown.
fn known(row: &DispatchRow, figure: Option<String>) -> String {
    match (figure, row.status) {
        (Some(figure), _) => figure,
        (None, DispatchStatus::Running) => "–".to_string(),
        (None, DispatchStatus::Done | DispatchStatus::NeedsRevision | DispatchStatus::Error) => {
            "unknown".to_string()
        }
    }
}
