//! The routes of a program: those that are written, and those that can be followed.

use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Program, Route};
use remand_kernel::resolve;

/// A route with its phase and signal.
pub(crate) struct PhaseRoute<'p> {
    pub phase: PhaseId,
    pub signal: SignalId,
    pub route: &'p Route,
}

/// Every route of every phase and its `else` routes, without the `then` of budgets.
pub(crate) fn written_routes(program: &Program) -> Vec<PhaseRoute<'_>> {
    let mut all = Vec::new();
    for phase in program.phase_ids() {
        for (signal, route) in &program.phase(phase).routes {
            let mut next = Some(route);
            while let Some(route) = next {
                all.push(PhaseRoute { phase, signal: *signal, route });
                next = route.otherwise.as_deref();
            }
        }
    }
    all
}

/// Every route that a phase can follow, including the `then` of budgets.
pub(crate) fn followed_routes(program: &Program) -> Vec<PhaseRoute<'_>> {
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
                all.push(PhaseRoute { phase, signal: *signal, route });
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
