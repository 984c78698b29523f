//! The checks that the engine ran: command, exit code, counts, whole output, tests, and the history of each test.

use super::context::RunPage;
use crate::address::Query;
use crate::problem::PageProblem;
use crate::words;
use maud::{Markup, html};
use remand_kernel::change::{TestEnd, TestResult};
use remand_kernel::evidence::RowPhase;
use remand_ledger::query::{CheckFilter, CheckRow};
use remand_terminal::{amount, line};

/// Of an output the page shows so much, and links to the whole.
const SHOWN: usize = 64 * 1024;

/// The history of a test goes back over so many runs.
const RUNS: usize = 30;

pub fn body(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let mut rows: Vec<(usize, CheckRow)> = rows(page)?.into_iter().enumerate().collect();
    rows.retain(|(_, row)| row.seq <= page.until());
    rows.reverse();
    let part = page.part("evidence", &rows);
    Ok(html! {
        section.panel aria-label="Evidence" {
            @if rows.is_empty() { p.empty { "No check ran yet." } }
            @else {
                div.scroll tabindex="0" role="region" aria-label="Checks" { table {
                    thead { tr { th { "event" } th { "check" } th { "of" } th { "result" } th { "exit" } th { "tests" } th { "time" } th { "why" } } }
                    tbody { @for (number, row) in part.rows { (table_row(page, *number, row)) } }
                } }
                (part.links)
            }
        }
    })
}

/// The output of each check whose result still counts, for a document.
pub fn outputs(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let mut shown = Vec::new();
    for row in rows(page)?.iter().filter(|row| !row.superseded && row.origin.is_none()) {
        let output = output(page, row)?;
        let start = output.len().saturating_sub(SHOWN);
        let text = String::from_utf8_lossy(output.get(start..).unwrap_or_default()).into_owned();
        shown.push(html! {
            details.file {
                summary { b { (words::text(&row.name)) } ", " (occasion(row)) " " (result(row)) @if let Some(command) = &row.command { " " code { (words::text(command)) } } }
                @if start > 0 { p { "The last " (amount::bytes(SHOWN as u64)) " of " (amount::bytes(output.len() as u64)) "." } }
                (words::pre(&text))
            }
        });
    }
    Ok(
        html! { section.panel aria-label="Outputs of the checks" { h2 { "Outputs of the checks" } @for output in &shown { (output) } } },
    )
}

fn table_row(page: &RunPage<'_>, number: usize, row: &CheckRow) -> Markup {
    html! {
        tr .superseded[row.superseded] id={ "c" (number) } {
            td.num { (row.seq) }
            td.row { a href=(page.link(&format!("evidence/{number}"))) { (words::text(&row.name)) } }
            td { (occasion(row)) }
            td { (result(row)) @if row.superseded { " " span.faint { "replaced since" } } @if row.origin.is_some() { " " span.faint { "reused" } } }
            td.num { (row.exit_code.map_or("–".to_string(), |code| code.to_string())) }
            td.num { (row.collected.map_or("–".to_string(), |count| amount::grouped(u64::from(count)))) }
            td.num { (amount::time(row.duration_ms)) }
            td .text[!row.reason.is_empty()] { (line::cut(&line::one(&row.reason), 120)) }
        }
    }
}

/// One check in full.
pub fn one(page: &RunPage<'_>, number: &str) -> Result<Markup, PageProblem> {
    let (number, row) = find(page, number)?;
    let tests = tests(page, &row)?;
    let output = output(page, &row)?;
    let start = output.len().saturating_sub(SHOWN);
    let shown = String::from_utf8_lossy(output.get(start..).unwrap_or_default()).into_owned();
    Ok(html! {
        section.panel aria-labelledby="check-heading" {
            h2 id="check-heading" { (words::text(&row.name)) " " (result(&row)) }
            dl.facts {
                @if let Some(command) = &row.command { dt { "command" } dd { code { (words::text(command)) } } }
                dt { "exit code" } dd.num { (row.exit_code.map_or("none".to_string(), |code| code.to_string())) }
                dt { "of" } dd { (occasion(&row)) @if row.iteration > 0 { ", iteration " (row.iteration) } }
                @if let Some(collected) = row.collected { dt { "tests" } dd.num { (collected) } }
                dt { "time" } dd.num { (amount::time(row.duration_ms)) }
                dt { "recorded" } dd { (words::when(row.at)) ", at " a href=(page.at_event("", row.seq)) { "event " (row.seq) } }
                @if !row.reason.is_empty() { dt { "why" } dd { (words::text(&row.reason)) } }
                @if let Some(verdict) = &row.verdict { dt { "verdict" } dd { (words::text(verdict)) } }
                @if let Some(origin) = &row.origin {
                    dt { "reused from" } dd { a href=(page.of_run(&origin.run, "evidence")) { (origin.run) } ", event " (origin.seq) }
                }
            }
        }
        section.panel aria-labelledby="output-heading" {
            h2 id="output-heading" { "Output" }
            @if output.is_empty() { p.empty { "The check printed nothing." } }
            @else {
                @if start > 0 { p { "The last " (amount::bytes(SHOWN as u64)) " of " (amount::bytes(output.len() as u64)) ". " a href=(page.address(&format!("evidence/{number}/output"))) { "The whole output" } } }
                @else { p { a href=(page.address(&format!("evidence/{number}/output"))) { "As plain text" } } }
                (words::pre(&shown))
            }
        }
        @if !tests.is_empty() { (test_list(page, number, &tests)) }
    })
}

fn test_list(page: &RunPage<'_>, number: usize, tests: &[TestResult]) -> Markup {
    let mut sorted: Vec<&TestResult> = tests.iter().collect();
    sorted.sort_by_key(|test| test.end == TestEnd::Passed);
    let part = page.part(&format!("evidence/{number}"), &sorted);
    html! {
        section.panel aria-labelledby="tests-heading" {
            h2 id="tests-heading" { "Tests, the failed ones first" }
            ul.tests {
                @for test in part.rows {
                    li {
                        (test_end(test.end)) " "
                        a href=(format!("{}{}", page.address(&format!("evidence/{number}/history")), Query::default().with("test", &test.name))) { (words::text(&test.name)) }
                    }
                }
            }
            (part.links)
        }
    }
}

/// How one test ended on each occasion, in this run and in those before and after it.
pub fn history(page: &RunPage<'_>, number: &str) -> Result<Markup, PageProblem> {
    let (number, row) = find(page, number)?;
    let name = page.query.get("test").ok_or_else(|| PageProblem::missing("no test is named"))?;
    let mut occasions = Vec::new();
    for run in page.reader.runs()?.into_iter().take(RUNS) {
        let rows = page.reader.checks(&run.run, CheckFilter::default())?;
        for (at, other) in rows.iter().enumerate().rev().filter(|(_, other)| other.name == row.name) {
            let found = tests(page, other)?.into_iter().find(|test| test.name == name);
            if let Some(test) = found {
                occasions.push((run.run.clone(), at, other.clone(), test.end));
            }
        }
    }
    Ok(html! {
        section.panel aria-labelledby="history-heading" {
            h2 id="history-heading" { (words::text(name)) }
            p { "In check " a href=(page.link(&format!("evidence/{number}"))) { (words::text(&row.name)) } ", over the latest " (RUNS) " runs of this repository." }
            div.scroll tabindex="0" role="region" aria-label="Occasions" { table {
                thead { tr { th { "run" } th { "event" } th { "of" } th { "result" } th { "when" } } }
                tbody {
                    @for (run, at, other, end) in &occasions {
                        tr {
                            td { a href=(page.of_run(run, &format!("evidence/{at}"))) { (run) } }
                            td.num { (other.seq) }
                            td { (occasion(other)) }
                            td { (test_end(*end)) }
                            td { (words::when(other.at)) }
                        }
                    }
                }
            } }
        }
    })
}

/// The whole output of a check.
pub fn whole_output(page: &RunPage<'_>, number: &str) -> Result<Vec<u8>, PageProblem> {
    let (_, row) = find(page, number)?;
    output(page, &row)
}

fn output(page: &RunPage<'_>, row: &CheckRow) -> Result<Vec<u8>, PageProblem> {
    match row.output {
        Some(blob) => Ok(page.reader.blob(blob)?),
        None => Ok(row.snippet.clone().into_bytes()),
    }
}

fn tests(page: &RunPage<'_>, row: &CheckRow) -> Result<Vec<TestResult>, PageProblem> {
    let Some(blob) = row.tests else { return Ok(Vec::new()) };
    Ok(serde_json::from_slice(&page.reader.blob(blob)?).unwrap_or_default())
}

/// All checks of the run. The journal only grows, so a number stays that of its check.
pub fn rows(page: &RunPage<'_>) -> Result<Vec<CheckRow>, PageProblem> {
    Ok(page.reader.checks(&page.run, CheckFilter::default())?)
}

fn find(page: &RunPage<'_>, number: &str) -> Result<(usize, CheckRow), PageProblem> {
    let missing = || PageProblem::missing("this run has no such check");
    let number: usize = number.parse().map_err(|_| missing())?;
    let row = rows(page)?.into_iter().nth(number).ok_or_else(missing)?;
    Ok((number, row))
}

fn occasion(row: &CheckRow) -> String {
    let phase = match row.phase {
        RowPhase::Baseline => "baseline",
        RowPhase::After => "check",
        RowPhase::Review => "review",
    };
    words::of_task(phase, row.task.as_deref())
}

pub fn result(row: &CheckRow) -> Markup {
    html! { span.tag .good[row.passed] .bad[!row.passed] { @if row.passed { "passed" } @else { "failed" } } }
}

fn test_end(end: TestEnd) -> Markup {
    let word = match end {
        TestEnd::Passed => "passed",
        TestEnd::Failed => "failed",
        TestEnd::Flaky => "flaky",
        TestEnd::Skipped => "skipped",
    };
    html! { span.tag .good[end == TestEnd::Passed] .bad[end == TestEnd::Failed] { (word) } }
}
