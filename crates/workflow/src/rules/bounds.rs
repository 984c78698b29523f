//! B501 and B502: stated numbers of dispatches are correct, for all tested numbers of tasks.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use crate::explore::{Bound, BoundCalculator};
use crate::file::{ClaimDecl, GuaranteeDecl};
use remand_kernel::program::{BudgetSize, Work};

/// The numbers of tasks for which a stated bound is compared. Both sides are linear from 3 tasks on.
const TRIED: [u16; 7] = [1, 2, 3, 4, 6, 12, 20];
/// The tested lengths of other lists, since a budget can grow with one.
const LENGTHS: [u16; 3] = [0, 20, 60];

pub fn check(compiled: &Compiled, bounds: &mut BoundCalculator<'_>, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let tasks = program.list_named("tasks");
    let grows = program.budgets.iter().any(|budget| matches!(budget.size, BudgetSize::Share { .. }))
        || program
            .phases
            .iter()
            .any(|phase| matches!(phase.work, Work::Flow { list, .. } if Some(list) != tasks));
    let lengths = if grows { &LENGTHS[..] } else { &LENGTHS[..1] };
    let tried = if tasks.is_some() { &TRIED[..] } else { &TRIED[..1] };
    for tasks in tried {
        for length in lengths {
            if !compare_all(compiled, bounds, *tasks, *length, problems) {
                return;
            }
        }
    }
}

/// Compares every stated bound for these lengths; `false` if there are too many states to enumerate.
fn compare_all(
    compiled: &Compiled,
    bounds: &mut BoundCalculator<'_>,
    tasks: u16,
    length: u16,
    problems: &mut Vec<Diagnostic>,
) -> bool {
    let of = |list: &str| if list == "tasks" { tasks } else { length };
    let counts: Vec<(&str, u16)> =
        compiled.program.lists.iter().map(|list| (list.as_str(), of(list))).collect();
    let Ok(bound) = bounds.of(&counts) else {
        let message = "the workflow has too many states to enumerate";
        let remedy = "reduce budgets, or replace several `rounds` with one budget `per run`";
        problems.push(Diagnostic::error(Code::TooManyStates, compiled.file.name.span, message, remedy));
        return false;
    };
    for guarantee in &compiled.file.guarantees {
        let claimed = guarantee.when.as_ref().is_none_or(|when| when.holds(of(&when.list)));
        let known = problems.iter().any(|known| known.code == Code::Bound && known.span == guarantee.span);
        if claimed && !known {
            problems.extend(compare(compiled, guarantee, tasks, length, &bound));
        }
    }
    true
}

fn compare(
    compiled: &Compiled,
    guarantee: &GuaranteeDecl,
    tasks: u16,
    length: u16,
    bound: &Bound,
) -> Option<Diagnostic> {
    let at = |fixed: u32, per_task: u32| u64::from(fixed) + u64::from(per_task) * u64::from(tasks);
    let (stated, real, what) = match guarantee.claim {
        ClaimDecl::Happy { fixed, per_task } => (at(fixed, per_task), bound.happy, "the happy path takes"),
        ClaimDecl::AtMost { fixed, per_task } => (at(fixed, per_task), bound.most(), "a run can take up to"),
        ClaimDecl::Unless { .. } | ClaimDecl::After { .. } | ClaimDecl::Leads { .. } => return None,
    };
    let wrong = match guarantee.claim {
        ClaimDecl::Happy { .. } => stated != real,
        ClaimDecl::AtMost { .. } => stated < real,
        ClaimDecl::Unless { .. } | ClaimDecl::After { .. } | ClaimDecl::Leads { .. } => false,
    };
    wrong.then(|| {
        let has = |list: &str| compiled.program.lists.iter().any(|known| known == list);
        let with = match (has("tasks"), length) {
            (true, 0) => format!("with {tasks} tasks "),
            (true, _) => format!("with {tasks} tasks and lists of {length} "),
            (false, 0) => String::new(),
            (false, _) => format!("with lists of {length} "),
        };
        let message = format!("{with}{what} {real} dispatches, not {stated}");
        let remedy =
            "state the real number, which `remand bound` prints, or undo the change that affected it";
        Diagnostic::error(Code::Bound, guarantee.span, message, remedy)
    })
}
