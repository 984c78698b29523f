//! The transitions of a flow without counters: from phase to phase, with the budgets each spends.

use super::Scenario;
use super::machine::{Counting, Machine, MachineEdge, MachineNode, StepTarget};
use crate::routes::followed;
use remand_kernel::ids::{BudgetId, PhaseId, SignalId};
use remand_kernel::program::{Action, Confidence, Fact, Program};
use remand_kernel::resolve;
use std::collections::{BTreeMap, BTreeSet};

pub use super::liveness::Liveness;

/// A transition from one position to another; a position is a phase together with the phase that led to it.
#[derive(Clone, Debug)]
pub struct Way {
    pub from: usize,
    pub to: usize,
    pub phase: PhaseId,
    pub target: PhaseId,
    pub signal: SignalId,
    pub spends: Vec<BudgetId>,
}

/// All transitions of a flow in any world; every budget may be full or empty.
pub fn ways(program: &Program, flow: Option<PhaseId>) -> Vec<Way> {
    let mut map = FlowMap::default();
    for world in Scenario::all(program) {
        map.explore(&Machine::new(program, world, Counting::Free), flow);
    }
    map.ways
}

/// The positions and transitions found so far.
#[derive(Default)]
struct FlowMap {
    positions: BTreeMap<(PhaseId, Option<PhaseId>), usize>,
    known: BTreeSet<(usize, usize, SignalId, Vec<BudgetId>)>,
    ways: Vec<Way>,
}

impl FlowMap {
    fn position(&mut self, node: &MachineNode) -> usize {
        let count = self.positions.len();
        *self.positions.entry((node.phase, node.caller)).or_insert(count)
    }

    fn explore(&mut self, machine: &Machine<'_>, flow: Option<PhaseId>) {
        let mut seen: BTreeSet<(PhaseId, Option<PhaseId>)> = BTreeSet::new();
        let mut open: Vec<MachineNode> = machine.starts(flow, Confidence::High);
        while let Some(node) = open.pop() {
            if !seen.insert((node.phase, node.caller)) {
                continue;
            }
            let from = self.position(&node);
            // The confidence only falls, so it does not matter for cycles; but it decides which phases are skipped.
            for confidence in [Confidence::High, Confidence::Medium, Confidence::Low] {
                for MachineEdge { signal, route, target, .. } in
                    machine.edges(&MachineNode { confidence, ..node.clone() })
                {
                    let StepTarget::Node(next) = target else {
                        continue;
                    };
                    let to = self.position(&next);
                    if self.known.insert((from, to, signal, route.spends.clone())) {
                        let spends = route.spends.clone();
                        self.ways.push(Way {
                            from,
                            to,
                            phase: node.phase,
                            target: next.phase,
                            signal,
                            spends,
                        });
                    }
                    open.push(next);
                }
            }
        }
    }
}

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program, world: Scenario, counting: Counting) -> Machine<'p> {
        let liveness = match counting {
            Counting::Exact => Some(Liveness::new(program)),
            Counting::Free => None,
        };
        Machine::with_liveness(program, world, counting, liveness)
    }
}

impl Liveness {
    pub fn new(program: &Program) -> Liveness {
        let mut live = Liveness {
            budgets: program.phase_ids().map(|id| consulted(program, id)).collect(),
            callers: program.phase_ids().map(|id| uses_caller(program, id)).collect(),
            confidence: facts(program).any(|fact| fact == Fact::Confidence),
        };
        let flows = program.phase_ids().map(Some).chain([None]);
        let ways: Vec<Way> = flows
            .filter(|flow| program.flow(*flow).next().is_some())
            .flat_map(|flow| ways(program, flow))
            .collect();
        while live.spread(program, &ways) {}
        live
    }

    /// Propagates what matters from the end of each transition to its start; `false` if nothing changed.
    fn spread(&mut self, program: &Program, ways: &[Way]) -> bool {
        let mut grew = false;
        for way in ways {
            let (from, to) = (way.phase.index(), way.target.index());
            for at in 0..program.budgets.len() {
                let budget = BudgetId(u16::try_from(at).unwrap_or(u16::MAX));
                let refilled = !way.spends.is_empty()
                    && resolve::refills(program, budget, way.phase, way.target, &way.spends);
                if self.budgets[to][at] && !refilled && !self.budgets[from][at] {
                    self.budgets[from][at] = true;
                    grew = true;
                }
            }
            let passed_on = program.phase(way.phase).aside && program.phase(way.target).aside;
            if passed_on && self.callers[to] && !self.callers[from] {
                self.callers[from] = true;
                grew = true;
            }
        }
        grew
    }
}

/// The budgets that some route of a phase may spend, and those that conditions test.
fn consulted(program: &Program, id: PhaseId) -> Vec<bool> {
    let mut live: Vec<bool> = vec![false; program.budgets.len()];
    for at in followed(program).iter().filter(|at| at.phase == id) {
        for budget in &at.route.spends {
            live[budget.index()] = true;
        }
    }
    for fact in facts(program) {
        if let Fact::Left(budget) = fact {
            live[budget.index()] = true;
        }
    }
    live
}

/// The facts that the conditions of a program test.
fn facts(program: &Program) -> impl Iterator<Item = Fact> + '_ {
    program.conditions().flat_map(|(_, condition)| condition.all.iter().map(|comparison| comparison.fact))
}

/// Whether a phase's routes depend on the phase that led to it.
fn uses_caller(program: &Program, id: PhaseId) -> bool {
    followed(program)
        .iter()
        .any(|at| at.phase == id && matches!(at.route.action, Action::Return | Action::RemandInjector))
}
