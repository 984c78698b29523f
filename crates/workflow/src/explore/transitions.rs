//! The transitions of a flow without counters: from phase to phase, with the budgets each spends.

use super::Scenario;
use super::machine::{Counting, Machine, MachineEdge, MachineNode, StepTarget};
use crate::routes::followed_routes;
use remand_kernel::ids::{BudgetId, PhaseId, SignalId};
use remand_kernel::program::{Action, Confidence, Fact, Program};
use remand_kernel::resolve;
use std::collections::{BTreeMap, BTreeSet};

pub use super::liveness::Liveness;

/// A transition from one position to another. A position is a phase together with the phase that led to it.
#[derive(Clone, Debug)]
pub struct FlowTransition {
    pub from: usize,
    pub to: usize,
    pub phase: PhaseId,
    pub target: PhaseId,
    pub signal: SignalId,
    pub spends: Vec<BudgetId>,
}

/// All transitions of a flow in any scenario, in which every budget may be full or empty.
pub fn flow_transitions(program: &Program, flow: Option<PhaseId>) -> Vec<FlowTransition> {
    let mut map = FlowMap::default();
    for scenario in Scenario::all(program) {
        map.explore(&Machine::new(program, scenario, Counting::Free), flow);
    }
    map.transitions
}

/// The positions and transitions found so far.
#[derive(Default)]
struct FlowMap {
    positions: BTreeMap<(PhaseId, Option<PhaseId>), usize>,
    known: BTreeSet<(usize, usize, SignalId, Vec<BudgetId>)>,
    transitions: Vec<FlowTransition>,
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
            // The confidence only falls, so it does not matter for cycles, but it decides which phases are skipped.
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
                        self.transitions.push(FlowTransition {
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
    pub fn new(program: &'p Program, scenario: Scenario, counting: Counting) -> Machine<'p> {
        let liveness = match counting {
            Counting::Exact => Some(Liveness::new(program)),
            Counting::Free => None,
        };
        Machine::with_liveness(program, scenario, counting, liveness)
    }
}

impl Liveness {
    pub fn new(program: &Program) -> Liveness {
        let mut liveness = Liveness {
            budgets: program.phase_ids().map(|id| consulted_budgets(program, id)).collect(),
            callers: program.phase_ids().map(|id| uses_caller(program, id)).collect(),
            confidence: tested_facts(program).any(|fact| fact == Fact::Confidence),
        };
        let flows = program.phase_ids().map(Some).chain([None]);
        let transitions: Vec<FlowTransition> = flows
            .filter(|flow| program.flow(*flow).next().is_some())
            .flat_map(|flow| flow_transitions(program, flow))
            .collect();
        while liveness.propagate(program, &transitions) {}
        liveness
    }

    /// Propagates the parts that matter from the target of each transition to its start. `false` if nothing changed.
    fn propagate(&mut self, program: &Program, transitions: &[FlowTransition]) -> bool {
        let mut changed = false;
        for transition in transitions {
            let (from, to) = (transition.phase.index(), transition.target.index());
            for index in 0..program.budgets.len() {
                let budget = BudgetId(u16::try_from(index).unwrap_or(u16::MAX));
                let refilled = !transition.spends.is_empty()
                    && resolve::refills(
                        program,
                        budget,
                        transition.phase,
                        transition.target,
                        &transition.spends,
                    );
                if self.budgets[to][index] && !refilled && !self.budgets[from][index] {
                    self.budgets[from][index] = true;
                    changed = true;
                }
            }
            let keeps_caller =
                program.phase(transition.phase).aside && program.phase(transition.target).aside;
            if keeps_caller && self.callers[to] && !self.callers[from] {
                self.callers[from] = true;
                changed = true;
            }
        }
        changed
    }
}

/// The budgets that some route of a phase may spend, and those that conditions test.
fn consulted_budgets(program: &Program, id: PhaseId) -> Vec<bool> {
    let mut consulted: Vec<bool> = vec![false; program.budgets.len()];
    for phase_route in followed_routes(program).iter().filter(|route| route.phase == id) {
        for budget in &phase_route.route.spends {
            consulted[budget.index()] = true;
        }
    }
    for fact in tested_facts(program) {
        if let Fact::Left(budget) = fact {
            consulted[budget.index()] = true;
        }
    }
    consulted
}

/// The facts that the conditions of a program test.
fn tested_facts(program: &Program) -> impl Iterator<Item = Fact> + '_ {
    program.conditions().flat_map(|(_, condition)| condition.all.iter().map(|comparison| comparison.fact))
}

/// Whether a phase's routes depend on the phase that led to it.
fn uses_caller(program: &Program, id: PhaseId) -> bool {
    followed_routes(program).iter().any(|route| {
        route.phase == id && matches!(route.route.action, Action::Return | Action::RemandInjector)
    })
}
