//! The static rules, one a file. Local rules look at one phase or budget at a time; path rules at all paths.

mod bounds;
mod budgets;
mod changes;
mod declared;
mod direction;
mod endless;
mod guarantees;
mod lists;
mod open_end;
mod places;
mod questions;
mod quiet;
mod reached;
mod sub_flows;
mod tallies;
mod unpaid;
mod written;

use crate::compile::Compiled;
use crate::diagnostic::Diagnostic;
use crate::explore::Bounds;
use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Program, Route};
use remand_kernel::resolve;

/// Rules that need no path.
pub fn check_local(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    unpaid::check(compiled, problems);
    direction::check(compiled, problems);
    places::check(compiled, problems);
    budgets::check(compiled, problems);
    quiet::check(compiled, problems);
    sub_flows::check(compiled, problems);
    tallies::check(compiled, problems);
    questions::check(compiled, problems);
    changes::check(compiled, problems);
    lists::check(compiled, problems);
    open_end::check(compiled, problems);
    declared::check(compiled, problems);
}

/// Rules about all paths; each is tried only while nothing speaks against the program.
pub fn check_paths(compiled: &Compiled, bounds: &mut Bounds<'_>, problems: &mut Vec<Diagnostic>) {
    let before = problems.len();
    endless::check(compiled, problems);
    reached::check(compiled, problems);
    written::check(compiled, problems);
    if problems.len() == before {
        bounds::check(compiled, bounds, problems);
        guarantees::check(compiled, problems);
    }
}

/// A route as written: at which phase and signal, and whether it replaces another.
pub(crate) struct Written<'p> {
    pub phase: PhaseId,
    pub signal: SignalId,
    pub route: &'p Route,
}

/// Every route that a phase can take, `else` parts included, but not the `then` of budgets.
pub(crate) fn written(program: &Program) -> Vec<Written<'_>> {
    let mut all = Vec::new();
    for phase in program.phase_ids() {
        for (signal, route) in &program.phase(phase).routes {
            let mut next = Some(route);
            while let Some(route) = next {
                all.push(Written { phase, signal: *signal, route });
                next = route.otherwise.as_deref();
            }
        }
    }
    all
}

/// Every route that a phase can end up taking for a signal, the `then` of budgets included.
pub(crate) fn followed(program: &Program) -> Vec<Written<'_>> {
    let mut all = Vec::new();
    for phase in program.phase_ids() {
        for (signal, route) in &program.phase(phase).routes {
            let mut open = vec![route];
            let mut seen: Vec<&Route> = Vec::new();
            while let Some(route) = open.pop() {
                if seen.iter().any(|known| std::ptr::eq(*known, route)) {
                    continue;
                }
                seen.push(route);
                all.push(Written { phase, signal: *signal, route });
                open.extend(
                    route
                        .spends
                        .iter()
                        .filter_map(|budget| resolve::replacement(program, phase, route, *budget)),
                );
            }
        }
    }
    all
}
