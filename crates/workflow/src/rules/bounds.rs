//! B501 and B502: stated numbers of dispatches are correct, for all tested lengths of lists.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use crate::explore::{Bound, BoundCalculator};
use crate::file::{ClaimDecl, GuaranteeDecl};
use remand_kernel::program::{BudgetSize, Work};

/// The tested numbers of tasks. The stated and the real bound are linear from 3 tasks on.
const TASK_COUNTS: [u16; 7] = [1, 2, 3, 4, 6, 12, 20];
/// The tested lengths of other lists, because a budget can grow with a list.
const LIST_LENGTHS: [u16; 3] = [0, 20, 60];

pub fn check(compiled: &Compiled, bounds: &mut BoundCalculator<'_>, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let tasks = program.list_named("tasks");
    let depends_on_lists =
        program.budgets.iter().any(|budget| matches!(budget.size, BudgetSize::Share { .. }))
            || program
                .phases
                .iter()
                .any(|phase| matches!(phase.work, Work::Flow { list, .. } if Some(list) != tasks));
    let lengths = if depends_on_lists { &LIST_LENGTHS[..] } else { &LIST_LENGTHS[..1] };
    let task_counts = if tasks.is_some() { &TASK_COUNTS[..] } else { &TASK_COUNTS[..1] };
    for tasks in task_counts {
        for length in lengths {
            if !compare_all(compiled, bounds, *tasks, *length, problems) {
                return;
            }
        }
    }
}

/// Compares every stated bound for these lengths. Returns `false` if there are too many states to enumerate.
fn compare_all(
    compiled: &Compiled,
    bounds: &mut BoundCalculator<'_>,
    tasks: u16,
    length: u16,
    problems: &mut Vec<Diagnostic>,
) -> bool {
    let length_of = |list: &str| if list == "tasks" { tasks } else { length };
    let counts: Vec<(&str, u16)> =
        compiled.program.lists.iter().map(|list| (list.as_str(), length_of(list))).collect();
    let Ok(bound) = bounds.calculate(&counts) else {
        let message = "the workflow has too many states to enumerate";
        let remedy = "reduce budgets, or replace several `rounds` with one budget `per run`";
        problems.push(Diagnostic::error(Code::TooManyStates, compiled.file.name.span, message, remedy));
        return false;
    };
    for guarantee in &compiled.file.guarantees {
        let is_claimed = guarantee.when.as_ref().is_none_or(|when| when.holds(length_of(&when.list)));
        let is_reported =
            problems.iter().any(|problem| problem.code == Code::Bound && problem.span == guarantee.span);
        if is_claimed && !is_reported {
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
    let total = |fixed: u32, per_task: u32| u64::from(fixed) + u64::from(per_task) * u64::from(tasks);
    let (stated, real, subject) = match guarantee.claim {
        ClaimDecl::Happy { fixed, per_task } => (total(fixed, per_task), bound.happy, "the happy path takes"),
        ClaimDecl::AtMost { fixed, per_task } => {
            (total(fixed, per_task), bound.max_dispatches(), "a run can take up to")
        }
        ClaimDecl::Unless { .. } | ClaimDecl::After { .. } | ClaimDecl::Leads { .. } => return None,
    };
    let is_wrong = match guarantee.claim {
        ClaimDecl::Happy { .. } => stated != real,
        ClaimDecl::AtMost { .. } => stated < real,
        ClaimDecl::Unless { .. } | ClaimDecl::After { .. } | ClaimDecl::Leads { .. } => false,
    };
    is_wrong.then(|| {
        let has = |list: &str| compiled.program.lists.iter().any(|known| known == list);
        let lengths = match (has("tasks"), length) {
            (true, 0) => format!("with {}, ", counted(tasks, "task", "tasks")),
            (true, _) => {
                format!("with {} and {length} items in each other list, ", counted(tasks, "task", "tasks"))
            }
            (false, 0) => String::new(),
            (false, _) => format!("with {length} items in each list, "),
        };
        let message = format!("{lengths}{subject} {}, not {stated}", counted(real, "dispatch", "dispatches"));
        let remedy =
            "state the real number, which `remand bound` prints, or undo the change that affected it";
        Diagnostic::error(Code::Bound, guarantee.span, message, remedy)
    })
}

fn counted(number: impl Into<u64>, one: &str, many: &str) -> String {
    match number.into() {
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    }
}
