//! T304, T305, T306: every route that can run out has a replacement, the chain of replacements ends, and every budget is
//! spent.

use super::{followed_routes, written_routes};
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::ids::{BudgetId, PhaseId, SignalId};
use remand_kernel::program::{BudgetSize, Program, Route, Scope, Work};
use remand_kernel::resolve;

/// The maximum size of a budget: nobody waits for more rounds.
const MAX_SIZE: u16 = 250;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for phase_route in followed_routes(program) {
        check_replacements(compiled, phase_route.phase, phase_route.signal, phase_route.route, problems);
    }
    for phase_route in written_routes(program) {
        if let Some(budget) = chain_cycle(program, phase_route.phase, phase_route.route) {
            let message = format!(
                "when `{}` is empty, the replacement for the route needs it again",
                program.budget(budget).name
            );
            let remedy = "let the last `then` or `else` lead to `fail`, to a question or forward";
            let span = compiled.spans.budgets[budget.index()];
            problems.push(Diagnostic::error(Code::Chain, span, message, remedy));
        }
    }
    for (index, budget) in program.budgets.iter().enumerate() {
        let id = BudgetId(u16::try_from(index).unwrap_or(u16::MAX));
        let is_spent =
            followed_routes(program).iter().any(|phase_route| phase_route.route.spends.contains(&id));
        if !is_spent {
            let message = match budget.scope {
                Scope::Entry(_) => "no route spends these rounds".to_string(),
                Scope::Phase(_) | Scope::Run | Scope::Subject => format!("no route spends `{}`", budget.name),
            };
            let remedy = "spend it on a remand, or remove it";
            problems.push(Diagnostic::error(Code::Unspent, compiled.spans.budgets[index], message, remedy));
        }
        let size = program.capacity(id, |_| 0);
        let span = compiled.spans.budgets[index];
        if size == 0 {
            let message = format!("`{}` is empty from the start", budget.name);
            problems.push(Diagnostic::error(
                Code::Unspent,
                span,
                message,
                "give it at least 1, or `rounds: 2`",
            ));
        }
        if size > MAX_SIZE {
            let message = format!("`{}` can be spent {size} times", budget.name);
            problems.push(Diagnostic::error(Code::Shape, span, message, format!("write at most {MAX_SIZE}")));
        }
        if matches!(budget.size, BudgetSize::Share { .. }) && budget.scope != Scope::Run {
            let message = format!("`{}` depends on a list, but is not counted per run", budget.name);
            problems.push(Diagnostic::error(Code::Shape, span, message, "write `per run`"));
        }
    }
}

/// Reports a route that can run out without a replacement. An option of a question is just not offered in that case.
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
        let is_own_rounds = program.phase(phase).round == Some(*budget);
        // A missing `spent` is reported as a missing route.
        if is_own_rounds || resolve::replacement(program, phase, route, *budget).is_some() {
            continue;
        }
        let name = &program.budget(*budget).name;
        let message = format!(
            "when `{}` finds `{name}` empty, no route says what happens next",
            program.phase(phase).name
        );
        let remedy = format!("add `, then ROUTE` to the budget `{name}`, or `, else ROUTE` to this route");
        problems.push(Diagnostic::error(Code::NoThen, compiled.spans.route(phase, signal), message, remedy));
    }
}

/// Finds a cycle in the replacements of a route: a budget that occurs twice.
fn chain_cycle(program: &Program, phase: PhaseId, route: &Route) -> Option<BudgetId> {
    fn follow(program: &Program, phase: PhaseId, route: &Route, seen: &[BudgetId]) -> Option<BudgetId> {
        route.spends.iter().find_map(|budget| {
            if seen.contains(budget) {
                return Some(*budget);
            }
            let next = resolve::replacement(program, phase, route, *budget)?;
            follow(program, phase, next, &[seen, &[*budget]].concat())
        })
    }
    follow(program, phase, route, &[])
}
