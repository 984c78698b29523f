//! S012: actions are used only where they have a meaning.

use super::followed;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::program::{Action, Work, is_detector};

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for at in followed(program) {
        let phase = program.phase(at.phase);
        let span = compiled.spans.route(at.phase, at.signal);
        let (bad, message, remedy) = match at.route.action {
            Action::Hold => (
                !matches!(phase.work, Work::Ask { .. }) || at.route.effect.is_some(),
                "`hold` is only allowed as a human's answer, without an effect",
                "route to an aside with `ask`, and use `hold` for one of its options, without `with`",
            ),
            Action::Ignore => (
                !is_detector(phase, at.signal),
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
        if bad {
            problems.push(Diagnostic::error(Code::Conflict, span, message, remedy));
        }
    }
}
