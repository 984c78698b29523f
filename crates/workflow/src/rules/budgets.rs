//! T304, T305, T306: budgets say what happens when they are empty, that comes to an end, and all are spent.

use super::{followed, written};
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::ids::{BudgetId, PhaseId, SignalId};
use remand_kernel::program::{Program, Route, Scope, Size, Work};
use remand_kernel::resolve;

/// A loop that may go round more often than this is no loop that anybody waits for.
const MOST: u16 = 250;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for at in followed(program) {
        check_replacements(compiled, at.phase, at.signal, at.route, problems);
    }
    for at in written(program) {
        if let Some(looping) = chain_cycle(program, at.phase, at.route) {
            let message = format!(
                "when `{}` is empty, what replaces the route needs it again",
                program.budget(looping).name
            );
            let remedy = "let the last `then` or `else` lead to `fail`, to a question or on";
            let span = compiled.places.budgets[looping.index()];
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
            let remedy = "spend it on a way back, or remove it";
            problems.push(Diagnostic::error(Code::Unspent, compiled.places.budgets[at], message, remedy));
        }
        let size = program.capacity(id, |_| 0);
        let span = compiled.places.budgets[at];
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
        if matches!(budget.size, Size::Share { .. }) && budget.scope != Scope::Run {
            let message = format!("`{}` goes by a list and is not counted per run", budget.name);
            problems.push(Diagnostic::error(Code::Shape, span, message, "write `per run`"));
        }
    }
}

/// A route that can run out must be replaced by something. An option of a question is simply not offered.
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
        // Missing `spent` is a missing route, which is reported as such.
        if own_rounds || resolve::replacement(program, phase, route, *budget).is_some() {
            continue;
        }
        let name = &program.budget(*budget).name;
        let message =
            format!("`{}` can find `{name}` empty, and nothing says what then", program.phase(phase).name);
        let remedy = format!("add `, then ROUTE` to the budget `{name}`, or `, else ROUTE` to this route");
        problems.push(Diagnostic::error(Code::NoThen, compiled.places.route(phase, signal), message, remedy));
    }
}

/// Follows what replaces a route, whichever of its budgets is empty; a budget met twice is a cycle.
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
