//! A403: the main flow never runs past its last phase; a route ends the run.

use super::followed_routes;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::program::Action;
use remand_kernel::resolve;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let mut reported = Vec::new();
    for phase_route in followed_routes(program) {
        let phase = program.phase(phase_route.phase);
        let is_next = matches!(phase_route.route.action, Action::Next);
        // A later phase with a condition may be skipped, so it does not count.
        let is_last = resolve::following(program, phase_route.phase, |_| false).is_none();
        if phase.owner.is_none() && is_next && is_last && !reported.contains(&phase_route.phase) {
            reported.push(phase_route.phase);
            let message = format!("`next` after `{}` leads out of the workflow", phase.name);
            let remedy = "write `done`, `fail` or `stop WHY`, or add a phase after it that ends the run";
            let span = compiled.spans.route(phase_route.phase, phase_route.signal);
            problems.push(Diagnostic::error(Code::OpenEnd, span, message, remedy));
        }
    }
    if program.phases.is_empty() {
        let span = compiled.file.name.span;
        problems.push(Diagnostic::error(
            Code::OpenEnd,
            span,
            "the workflow has no phase",
            "add one under `phases`",
        ));
    }
}
