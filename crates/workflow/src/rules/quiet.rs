//! C203: a run never continues silently after a missing result, spent rounds or a repeated finding.

use super::followed_routes;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::program::{Action, Work};
use remand_kernel::signal::{NO_RESULT, REPEATED, SPENT};

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for phase_route in followed_routes(program) {
        let phase = program.phase(phase_route.phase);
        if matches!(phase.work, Work::Ask { .. }) {
            continue;
        }
        let leads_to_flow =
            matches!(phase_route.route.action, Action::To(target) if !program.phase(target).aside);
        let continues = phase_route.route.action.is_accepting() || leads_to_flow;
        let is_route_of =
            |signal| phase.route(signal).is_some_and(|route| std::ptr::eq(route, phase_route.route));
        let is_written = is_route_of(phase_route.signal);
        if !is_written && is_route_of(SPENT) {
            // This is reported once, at the `spent` of the phase.
            continue;
        }
        let is_silent = [NO_RESULT, SPENT, REPEATED].contains(&phase_route.signal) || !is_written;
        if continues && is_silent && phase_route.route.effect.is_none() {
            let message = format!(
                "`{}: {}` continues as if nothing had happened",
                phase.name,
                program.signal(phase_route.signal)
            );
            let remedy = "add `with degradation`, `with dissent` or `with blockers`";
            let span = compiled.spans.route(phase_route.phase, phase_route.signal);
            problems.push(Diagnostic::error(Code::Quiet, span, message, remedy));
        }
    }
}
