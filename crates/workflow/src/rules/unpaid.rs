//! T301: every remand spends a budget.

use super::written;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use remand_kernel::program::Route;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for at in written(program) {
        let span = compiled.spans.route(at.phase, at.signal);
        let owner = format!("`{}: {}`", program.phase(at.phase).name, program.signal(at.signal));
        check_route(at.route, span, &owner, problems);
    }
    for (at, budget) in program.budgets.iter().enumerate() {
        let mut next = budget.then.as_ref();
        while let Some(route) = next {
            let owner = format!("the `then` of `{}`", budget.name);
            check_route(route, compiled.spans.budgets[at], &owner, problems);
            next = route.otherwise.as_deref();
        }
    }
}

fn check_route(route: &Route, span: Span, owner: &str, problems: &mut Vec<Diagnostic>) {
    let back = route.action.is_back();
    if back && route.spends.is_empty() {
        let message = format!("{owner} sends work back but spends no budget");
        let remedy =
            "add `spending round` and `rounds: N`, or `spending BUDGET` with a budget of the workflow";
        problems.push(Diagnostic::error(Code::Unpaid, span, message, remedy));
    }
    if !back && !route.spends.is_empty() {
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
