//! B501 and B502: stated numbers of dispatches are right, for any number of tasks that is tried.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use crate::explore::{Bound, Bounds};
use crate::file::{ClaimDecl, GuaranteeDecl};

/// Numbers of tasks for which a stated bound is compared. Both sides are straight lines from 3 tasks on.
const TRIED: [u16; 7] = [1, 2, 3, 4, 6, 12, 20];

pub fn check(compiled: &Compiled, bounds: &mut Bounds<'_>, problems: &mut Vec<Diagnostic>) {
    for tasks in TRIED {
        let bound = match bounds.of(&[("tasks", tasks), ("gaps", 0)]) {
            Ok(bound) => bound,
            Err(_) => {
                let message = "the workflow has too many states to be counted through";
                let remedy = "make budgets smaller, or replace several `rounds` by one budget `per run`";
                let span = compiled.file.name.span;
                problems.push(Diagnostic::error(Code::TooManyStates, span, message, remedy));
                return;
            }
        };
        for guarantee in &compiled.file.guarantees {
            if guarantee.above.is_none_or(|above| tasks > above)
                && let Some(problem) = compare(guarantee, tasks, &bound)
                && !problems.iter().any(|known| known.code == Code::Bound && known.span == guarantee.span)
            {
                problems.push(problem);
            }
        }
    }
}

fn compare(guarantee: &GuaranteeDecl, tasks: u16, bound: &Bound) -> Option<Diagnostic> {
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
        let message = format!("with {tasks} tasks {what} {real} dispatches, not {stated}");
        let remedy =
            "state the real number, which `remand bound` prints, or take the change back that moved it";
        Diagnostic::error(Code::Bound, guarantee.span, message, remedy)
    })
}
