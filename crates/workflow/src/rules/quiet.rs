//! C203: a run never continues silently after a missing result, spent rounds or a repeated finding.

use super::followed;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::program::{Action, Work};
use remand_kernel::signal::{NO_RESULT, REPEATED, SPENT};

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for at in followed(program) {
        let phase = program.phase(at.phase);
        if matches!(phase.work, Work::Ask { .. }) {
            continue;
        }
        let to_flow = matches!(at.route.action, Action::To(target) if !program.phase(target).aside);
        let continues = at.route.action.is_accepting() || to_flow;
        let is_route_of = |signal| phase.route(signal).is_some_and(|route| std::ptr::eq(route, at.route));
        let own = is_route_of(at.signal);
        if !own && is_route_of(SPENT) {
            // Reported once, at the phase's own `spent`.
            continue;
        }
        let silent = [NO_RESULT, SPENT, REPEATED].contains(&at.signal) || !own;
        if continues && silent && at.route.effect.is_none() {
            let message = format!(
                "`{}: {}` continues as if nothing had happened",
                phase.name,
                program.signal(at.signal)
            );
            let remedy = "add `with degradation`, `with dissent` or `with blockers`";
            let span = compiled.spans.route(at.phase, at.signal);
            problems.push(Diagnostic::error(Code::Quiet, span, message, remedy));
        }
    }
}
