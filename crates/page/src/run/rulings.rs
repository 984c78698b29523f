//! The rulings of a run, latest first: what was decided, by which line of the workflow, and why.

use super::context::RunPage;
use crate::problem::PageProblem;
use crate::words;
use maud::{Markup, html};
use remand_kernel::view::RuleView;
use remand_ledger::query::{RulingKind, RulingRow};

pub fn body(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let rows: Vec<&RulingRow> = page.rulings()?.iter().rev().collect();
    let part = page.part("rulings", &rows);
    Ok(html! {
        section.panel aria-label="Rulings" {
            @if rows.is_empty() { p.empty { "No ruling yet." } }
            ol.rulings reversed { @for row in part.rows { (ruling(page, row)) } }
            (part.links)
        }
    })
}

/// One ruling as an entry of a list.
pub fn ruling(page: &RunPage<'_>, row: &RulingRow) -> Markup {
    let view = &row.ruling;
    let is_back = matches!(row.kind, Some(RulingKind::Remand | RulingKind::Restore));
    html! {
        li.ruling .back[is_back] id={ "e" (row.seq) "-" (row.n) } {
            a.seq.num href=(page.at_event("", row.seq)) title="Show the run as it was then" { (row.seq) }
            div {
                p.decision {
                    b { (words::of_task(&words::text(&view.phase), view.task.as_deref())) } " "
                    span.signal { (words::text(&view.signal)) }
                    span.arrow { @if is_back { " ↩ " } @else { " → " } }
                    @match &view.rule {
                        RuleView::Route { line } => a href=(format!("{}#L{line}", page.link("workflow"))) title={ "line " (line) " of the workflow" } { (words::text(&view.action)) },
                        RuleView::General { name } => span { (words::text(&view.action)) " (" (name) ")" },
                    }
                    @if let Some(target) = view.target.as_ref().filter(|target| !view.action.ends_with(target.as_str())) {
                        " " span.target { (words::text(target)) }
                    }
                    @for charge in &view.budgets {
                        " " span.charge.num { (words::text(&charge.budget)) " " (charge.before) "→" (charge.after) }
                    }
                    @for budget in &view.exhausted { " " span.charge.spent { (words::text(budget)) " spent" } }
                }
                p.why { (words::text(&view.why)) }
                @if !view.effects.is_empty() {
                    p.effect { "with " (view.effects.join(" and ")) ": confidence " (view.confidence) }
                }
            }
            span.at { (words::when(row.at)) }
        }
    }
}
