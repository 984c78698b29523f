//! T304, T305, T306: budgets say what happens when they are empty, that chain ends, and every budget is spent somewhere.

use super::{followed, written};
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::ids::{BudgetId, PhaseId, SignalId};
use remand_kernel::program::{BudgetSize, Program, Route, Scope, Work};
use remand_kernel::resolve;

/// The maximum size of a budget: nobody waits for a longer loop.
const MOST: u16 = 250;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for at in followed(program) {
        check_replacements(compiled, at.phase, at.signal, at.route, problems);
    }
    for at in written(program) {
        if let Some(looping) = chain_cycle(program, at.phase, at.route) {
            let message = format!(
                "when `{}` is empty, the replacement for the route needs it again",
                program.budget(looping).name
            );
            let remedy = "let the last `then` or `else` lead to `fail`, to a question or forward";
            let span = compiled.spans.budgets[looping.index()];
            problems.push(Diagnostic::error(Code::Chain, span, message, remedy));
        }
    }
    for (at, budget) in program.budgets.iter().enumerate() {
        let id = BudgetId(u16::try_from(at).unwrap_or(u16::MAX));
        let spent = followed(program).iter().any(|at| at.route.spends.contains(&id));
        if !spent {
            let message = match budget.scope {
                Scope::Entry(_) => "no route spends these rounds".to_string(),
                Scope::Phase(_) | Scope::Run | Scope::Subject => format!("no route spends `{}`", budget.name),
            };
            let remedy = "spend it on a remand, or remove it";
            problems.push(Diagnostic::error(Code::Unspent, compiled.spans.budgets[at], message, remedy));
        }
        let size = program.capacity(id, |_| 0);
        let span = compiled.spans.budgets[at];
        if size == 0 {
            let message = format!("`{}` is empty from the start", budget.name);
            problems.push(Diagnostic::error(
                Code::Unspent,
                span,
                message,
                "give it at least 1, or `rounds: 2`",
            ));
        }
        if size > MOST {
            let message = format!("`{}` can be spent {size} times", budget.name);
            problems.push(Diagnostic::error(Code::Shape, span, message, format!("write at most {MOST}")));
        }
        if matches!(budget.size, BudgetSize::Share { .. }) && budget.scope != Scope::Run {
            let message = format!("`{}` depends on a list, but is not counted per run", budget.name);
            problems.push(Diagnostic::error(Code::Shape, span, message, "write `per run`"));
        }
    }
}

/// Reports a route that can run out and that nothing replaces. An option of a question is just not offered then.
fn check_replacements(
    compiled: &Compiled,
    phase: PhaseId,
    signal: SignalId,
    route: &Route,
    problems: &mut Vec<Diagnostic>,
) {
    let program = &compiled.program;
    if matches!(program.phase(phase).work, Work::Ask { .. }) {
        return;
    }
    for budget in &route.spends {
        let own_rounds = program.phase(phase).round == Some(*budget);
        // A missing `spent` is reported as a missing route.
        if own_rounds || resolve::replacement(program, phase, route, *budget).is_some() {
            continue;
        }
        let name = &program.budget(*budget).name;
        let message = format!(
            "when `{}` finds `{name}` empty, nothing says what happens next",
            program.phase(phase).name
        );
        let remedy = format!("add `, then ROUTE` to the budget `{name}`, or `, else ROUTE` to this route");
        problems.push(Diagnostic::error(Code::NoThen, compiled.spans.route(phase, signal), message, remedy));
    }
}

/// Follows the replacements of a route for each of its budgets; a budget that occurs twice makes a cycle.
fn chain_cycle(program: &Program, phase: PhaseId, route: &Route) -> Option<BudgetId> {
    fn follow(program: &Program, phase: PhaseId, route: &Route, met: &[BudgetId]) -> Option<BudgetId> {
        route.spends.iter().find_map(|budget| {
            if met.contains(budget) {
                return Some(*budget);
            }
            let next = resolve::replacement(program, phase, route, *budget)?;
            follow(program, phase, next, &[met, &[*budget]].concat())
        })
    }
    follow(program, phase, route, &[])
}
