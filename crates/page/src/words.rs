//! Times, amounts and marks as every page shows them.

use maud::{Markup, html};
use remand_engine::clock;
use remand_kernel::finding::Severity;
use remand_ledger::Millis;
use remand_ledger::query::RunStage;
use remand_terminal::{amount, line};
pub use remand_views::{cost, of_task};
use std::borrow::Cow;

/// A point in time; the script shows its age.
pub fn when(at: Millis) -> Markup {
    let iso = clock::iso(at);
    html! { time datetime=(iso) title=(iso) data-at=(at.0) { (iso) } }
}

/// The time since a point in time, which goes on.
pub fn since(at: Millis) -> Markup {
    let passed = u64::try_from(clock::now().0.saturating_sub(at.0)).unwrap_or(0);
    html! { span.num data-since=(at.0) { (amount::time(passed)) } }
}

/// The word for the stage of a run.
pub fn stage(stage: RunStage) -> Markup {
    let class = stage.name().replace(' ', "-");
    html! { span class={ "stage " (class) } { (stage.name()) } }
}

pub fn severity(severity: Severity) -> Markup {
    html! { span class={ "severity " (severity.name()) } { (severity.name()) } }
}

/// Text of agents and tools, without control characters.
pub fn text(text: &str) -> Cow<'_, str> {
    line::clean(text)
}

/// The first line of a text.
pub fn title(text: &str) -> String {
    let first = line::first(text);
    if first.is_empty() { "no request".to_string() } else { first }
}

/// A text of agents and tools as it stands.
pub fn pre(whole: &str) -> Markup {
    html! { pre.text tabindex="0" { (text(whole)) } }
}

/// Some text, or a dash.
pub fn or_dash(text: Option<&str>) -> &str {
    text.filter(|text| !text.is_empty()).unwrap_or("–")
}

/// How much of an amount is used, as a bar.
pub fn meter(used: u64, of: u64, label: &str) -> Markup {
    let percent = (used.saturating_mul(100) / of.max(1)).min(100);
    let class = match percent {
        90.. => "meter full",
        70.. => "meter high",
        _ => "meter",
    };
    html! {
        svg class=(class) viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label=(label) {
            rect width="100" height="4" {}
            rect.used width=(percent) height="4" {}
        }
    }
}

/// Lists of this many rows are shown at once.
pub const ROWS: usize = 200;

/// One part of a long list: its rows, and links to the other parts.
pub struct Part<'r, T> {
    pub rows: &'r [T],
    pub links: Markup,
}

/// The part of a list that an address asks for with `from`, counted from 0.
pub fn part_of<'r, T>(rows: &'r [T], from: u64, link: impl Fn(usize) -> String) -> Part<'r, T> {
    let last = rows.len().saturating_sub(1) / ROWS * ROWS;
    let from = usize::try_from(from).unwrap_or(0).min(last) / ROWS * ROWS;
    let to = rows.len().min(from + ROWS);
    let links = html! {
        @if rows.len() > ROWS {
            nav.parts aria-label="Parts of the list" {
                @if from > 0 {
                    a href=(link(0)) { "first" }
                    a href=(link(from - ROWS)) rel="prev" { "previous" }
                }
                span.num { (amount::grouped(from as u64 + 1)) "–" (amount::grouped(to as u64)) " of " (amount::grouped(rows.len() as u64)) }
                @if to < rows.len() {
                    a href=(link(to)) rel="next" { "next" }
                    a href=(link(last)) { "last" }
                }
            }
        }
    };
    Part { rows: rows.get(from..to).unwrap_or_default(), links }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_shown_in_parts_and_no_address_leads_outside() {
        let rows: Vec<usize> = (0..450).collect();
        let link = |from: usize| format!("?from={from}");
        assert_eq!(part_of(&rows, 0, link).rows.len(), ROWS);
        assert_eq!(part_of(&rows, 399, link).rows[0], 200);
        assert_eq!(part_of(&rows, 99_999, link).rows, &rows[400..]);
        let links = part_of(&rows, 200, link).links.into_string();
        assert!(links.contains("?from=0") && links.contains("?from=400") && links.contains("201–400 of 450"));
        assert_eq!(part_of(&[] as &[usize], 7, link).links.into_string(), "");
    }
}
