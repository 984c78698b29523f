//! What a signal means: the route it takes, the budgets it spends, and where it leads.
//!
//! The kernel and the checker both call `resolve`, `refills` and `following`, so the checker's proofs apply
//! to what runs. Nothing here reads a state: callers pass the numbers.

use crate::ids::{BudgetId, PhaseId, SignalId};
use crate::program::{Condition, Fact, Program, Route, Scope, Work};
use crate::signal::SPENT;
use alloc::vec::Vec;

/// The route that is followed, after routes with empty budgets have been replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution<'p> {
    pub route: &'p Route,
    /// The empty budgets that caused a replacement, in order.
    pub exhausted: Vec<BudgetId>,
}

/// Resolves a signal at a phase to the route that is followed. `None` if the signal has no route, or none that the
/// budgets allow.
pub fn resolve<'p>(
    program: &'p Program,
    phase: PhaseId,
    signal: SignalId,
    left: impl Fn(BudgetId) -> u16,
) -> Option<Resolution<'p>> {
    let mut route = program.phase(phase).route(signal)?;
    let mut exhausted = Vec::new();
    while let Some(empty) = widest_empty(program, route, &left) {
        // Each replacement must be due to a different budget, or the chain would never end.
        if exhausted.contains(&empty) {
            return None;
        }
        exhausted.push(empty);
        route = replacement(program, phase, route, empty)?;
    }
    Some(Resolution { route, exhausted })
}

/// The route that replaces `route` when `empty` cannot pay for it.
pub fn replacement<'p>(
    program: &'p Program,
    phase: PhaseId,
    route: &'p Route,
    empty: BudgetId,
) -> Option<&'p Route> {
    if let Some(otherwise) = &route.otherwise {
        return Some(otherwise);
    }
    match program.budget(empty).scope {
        Scope::Entry(entered) if entered == phase => program.phase(phase).route(SPENT),
        Scope::Entry(_) | Scope::Phase(_) | Scope::Run | Scope::Subject => {
            program.budget(empty).then.as_ref()
        }
    }
}

/// The empty budget with the widest scope among those that a route spends.
fn widest_empty(program: &Program, route: &Route, left: impl Fn(BudgetId) -> u16) -> Option<BudgetId> {
    route
        .spends
        .iter()
        .copied()
        .filter(|budget| left(*budget) == 0)
        .max_by_key(|budget| program.budget(*budget).scope)
}

/// Whether a remand from `from` to `target` that spends `spends` refills `budget`.
pub fn refills(
    program: &Program,
    budget: BudgetId,
    from: PhaseId,
    target: PhaseId,
    spends: &[BudgetId],
) -> bool {
    if spends.contains(&budget) {
        return false;
    }
    match program.budget(budget).scope {
        Scope::Entry(entered) => {
            program.phase(entered).owner == program.phase(target).owner
                && target <= entered
                && entered <= from
        }
        Scope::Phase(phase) => target <= phase && program.phase(target).owner.is_none(),
        Scope::Run | Scope::Subject => false,
    }
}

/// The phase that `next` leads to from `from`: the first later phase of the same flow that is not an aside and whose
/// condition holds. `None` at the end of the flow.
pub fn following(program: &Program, from: PhaseId, holds: impl Fn(&Condition) -> bool) -> Option<PhaseId> {
    let owner = program.phase(from).owner;
    program.flow(owner).find(|id| {
        let phase = program.phase(*id);
        *id > from && !phase.aside && phase.when.as_ref().is_none_or(&holds)
    })
}

/// The first phase of a flow that is not an aside and whose condition holds.
pub fn first_phase(
    program: &Program,
    owner: Option<PhaseId>,
    holds: impl Fn(&Condition) -> bool,
) -> Option<PhaseId> {
    program.flow(owner).find(|id| {
        let phase = program.phase(*id);
        !phase.aside && phase.when.as_ref().is_none_or(&holds)
    })
}

/// Whether a condition holds, given the value of each fact.
pub fn holds(condition: &Condition, value: impl Fn(Fact) -> u16) -> bool {
    condition.all.iter().all(|comparison| comparison.holds(value(comparison.fact)))
}

/// Whether an option of a question can be followed. It cannot if its budget is empty and no route replaces its route.
pub fn can_follow(
    program: &Program,
    phase: PhaseId,
    signal: SignalId,
    left: impl Fn(BudgetId) -> u16,
) -> bool {
    resolve(program, phase, signal, left).is_some()
}

/// Whether a phase can accept work while a finding is open, which counts as dissent.
pub fn may_dissent(program: &Program, phase: PhaseId) -> bool {
    let phase = program.phase(phase);
    let judges = match &phase.work {
        Work::Operation { operation } => program.operation(*operation).judges,
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Flow { .. } | Work::Ask { .. } => {
            false
        }
    };
    judges || phase.contracts().iter().any(|contract| program.contract(*contract).findings)
}

/// Whether the result of a phase can be degraded, for example because members did not run on different models. A
/// human's answer cannot.
pub fn may_degrade(program: &Program, phase: PhaseId) -> bool {
    match &program.phase(phase).work {
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Flow { .. }
        | Work::Operation { .. } => true,
        Work::Ask { .. } => false,
    }
}
