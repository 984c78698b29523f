//! S012: actions are used only in phases in which they have a meaning.

use super::followed_routes;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::program::{Action, Work, is_detector};

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for phase_route in followed_routes(program) {
        let phase = program.phase(phase_route.phase);
        let span = compiled.spans.route(phase_route.phase, phase_route.signal);
        let (is_misplaced, message, remedy) = match phase_route.route.action {
            Action::Hold => (
                !matches!(phase.work, Work::Ask { .. }) || phase_route.route.effect.is_some(),
                "`hold` is only allowed as a human's answer, without an effect",
                "route to an aside with `ask`, and use `hold` for one of its options, without `with`",
            ),
            Action::Ignore => (
                !is_detector(phase, phase_route.signal),
                "only a detector's signal can be ignored",
                "say where this signal leads",
            ),
            Action::Return => (
                !phase.aside,
                "`return` is only allowed in an aside: it continues after the phase that led there",
                "write `next`, or make the phase an aside",
            ),
            Action::RemandInjector => (
                program.injects.is_empty(),
                "no phase is declared as a possible origin of defects",
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
        if is_misplaced {
            problems.push(Diagnostic::error(Code::Conflict, span, message, remedy));
        }
    }
}
