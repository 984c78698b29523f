//! T301: every remand spends a budget.

use super::written_routes;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use remand_kernel::program::Route;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for phase_route in written_routes(program) {
        let span = compiled.spans.route(phase_route.phase, phase_route.signal);
        let owner =
            format!("`{}: {}`", program.phase(phase_route.phase).name, program.signal(phase_route.signal));
        check_route(phase_route.route, span, &owner, problems);
    }
    for (index, budget) in program.budgets.iter().enumerate() {
        let mut next = budget.then.as_ref();
        while let Some(route) = next {
            let owner = format!("the `then` of `{}`", budget.name);
            check_route(route, compiled.spans.budgets[index], &owner, problems);
            next = route.otherwise.as_deref();
        }
    }
}

fn check_route(route: &Route, span: Span, owner: &str, problems: &mut Vec<Diagnostic>) {
    let is_back = route.action.is_back();
    if is_back && route.spends.is_empty() {
        let message = format!("{owner} sends work back but spends no budget");
        let remedy =
            "add `spending round` and `rounds: N`, or `spending BUDGET` with a budget of the workflow";
        problems.push(Diagnostic::error(Code::Unpaid, span, message, remedy));
    }
    if !is_back && !route.spends.is_empty() {
        let message = format!("{owner} spends a budget but does not send work back");
        problems.push(Diagnostic::error(
            Code::Unpaid,
            span,
            message,
            "remove `spending`: only routes that send work back spend a budget",
        ));
    }
    if route.otherwise.is_some() && route.spends.is_empty() {
        let message = format!("{owner} has an `else` but no budget that can run out");
        problems.push(Diagnostic::error(
            Code::Unpaid,
            span,
            message,
            "add `spending BUDGET` before the `else`",
        ));
    }
}
