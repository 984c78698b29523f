//! The drawing of the workflow with the marks of the run.

use super::context::RunPage;
use crate::problem::PageProblem;
use maud::{Markup, PreEscaped, html};
use remand_drawings::marks::{RunMarks, TakenWay};
use remand_kernel::Program;
use remand_ledger::query::{RulingKind, RulingRow};
use remand_ledger::view::RunPosition;

pub fn panel(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let Some(program) = page.program() else {
        return Ok(html! { p.empty { "This version cannot read the workflow of the run." } });
    };
    let marks = marks(page, program, page.rulings()?);
    Ok(html! {
        div.drawing id="drawing" tabindex="0" role="region" aria-label="Workflow, with where the run is" {
            // The drawing escapes every name itself.
            (PreEscaped(remand_drawings::run_svg(program, &marks)))
        }
    })
}

fn marks(page: &RunPage<'_>, program: &Program, rows: &[RulingRow]) -> RunMarks {
    let mut marks = RunMarks { file: page.link("workflow"), ..RunMarks::default() };
    if let Some(RunPosition::Phases { lanes, .. }) = page.position() {
        for lane in lanes {
            if let Some(phase) = program.phase_named(&lane.phase) {
                let name = lane.task.clone().unwrap_or_else(|| "here".to_string());
                marks.here.entry(phase).or_default().push(name);
            }
        }
    }
    for row in rows {
        let ruling = &row.ruling;
        let (Some(from), Some(signal)) =
            (program.phase_named(&ruling.phase), program.signal_named(&ruling.signal))
        else {
            continue;
        };
        if follows_a_route(row.kind) {
            let target = ruling.target.as_deref().and_then(|name| program.phase_named(name));
            let exhausted = !ruling.exhausted.is_empty();
            marks.ways.push(TakenWay { from, signal, target, exhausted });
            *marks.visits.entry(from).or_default() += 1;
        }
    }
    for budget in page.budgets() {
        if let Some(id) = program.budget_named(&budget.budget) {
            marks.left.insert(id, (budget.left, budget.full));
        }
    }
    marks
}

/// Whether a ruling led along an edge of the drawing.
fn follows_a_route(kind: Option<RulingKind>) -> bool {
    matches!(
        kind,
        Some(
            RulingKind::Next
                | RulingKind::To
                | RulingKind::Remand
                | RulingKind::Restore
                | RulingKind::Return
                | RulingKind::Raise
                | RulingKind::Done
                | RulingKind::Fail
                | RulingKind::Stop
        )
    )
}
