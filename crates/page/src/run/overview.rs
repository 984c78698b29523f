//! Where a run is: what needs the user, what happens now, the drawing, tasks, budgets and the latest rulings.

use super::context::RunPage;
use super::{controls, drawing, gates, rulings};
use crate::problem::PageProblem;
use crate::words;
use maud::{Markup, html};
use remand_ledger::fact::Delivery;
use remand_ledger::query::RunStage;
use remand_ledger::view::OpenCommand;

/// The number of rulings beside the drawing.
const LATEST: usize = 6;

pub fn body(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let open: Vec<_> = page.gates()?.into_iter().filter(|gate| gate.is_open()).collect();
    let mut questions = Vec::new();
    for gate in &open {
        questions.push(gates::card(page, gate)?);
    }
    let latest = page.rulings()?;
    Ok(html! {
        @for question in &questions { (question) }
        (controls::controls(page))
        @if page.view.row.stage == RunStage::Interrupted && page.past.is_none() {
            section.notice.bad { p { "No process drives this run. " code { "remand resume " (page.run) } " continues it." } }
        }
        @if let (Some(delivery), None) = (&page.view.delivery, &page.past) { (delivered(delivery)) }
        div.columns {
            section.panel aria-labelledby="drawing-heading" {
                h2 id="drawing-heading" { "Where it is" }
                (drawing::panel(page)?)
            }
            div.side {
                @if page.past.is_none() { (now(page)) }
                (tasks(page))
                (budgets(page))
                section.panel aria-labelledby="latest-heading" {
                    h2 id="latest-heading" { "Latest rulings" }
                    @if latest.is_empty() { p.empty { "None yet." } }
                    ol.rulings.short reversed { @for row in latest.iter().rev().take(LATEST) { (rulings::ruling(page, row)) } }
                    @if latest.len() > LATEST { p { a href=(page.link("rulings")) { "All rulings" } } }
                }
            }
        }
    })
}

fn delivered(delivery: &Delivery) -> Markup {
    html! {
        section.notice {
            @match delivery {
                Delivery::Committed { commit, branch, .. } => p { "Committed as " code { (commit.get(..12).unwrap_or(commit)) } " on " code { (branch) } "." },
                Delivery::HandedOver { take, discard, .. } => {
                    p { "The work is yours to take: " code { (words::text(take)) } }
                    p { "or to discard: " code { (words::text(discard)) } }
                },
                Delivery::Refused { .. } | Delivery::Nothing => p { (delivery.why_not_committed().unwrap_or_default()) },
            }
        }
    }
}

/// What runs at this moment.
fn now(page: &RunPage<'_>) -> Markup {
    html! {
        @if !page.view.open.is_empty() {
            section.panel aria-labelledby="now-heading" {
                h2 id="now-heading" { "Now" }
                ul.now { @for command in &page.view.open { (running(command)) } }
            }
        }
    }
}

fn running(command: &OpenCommand) -> Markup {
    html! {
        li {
            span.pulse aria-hidden="true" {}
            span { (words::text(&command.to_string())) @if command.attempt > 1 { ", attempt " (command.attempt) } }
            " " (words::since(command.started_at))
        }
    }
}

fn tasks(page: &RunPage<'_>) -> Markup {
    let past = page.past.as_ref().map(|past| &past.detail.tasks);
    let rows: Vec<(String, String, String)> = match past {
        Some(tasks) => {
            tasks.iter().map(|task| (task.task.clone(), task.state.to_string(), String::new())).collect()
        }
        None => page
            .view
            .tasks
            .iter()
            .map(|task| {
                let summary = &task.summary;
                let checks = format!("{} passed, {} failed", summary.passed, summary.failed);
                let checks = if summary.passed + summary.failed == 0 { String::new() } else { checks };
                (summary.task.clone(), task.state.to_string(), checks)
            })
            .collect(),
    };
    html! {
        @if !rows.is_empty() {
            section.panel aria-labelledby="tasks-heading" {
                h2 id="tasks-heading" { "Tasks" }
                table {
                    thead { tr { th { "task" } th { "state" } th { "checks" } } }
                    tbody {
                        @for (task, state, checks) in &rows { tr { td { (words::text(task)) } td { (words::text(state)) } td.num { (checks) } } }
                    }
                }
            }
        }
    }
}

fn budgets(page: &RunPage<'_>) -> Markup {
    let spent: Vec<_> = page.budgets().iter().filter(|budget| budget.full > 0).collect();
    html! {
        @if !spent.is_empty() {
            section.panel aria-labelledby="budgets-heading" {
                h2 id="budgets-heading" { "Budgets" }
                ul.budgets {
                    @for budget in spent {
                        @let used = u64::from(budget.full.saturating_sub(budget.left));
                        li {
                            span { (words::text(&budget.budget)) }
                            span.num { (budget.left) " of " (budget.full) " left" }
                            (words::meter(used, u64::from(budget.full), &format!("{}: {} of {} left", budget.budget, budget.left, budget.full)))
                        }
                    }
                }
            }
        }
    }
}
