//! The findings of a run with their lives: found by, injected in, sent to, and closed by which evidence.

use super::context::RunPage;
use crate::problem::PageProblem;
use crate::words;
use maud::{Markup, html};
use remand_kernel::state::FiledStatus;
use remand_ledger::query::{CheckFilter, CheckRow, CorrectionEnd, CorrectionRow, FindingRow};

/// What a finding's life is read from.
struct Records {
    corrections: Vec<CorrectionRow>,
    checks: Vec<CheckRow>,
}

pub fn body(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let findings = page.findings();
    let mut corrections = page.reader.corrections(&page.run)?;
    corrections.retain(|row| row.seq <= page.until());
    let records = Records { corrections, checks: page.reader.checks(&page.run, CheckFilter::default())? };
    let part = page.part("findings", &findings);
    Ok(html! {
        @if findings.is_empty() { section.panel { p.empty { "Nothing was found yet." } } }
        @for found in part.rows { (finding(page, found, &records)) }
        (part.links)
    })
}

fn finding(page: &RunPage<'_>, found: &FindingRow, records: &Records) -> Markup {
    let id = format!("f{}", found.position);
    let place = place(found);
    html! {
        article.panel.finding id=(id) aria-labelledby={ (id) "-claim" } {
            p.marks {
                (words::severity(found.severity))
                span { (found.category.name()) }
                span.tag .good[found.status == FiledStatus::Settled] .back[found.sent_to.is_some() && found.status == FiledStatus::Open] { (status(found)) }
                a.id href={ "#" (id) } { (words::text(&found.id)) }
            }
            h2 id={ (id) "-claim" } { (words::text(&found.claim)) }
            @if !place.is_empty() { p.where { code { (words::text(&place)) } } }
            ol.life { (life(page, found, records)) }
            @let said = [("Evidence", &found.evidence), ("Impact", &found.impact), ("Recommendation", &found.recommendation)];
            @if said.iter().any(|(_, text)| !text.is_empty()) {
                details {
                    summary { "What the reporter said" }
                    @for (name, text) in said.iter().filter(|(_, text)| !text.is_empty()) { h3 { (name) } (words::pre(text)) }
                    @if let Some(patch) = &found.patch { h3 { "Proposed patch" } (words::pre(patch)) }
                }
            }
        }
    }
}

fn life(page: &RunPage<'_>, found: &FindingRow, records: &Records) -> Markup {
    let sent: Vec<&CorrectionRow> =
        records.corrections.iter().filter(|row| row.position == found.position).collect();
    html! {
        li { "Found by " b { (words::of_task(&found.phase, found.task.as_deref())) } " at " (event(page, found.seq)) @if found.count > 1 { ", reported " (found.count) " times" } }
        @if !found.injected_by.is_empty() { li { "Injected in " b { (words::text(&found.injected_by.join(", "))) } } }
        @for row in &sent {
            li.back {
                "↩ Sent to " b { (words::of_task(&row.target, row.task.as_deref())) } " at " (event(page, row.seq))
                @if let (Some(closed), Some(outcome)) = (row.closed.filter(|seq| *seq <= page.until()), row.outcome) {
                    ul { li { (ended(outcome)) " at " (event(page, closed)) (evidence(page, closed, records)) } }
                }
            }
        }
        @if let Some(sent_to) = found.sent_to.as_deref().filter(|_| sent.is_empty()) { li { "Sent to " b { (words::text(sent_to)) } } }
        @if found.known { li { "The run continued with it: a known issue" } }
        @if let Some(repeats) = &found.repeats { li { "Repeats " (words::text(repeats)) } }
    }
}

/// The checks that were recorded with the event that closed a correction.
fn evidence(page: &RunPage<'_>, closed: u64, records: &Records) -> Markup {
    let checks: Vec<(usize, &CheckRow)> =
        records.checks.iter().enumerate().filter(|(_, row)| row.seq == closed).collect();
    html! {
        @if !checks.is_empty() {
            ", with "
            @for (at, (number, row)) in checks.iter().enumerate() {
                @if at > 0 { ", " }
                a href=(page.link(&format!("evidence/{number}"))) { (words::text(&row.name)) @if row.passed { " passed" } @else { " failed" } }
            }
        }
    }
}

/// A link to the run as it was after an event.
fn event(page: &RunPage<'_>, seq: u64) -> Markup {
    html! { a.num href=(page.at_event("", seq)) { "event " (seq) } }
}

fn place(found: &FindingRow) -> String {
    let place = &found.place;
    let line = if place.line > 0 { format!(":{}", place.line) } else { String::new() };
    let symbol = if place.symbol.is_empty() { String::new() } else { format!(" ({})", place.symbol) };
    format!("{}{line}{symbol}", place.file)
}

fn ended(outcome: CorrectionEnd) -> &'static str {
    match outcome {
        CorrectionEnd::Corrected => "Corrected: the reporter accepted the changed work",
        CorrectionEnd::Withdrawn => "Withdrawn: the reporter accepted the unchanged work",
        CorrectionEnd::ReportedAgain => "Reported again for the new work",
        CorrectionEnd::PassedOn => "Passed on, as the work went further back",
        CorrectionEnd::SentAgain => "Sent again",
    }
}

fn status(found: &FindingRow) -> &'static str {
    match found.status {
        FiledStatus::Open if found.known => "known issue",
        FiledStatus::Open => "open",
        FiledStatus::FollowUp => "for later",
        FiledStatus::Advice => "advice",
        FiledStatus::Superseded => "reported again",
        FiledStatus::PassedOn => "passed on",
        FiledStatus::Settled => "settled",
    }
}
