//! The edges of a program, computed once for all formats.
//!
//! A route gives one edge, and another one for each route that replaces it when a budget is empty. `next` leads to the
//! following phase in the file even if that phase has a condition; another edge leads past a phase with a condition.

use crate::phrase::budget_name;
use remand_kernel::ids::{BudgetId, PhaseId, SignalId};
use remand_kernel::program::{Action, Effect, Phase, Program, Route};
use remand_kernel::resolve::{following, replacement};
use remand_kernel::signal::SPENT;

/// One edge from a phase to another phase or to an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteEdge {
    pub from: PhaseId,
    pub to: EdgeTarget,
    pub kind: EdgeKind,
    /// The signals that take this edge, in the order of the phase's routes; empty if the edge leads past the phase.
    pub signals: Vec<SignalId>,
    pub spends: Vec<BudgetId>,
    /// An exhausted edge is followed if one of these budgets is empty; a direct edge has none.
    pub empty: Vec<BudgetId>,
    pub effect: Option<Effect>,
}

/// Where an edge leads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeTarget {
    Phase(PhaseId),
    /// The phase that injected the defect: one of the program's `injects`.
    Injector,
    /// The phase after the one that led to the aside.
    Caller,
    End(RunEnd),
}

/// An end of the run, or a hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunEnd {
    Done,
    Fail,
    Stop(String),
    Hold,
}

/// What the route of an edge does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    Next,
    /// Leads past a phase whose condition does not hold; no signal is involved.
    Pass,
    To,
    Remand,
    Restore,
    /// Leads out of a sub-flow, to the phase that owns it.
    Raise(SignalId),
    Return,
    /// Leads to an end.
    Close,
}

/// How an edge is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeTone {
    Forward,
    /// Sends work back: a remand or a restore.
    Back,
    /// Followed only if a budget is empty.
    Exhausted,
    Raise,
}

impl RouteEdge {
    pub fn is_exhausted(&self) -> bool {
        !self.empty.is_empty()
    }

    pub fn tone(&self) -> EdgeTone {
        if self.is_exhausted() {
            return EdgeTone::Exhausted;
        }
        match self.kind {
            EdgeKind::Remand | EdgeKind::Restore => EdgeTone::Back,
            EdgeKind::Raise(_) => EdgeTone::Raise,
            EdgeKind::Next | EdgeKind::Pass | EdgeKind::To | EdgeKind::Return | EdgeKind::Close => {
                EdgeTone::Forward
            }
        }
    }

    /// The budgets that the edge spends, as its phase names them: `round, attempts`.
    pub fn spent_budgets(&self, program: &Program) -> String {
        self.names(program, &self.spends).join(", ")
    }

    /// The budgets that lead to this edge when one is empty: `round or attempts`.
    pub fn empty_budgets(&self, program: &Program) -> String {
        self.names(program, &self.empty).join(" or ")
    }

    fn names<'p>(&self, program: &'p Program, budgets: &[BudgetId]) -> Vec<&'p str> {
        budgets.iter().map(|id| budget_name(program, self.from, *id)).collect()
    }
}

impl EdgeKind {
    pub fn name(self) -> &'static str {
        match self {
            EdgeKind::Next => "next",
            EdgeKind::Pass => "pass",
            EdgeKind::To => "to",
            EdgeKind::Remand => "remand",
            EdgeKind::Restore => "restore",
            EdgeKind::Raise(_) => "raise",
            EdgeKind::Return => "return",
            EdgeKind::Close => "end",
        }
    }
}

impl RunEnd {
    pub fn name(&self) -> String {
        match self {
            RunEnd::Done => "done".to_string(),
            RunEnd::Fail => "fail".to_string(),
            RunEnd::Stop(why) => format!("stop {why}").trim_end().to_string(),
            RunEnd::Hold => "hold".to_string(),
        }
    }
}

/// All edges, phase by phase; the direct edges of a phase come before its exhausted ones.
pub fn edges(program: &Program) -> Vec<RouteEdge> {
    program.phase_ids().flat_map(|id| edges_from(program, id)).collect()
}

/// The edges that leave one phase.
pub fn edges_from(program: &Program, from: PhaseId) -> Vec<RouteEdge> {
    let phase = program.phase(from);
    let mut found = Vec::new();
    for (signal, route) in written_order(phase) {
        // In a phase with rounds, `spent` is not a signal: it replaces the routes that spend rounds.
        if *signal != SPENT || phase.round.is_none() {
            add_route(program, from, (*signal, route), &mut Vec::new(), &mut found);
        }
    }
    if phase.when.is_some() && !phase.aside {
        let (spends, empty) = (Vec::new(), Vec::new());
        let to = next(program, from);
        found.push(RouteEdge {
            from,
            to,
            kind: EdgeKind::Pass,
            signals: Vec::new(),
            spends,
            empty,
            effect: None,
        });
    }
    // The sort is stable: within both kinds, edges keep the order of the routes.
    found.sort_by_key(RouteEdge::is_exhausted);
    join_alternatives(found)
}

/// Joins exhausted edges that differ only in their empty budgets; the joined edge needs one of them to be empty.
fn join_alternatives(found: Vec<RouteEdge>) -> Vec<RouteEdge> {
    let mut joined: Vec<RouteEdge> = Vec::new();
    for edge in found {
        let same = joined.iter_mut().find(|known| {
            known.is_exhausted()
                && edge.is_exhausted()
                && known.signals == edge.signals
                && leads_same_way(known, &edge)
        });
        match same {
            Some(known) => known.empty.extend(edge.empty),
            None => joined.push(edge),
        }
    }
    joined
}

fn leads_same_way(one: &RouteEdge, other: &RouteEdge) -> bool {
    one.to == other.to && one.kind == other.kind && one.spends == other.spends && one.effect == other.effect
}

/// The routes of a phase in the order of the file; those from the defaults come last.
pub fn written_order(phase: &Phase) -> Vec<&(SignalId, Route)> {
    let mut routes: Vec<&(SignalId, Route)> = phase.routes.iter().collect();
    // Readers look for the phase's own routes first and, within a line, for the accepting one.
    routes.sort_by_key(|(_, route)| {
        (route.line < phase.line, route.line, !route.action.is_accepting(), route.effect)
    });
    routes
}

/// Adds the edge of a route, then the edges that replace it. `chain` holds the budgets that are empty so far.
fn add_route(
    program: &Program,
    from: PhaseId,
    (signal, route): (SignalId, &Route),
    chain: &mut Vec<Vec<BudgetId>>,
    found: &mut Vec<RouteEdge>,
) {
    let Some((kind, to)) = destination(program, from, &route.action) else {
        return;
    };
    let (spends, effect) = (route.spends.clone(), route.effect);
    let empty = chain.last().cloned().unwrap_or_default();
    add_edge(found, RouteEdge { from, to, kind, signals: vec![signal], spends, empty, effect });
    for (any_of, substitute) in replacements(program, from, route) {
        // A budget may occur only once in a chain, or the chain would never end.
        if !chain.iter().flatten().any(|budget| any_of.contains(budget)) {
            chain.push(any_of);
            add_route(program, from, (signal, substitute), chain, found);
            chain.pop();
        }
    }
}

/// The routes that replace a route with empty budgets, each with the budgets that cause the replacement.
fn replacements<'p>(
    program: &'p Program,
    from: PhaseId,
    route: &'p Route,
) -> Vec<(Vec<BudgetId>, &'p Route)> {
    if let Some(otherwise) = &route.otherwise {
        return vec![(route.spends.clone(), otherwise)];
    }
    route
        .spends
        .iter()
        .filter_map(|budget| Some((vec![*budget], replacement(program, from, route, *budget)?)))
        .collect()
}

fn add_edge(found: &mut Vec<RouteEdge>, edge: RouteEdge) {
    let same = found.iter_mut().find(|known| known.empty == edge.empty && leads_same_way(known, &edge));
    match same {
        Some(known) => {
            for signal in edge.signals {
                if !known.signals.contains(&signal) {
                    known.signals.push(signal);
                }
            }
        }
        None => found.push(edge),
    }
}

/// The kind and target of an action at a phase; `None` if the action ignores the signal.
fn destination(program: &Program, from: PhaseId, action: &Action) -> Option<(EdgeKind, EdgeTarget)> {
    let owner = program.phase(from).owner;
    Some(match action {
        Action::Next => (EdgeKind::Next, next(program, from)),
        Action::To(id) => (EdgeKind::To, EdgeTarget::Phase(*id)),
        Action::Remand(id) => (EdgeKind::Remand, EdgeTarget::Phase(*id)),
        Action::RemandInjector => (EdgeKind::Remand, EdgeTarget::Injector),
        Action::Restore(id) => (EdgeKind::Restore, EdgeTarget::Phase(*id)),
        Action::Return => (EdgeKind::Return, EdgeTarget::Caller),
        Action::Raise(signal) => (EdgeKind::Raise(*signal), EdgeTarget::Phase(owner.unwrap_or(from))),
        Action::Done => (EdgeKind::Close, EdgeTarget::End(RunEnd::Done)),
        Action::Fail => (EdgeKind::Close, EdgeTarget::End(RunEnd::Fail)),
        Action::Stop(why) => (EdgeKind::Close, EdgeTarget::End(RunEnd::Stop(why.clone()))),
        Action::Hold => (EdgeKind::Close, EdgeTarget::End(RunEnd::Hold)),
        Action::Ignore => return None,
    })
}

/// The target of `next`. After the last phase of a sub-flow, this is the phase that owns it.
fn next(program: &Program, from: PhaseId) -> EdgeTarget {
    let after_last = program.phase(from).owner.map_or(EdgeTarget::End(RunEnd::Done), EdgeTarget::Phase);
    following(program, from, |_| true).map_or(after_last, EdgeTarget::Phase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, COMMIT, DECIDE, PLAN, REVIEW, REWORK, ROUND, TASKS, VERIFY};
    use remand_kernel::program::Condition;

    fn names(program: &Program, edge: &RouteEdge) -> Vec<String> {
        edge.signals.iter().map(|signal| program.signal(*signal).to_string()).collect()
    }

    #[test]
    fn signals_that_lead_the_same_way_share_an_edge() {
        let program = sample::program();
        let edges = edges_from(&program, REVIEW);
        let back = edges.iter().find(|edge| edge.kind == EdgeKind::Remand).unwrap();
        assert_eq!(names(&program, back), ["needs-work", "block"]);
        assert_eq!((back.spends.as_slice(), back.tone()), ([ROUND].as_slice(), EdgeTone::Back));
    }

    #[test]
    fn spent_is_an_exhausted_edge_of_the_signals_that_spend_rounds() {
        let program = sample::program();
        let edges = edges_from(&program, REVIEW);
        let spent = edges.iter().find(|edge| edge.is_exhausted()).unwrap();
        assert_eq!(names(&program, spent), ["needs-work", "block"]);
        assert_eq!((spent.to.clone(), spent.empty.clone()), (EdgeTarget::Phase(TASKS), vec![ROUND]));
        assert!(edges.iter().all(|edge| !edge.signals.contains(&SPENT)));
    }

    #[test]
    fn an_else_takes_precedence_over_the_route_of_the_budget() {
        let program = sample::program();
        let exhausted: Vec<(Vec<String>, EdgeTarget)> = edges_from(&program, TASKS)
            .iter()
            .filter(|edge| edge.empty == [REWORK])
            .map(|edge| (names(&program, edge), edge.to.clone()))
            .collect();
        assert_eq!(
            exhausted,
            [
                (vec!["unverified".to_string()], EdgeTarget::Phase(DECIDE)),
                (vec!["unsafe".to_string()], EdgeTarget::End(RunEnd::Fail)),
            ]
        );
    }

    #[test]
    fn next_after_the_last_phase_leads_to_the_owner_or_to_done() {
        let program = sample::program();
        assert_eq!(edges_from(&program, VERIFY)[0].to, EdgeTarget::Phase(TASKS));
        assert_eq!(edges_from(&program, DECIDE)[0].to, EdgeTarget::End(RunEnd::Done));
        assert_eq!(edges_from(&program, PLAN)[0].to, EdgeTarget::Phase(REVIEW));
        assert_eq!(edges_from(&program, COMMIT)[0].to, EdgeTarget::End(RunEnd::Done));
    }

    #[test]
    fn a_cycle_of_empty_budgets_ends() {
        let mut program = sample::program();
        program.budgets[REWORK.index()].then = Some(sample::spending_route(Action::Remand(PLAN), &[REWORK]));
        assert!(edges_from(&program, TASKS).len() < 10);
    }

    #[test]
    fn an_edge_leads_past_a_phase_with_a_condition() {
        let mut program = sample::program();
        program.phases[TASKS.index()].when = Some(Condition { all: Vec::new() });
        let edges = edges_from(&program, TASKS);
        let pass = edges.iter().find(|edge| edge.kind == EdgeKind::Pass).unwrap();
        assert_eq!((pass.to.clone(), pass.signals.len()), (EdgeTarget::Phase(COMMIT), 0));
        assert!(edges_from(&program, REVIEW).iter().all(|edge| edge.kind != EdgeKind::Pass));
    }
}
