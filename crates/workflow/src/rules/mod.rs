//! The static rules, one per file. Local rules check one phase or budget at a time; path rules check all paths.

mod actions;
mod bounds;
mod budgets;
mod changes;
mod declared;
mod direction;
mod endless;
mod guarantees;
mod lists;
mod open_end;
mod questions;
mod quiet;
mod reached;
mod sub_flows;
mod supplied;
mod tallies;
mod unpaid;
mod written;

use crate::compile::Compiled;
use crate::diagnostic::Diagnostic;
use crate::explore::BoundCalculator;

pub(crate) use crate::routes::{followed_routes, written_routes};

/// Checks the local rules.
pub fn check_local(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    unpaid::check(compiled, problems);
    direction::check(compiled, problems);
    actions::check(compiled, problems);
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

/// Checks the path rules. Bounds and guarantees are proved only if the other path rules hold.
pub fn check_paths(compiled: &Compiled, bounds: &mut BoundCalculator<'_>, problems: &mut Vec<Diagnostic>) {
    let before = problems.len();
    endless::check(compiled, problems);
    reached::check(compiled, problems);
    written::check(compiled, problems);
    if problems.len() == before {
        bounds::check(compiled, bounds, problems);
        guarantees::check(compiled, problems);
        supplied::check(compiled, problems);
    }
}
