//! T302: `to` leads forward, `remand` leads back, both within one flow.

use super::followed;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Action;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for at in followed(program) {
        let Some(target) = at.route.action.target_phase() else {
            continue;
        };
        let back = at.route.action.is_back();
        let span = compiled.spans.route(at.phase, at.signal);
        let (from, to) = (&program.phase(at.phase).name, &program.phase(target).name);
        if program.phase(at.phase).owner != program.phase(target).owner {
            let message = format!("`{from}` and `{to}` belong to different flows");
            let remedy = "leave a sub-flow with `raise SIGNAL`, and route that signal at the phase that has the sub-flow";
            problems.push(Diagnostic::error(Code::SubFlow, span, message, remedy));
        } else if back && target > at.phase {
            let message = format!("`remand {to}` leads forward: `{to}` comes after `{from}`");
            problems.push(Diagnostic::error(Code::Backward, span, message, format!("write `to {to}`")));
        } else if !back && target <= at.phase {
            let message = format!("`to {to}` leads back: `{to}` does not come after `{from}`");
            let remedy = format!("write `remand {to} spending BUDGET`, or move `{to}` further down");
            problems.push(Diagnostic::error(Code::Backward, span, message, remedy));
        }
        if matches!(at.route.action, Action::Restore(_)) {
            check_restore(compiled, at.phase, target, problems);
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
