//! T307 and S012: routes stand only where they mean something.

use super::followed;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::program::{Action, Work, is_detector};

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for at in followed(program) {
        let phase = program.phase(at.phase);
        let span = compiled.places.route(at.phase, at.signal);
        let (bad, message, remedy) = match at.route.action {
            Action::Hold => (
                !matches!(phase.work, Work::Ask { .. }) || at.route.effect.is_some(),
                "`hold` is a human's choice, and nothing follows from it",
                "route to an aside with `ask`, and let an option of it hold, without `with`",
            ),
            Action::Ignore => (
                !is_detector(phase, at.signal),
                "only a detector's signal can be ignored",
                "say where this signal leads",
            ),
            Action::Return => (
                !phase.aside,
                "`return` goes back to the phase that led to an aside",
                "write `next`, or make the phase an aside",
            ),
            Action::RemandInjector => (
                program.injects.is_empty(),
                "no phase is declared to inject defects",
                "add `injects: [PHASE, …]` to the workflow",
            ),
            Action::Next
            | Action::To(_)
            | Action::Remand(_)
            | Action::Restore(_)
            | Action::Raise(_)
            | Action::Done
            | Action::Fail
            | Action::Stop(_) => continue,
        };
        if bad {
            problems.push(Diagnostic::error(Code::Conflict, span, message, remedy));
        }
    }
}
