//! The marks of a run on the drawing of its workflow, from its rulings.

use remand_drawings::marks::{RouteTaken, RunMarks};
use remand_kernel::Program;
use remand_ledger::query::{RulingKind, RulingRow};
use remand_ledger::view::{BudgetLeft, RunPosition};

/// The marks of a run at this position, after these rulings. The address of the workflow's file stays empty.
pub fn run_marks(
    program: &Program,
    position: Option<&RunPosition>,
    rulings: &[RulingRow],
    budgets: &[BudgetLeft],
) -> RunMarks {
    let mut marks = RunMarks::default();
    if let Some(RunPosition::Phases { lanes, .. }) = position {
        for lane in lanes {
            if let Some(phase) = program.phase_named(&lane.phase) {
                let name = lane.task.clone().unwrap_or_else(|| "here".to_string());
                marks.here.entry(phase).or_default().push(name);
            }
        }
    }
    for row in rulings {
        let ruling = &row.ruling;
        let (Some(from), Some(signal)) =
            (program.phase_named(&ruling.phase), program.signal_named(&ruling.signal))
        else {
            continue;
        };
        if follows_a_route(row.kind) {
            let target = ruling.target.as_deref().and_then(|name| program.phase_named(name));
            let exhausted = !ruling.exhausted.is_empty();
            marks.taken.push(RouteTaken { from, signal, target, exhausted });
            *marks.visits.entry(from).or_default() += 1;
        }
    }
    for budget in budgets {
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
