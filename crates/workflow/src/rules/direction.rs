//! T302: `to` leads forward, `remand` leads back, both within one flow.

use super::followed_routes;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Action;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for phase_route in followed_routes(program) {
        let Some(target) = phase_route.route.action.target_phase() else {
            continue;
        };
        let is_back = phase_route.route.action.is_back();
        let span = compiled.spans.route(phase_route.phase, phase_route.signal);
        let (from, to) = (&program.phase(phase_route.phase).name, &program.phase(target).name);
        if program.phase(phase_route.phase).owner != program.phase(target).owner {
            let message = format!("`{from}` and `{to}` belong to different flows");
            let remedy = "leave a sub-flow with `raise SIGNAL`, and route that signal at the phase that has the sub-flow";
            problems.push(Diagnostic::error(Code::SubFlow, span, message, remedy));
        } else if is_back && target > phase_route.phase {
            let message = format!("`remand {to}` leads forward: `{to}` comes after `{from}`");
            problems.push(Diagnostic::error(Code::Backward, span, message, format!("write `to {to}`")));
        } else if !is_back && target <= phase_route.phase {
            let message = format!("`to {to}` leads back: `{to}` does not come after `{from}`");
            let remedy = format!("write `remand {to} spending BUDGET`, or move `{to}` further down");
            problems.push(Diagnostic::error(Code::Backward, span, message, remedy));
        }
        if matches!(phase_route.route.action, Action::Restore(_)) {
            check_restore(compiled, phase_route.phase, target, problems);
        }
    }
}

fn check_restore(compiled: &Compiled, from: PhaseId, target: PhaseId, problems: &mut Vec<Diagnostic>) {
    let phase = compiled.program.phase(target);
    if !phase.checkpoint {
        let message = format!("`{}` cannot be restored: no round starts there", phase.name);
        let remedy = format!("add `checkpoint: true` to `{}`", phase.name);
        problems.push(Diagnostic::error(Code::Backward, compiled.spans.phase(from), message, remedy));
    }
}
