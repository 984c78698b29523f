//! A gate, with what led to it and what each answer implies.

use super::context::RunPage;
use crate::address::part;
use crate::problem::PageProblem;
use crate::words;
use maud::{Markup, html};
use remand_engine::question::ApprovalRequest;
use remand_ledger::query::GateRow;
use remand_views::{flags_of, given_answer};

/// The page of one gate.
pub fn body(page: &RunPage<'_>, command: &str) -> Result<Markup, PageProblem> {
    let gates = page.gates()?;
    let gate = gates.iter().find(|gate| gate.command == command);
    let gate = gate.ok_or_else(|| PageProblem::missing("this run has no such gate"))?;
    card(page, gate)
}

/// One gate: a form if it is open, otherwise how it was answered.
pub fn card(page: &RunPage<'_>, gate: &GateRow) -> Result<Markup, PageProblem> {
    let id = format!("gate-{}", gate.command);
    let given = given_answer(&page.repository, &page.reader, gate)?;
    let is_open = gate.is_open() && page.past.is_none();
    let request = ApprovalRequest::read(&page.reader, gate)?;
    let sets = flags_of(page.program(), gate);
    Ok(html! {
        section.gate .open[is_open] id=(id) aria-labelledby={ (id) "-question" } {
            p.kicker {
                @if is_open { span.stage.waiting { "needs you" } " " }
                a href=(page.link(&format!("gates/{}", part(&gate.command)))) { (words::of_task(&gate.phase, gate.task.as_deref())) }
                ", " (gate.mode) ", asked " (words::when(gate.opened_at))
            }
            h2.question id={ (id) "-question" } { (words::text(&gate.question)) }
            @if !request.context.is_empty() {
                ul.context { @for line in &request.context { li { (line) } } }
            }
            @for (at, approach) in gate.approaches.iter().enumerate() {
                p.context { "Approach " (at + 1) " failed: " (words::text(&approach.text)) }
            }
            @if !request.documents.is_empty() {
                p { "Read first: " @for name in &request.documents { a.document href=(page.link(&format!("artifacts/{}", part(name)))) { (name) } " " } }
            }
            @if !gate.is_open() {
                (answered(gate))
            } @else if let Some(given) = given {
                p.given role="status" { (given) }
            } @else if page.past.is_some() {
                p.given { "It was open then." }
            } @else if page.site.door.is_none() {
                p.given { "This page only shows. Answer with " code { "remand answer " (gate.run) } "." }
            } @else {
                form method="post" action=(page.address(&format!("gates/{}", part(&gate.command)))) data-answer="" {
                    div.options {
                        @for (option, implication) in gate.options.iter().zip(&request.implications) {
                            @let is_default = gate.default.as_ref() == Some(&option.name);
                            div.option {
                                button type="submit" name="option" value=(option.name) .main[is_default] { (words::text(&option.name)) }
                                span { (words::text(implication)) @if is_default { " (default)" } }
                            }
                        }
                    }
                    @for flag in &sets {
                        label.flag { input type="checkbox" name="flag" value=(flag); " " (flag) }
                    }
                    @if gate.limit_kind.is_some_and(|limit| limit.has_amount()) {
                        label.note for={ (id) "-grant" } { "The amount that go-on grants, such as 2h, 500k or 2.50; empty grants the limit once more" }
                        input id={ (id) "-grant" } name="grant" type="text" autocomplete="off";
                    }
                    label.note for={ (id) "-note" } { "A note for the agents that continue the work" }
                    textarea id={ (id) "-note" } name="note" rows="2" {}
                    p.outcome role="status" {}
                }
            }
            @for option in &gate.withheld {
                p.withheld {
                    "Not offered: " b { (words::text(&option.name)) } ", "
                    @match &option.exhausted {
                        Some(budget) => { "budget " (budget) " is used up" },
                        None => { "its route cannot be followed now" },
                    }
                }
            }
        }
    })
}

fn answered(gate: &GateRow) -> Markup {
    html! {
        p.given {
            @match (&gate.option, gate.answered_at, gate.withdrawn_at) {
                (Some(option), Some(_), _) if gate.auto => { b { (words::text(option)) } ", chosen by default without asking" },
                (Some(option), Some(at), _) => { b { (words::text(option)) } ", answered by " (words::text(words::or_dash(gate.by.as_deref()))) " " (words::when(at)) },
                (_, _, Some(at)) => { "withdrawn without an answer " (words::when(at)) },
                _ => { "open" },
            }
        }
        @if let Some(note) = gate.note.as_deref().filter(|note| !note.is_empty()) { blockquote { (words::text(note)) } }
    }
}
