//! The artifacts of a run: every version, and the difference of any two.

use super::context::RunPage;
use super::diff;
use crate::address::{Query, part};
use crate::problem::PageProblem;
use crate::words;
use maud::{Markup, html};
use remand_ledger::query::ArtifactRow;
use remand_terminal::amount;
use std::collections::BTreeMap;

/// A larger text is linked, and not shown.
const MAX_SHOWN: usize = 512 * 1024;

pub fn body(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let mut latest: BTreeMap<(String, String), ArtifactRow> = BTreeMap::new();
    let mut names: Vec<String> = page.reader.artifacts(&page.run)?.into_iter().map(|row| row.name).collect();
    names.dedup();
    for name in names {
        for row in versions(page, &name)? {
            latest.insert((row.name.clone(), row.part.clone()), row);
        }
    }
    Ok(html! {
        section.panel aria-label="Artifacts" {
            @if latest.is_empty() { p.empty { "No artifact yet." } }
            @else {
                div.scroll tabindex="0" role="region" aria-label="Table of artifacts" { table {
                    thead { tr { th { "artifact" } th { "versions" } th { "by" } th { "format" } th { "latest" } } }
                    tbody {
                        @for row in latest.values() {
                            tr {
                                td.row { a href=(link(page, row, &Query::default())) { (full_name(row)) } }
                                td.num { (row.version) }
                                td { (words::text(&row.by)) }
                                td { (words::text(&row.format)) }
                                td { (words::when(row.at)) }
                            }
                        }
                    }
                } }
            }
        }
    })
}

/// One artifact: a version of it, or the difference of two.
pub fn one(page: &RunPage<'_>, name: &str) -> Result<Markup, PageProblem> {
    let all = versions(page, name)?;
    let first = all.first().ok_or_else(|| PageProblem::missing("this run has no such artifact"))?;
    let of = page.query.get("part").map_or_else(
        || if all.iter().any(|row| row.part.is_empty()) { String::new() } else { first.part.clone() },
        str::to_string,
    );
    let of_part: Vec<&ArtifactRow> = all.iter().filter(|row| row.part == of).collect();
    let numbered = |key: &str| {
        let number = page.query.number(key)?;
        of_part.iter().copied().find(|row| u64::from(row.version) == number)
    };
    let shown = numbered("version").or_else(|| of_part.last().copied());
    let shown = shown.ok_or_else(|| PageProblem::missing("this artifact has no such part"))?;
    let other = numbered("with");
    let mut parts: Vec<&str> = all.iter().map(|row| row.part.as_str()).collect();
    parts.sort_unstable();
    parts.dedup();
    let text = content(page, shown)?;
    let plain = link(page, shown, &query(&[("version", &shown.version.to_string()), ("plain", "1")]));
    Ok(html! {
        section.panel aria-labelledby="artifact-heading" {
            h2 id="artifact-heading" { (full_name(shown)) " version " (shown.version) @if let Some(other) = other { " compared with " (other.version) } }
            p.where { "by " (words::text(&shown.by)) ", " (words::when(shown.at)) ", at " a href=(page.at_event("", shown.seq)) { "event " (shown.seq) } ", " (amount::bytes(text.len() as u64)) }
            @if parts.len() > 1 {
                nav.parts aria-label="Parts" { @for name in parts { @if let Some(row) = all.iter().find(|row| row.part == name) { a href=(link(page, row, &Query::default())) aria-current=[(name == of).then_some("true")] { @if name.is_empty() { "whole" } @else { (words::text(name)) } } } } }
            }
            @if of_part.len() > 1 { (chooser(page, &of_part, shown, other)) }
            @match other {
                Some(other) => (difference(page, shown, other, &text)?),
                None if text.len() > MAX_SHOWN => p { a href=(plain) { "The text" } " is too long to be shown here." },
                None => {
                    p { a href=(plain) { "As plain text" } }
                    @if shown.format == "patch" { (diff::show(&diff::of_patch(&text), start(page), |from| more(page, from))) } @else { (words::pre(&text)) }
                },
            }
        }
    })
}

/// The text of a version, as it was stored.
pub fn plain(page: &RunPage<'_>, name: &str) -> Result<Vec<u8>, PageProblem> {
    let version = page.query.number("version").unwrap_or(0);
    let of = page.query.get("part").unwrap_or_default();
    let found =
        versions(page, name)?.into_iter().find(|row| row.part == of && u64::from(row.version) == version);
    let found = found.ok_or_else(|| PageProblem::missing("this artifact has no such version"))?;
    Ok(page.reader.blob(found.blob)?)
}

/// Chooses a version and the one that it is compared with.
fn chooser(
    page: &RunPage<'_>,
    all: &[&ArtifactRow],
    shown: &ArtifactRow,
    other: Option<&ArtifactRow>,
) -> Markup {
    html! {
        form.chooser method="get" action=(page.address(&format!("artifacts/{}", part(&shown.name)))) {
            @if !shown.part.is_empty() { input type="hidden" name="part" value=(shown.part); }
            @if let Some(past) = &page.past { input type="hidden" name="at" value=(past.seq); }
            label { "Version " select name="version" { @for row in all { option value=(row.version) selected[row.version == shown.version] { (row.version) " by " (words::text(&row.by)) } } } }
            label { "compared with " select name="with" {
                option value="" selected[other.is_none()] { "nothing" }
                @for row in all { option value=(row.version) selected[other.is_some_and(|other| other.version == row.version)] { (row.version) } }
            } }
            button type="submit" { "Show" }
        }
    }
}

fn difference(
    page: &RunPage<'_>,
    shown: &ArtifactRow,
    other: &ArtifactRow,
    text: &str,
) -> Result<Markup, PageProblem> {
    let lines = diff::compare(&content(page, other)?, text);
    Ok(html! {
        @if shown.version == other.version || shown.digest == other.digest { p.empty { "Both are the same." } }
        @else { (diff::show(&lines, start(page), |from| more(page, from))) }
    })
}

/// The line that a difference is shown from.
fn start(page: &RunPage<'_>) -> usize {
    page.query.number("from").and_then(|from| usize::try_from(from).ok()).unwrap_or(0)
}

/// This page from another line on.
fn more(page: &RunPage<'_>, from: usize) -> String {
    page.query.with("from", &from.to_string())
}

fn versions(page: &RunPage<'_>, name: &str) -> Result<Vec<ArtifactRow>, PageProblem> {
    let mut rows = page.reader.artifact_versions(&page.run, name)?;
    rows.retain(|row| row.seq <= page.until());
    Ok(rows)
}

fn content(page: &RunPage<'_>, row: &ArtifactRow) -> Result<String, PageProblem> {
    Ok(String::from_utf8_lossy(&page.reader.blob(row.blob)?).into_owned())
}

fn query(pairs: &[(&str, &str)]) -> Query {
    let text: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={}", part(value))).collect();
    Query::parse(&text.join("&"))
}

fn link(page: &RunPage<'_>, row: &ArtifactRow, query: &Query) -> String {
    if page.is_document {
        return page.address("artifacts");
    }
    let at = page.past.as_ref().map(|past| past.seq.to_string()).unwrap_or_default();
    let query = Query::parse(query.with("at", &at).trim_start_matches('?'));
    page.address(&format!("artifacts/{}", part(&row.name))) + &query.with("part", &row.part)
}

fn full_name(row: &ArtifactRow) -> String {
    words::text(&words::of_task(&row.name, Some(row.part.as_str()).filter(|part| !part.is_empty())))
        .into_owned()
}
