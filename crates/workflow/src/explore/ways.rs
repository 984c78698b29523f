//! The ways of a flow without counters: from phase to phase, with what each spends.

use super::World;
use super::machine::{Counting, Edge, Machine, Node, Target};
use remand_kernel::ids::{BudgetId, PhaseId, SignalId};
use remand_kernel::program::{Action, Confidence, Fact, Program};
use remand_kernel::resolve;
use std::collections::{BTreeMap, BTreeSet};

/// A way from one place to another; a place is a phase together with the phase that led to it.
#[derive(Clone, Debug)]
pub struct Way {
    pub from: usize,
    pub to: usize,
    pub phase: PhaseId,
    pub target: PhaseId,
    pub signal: SignalId,
    pub spends: Vec<BudgetId>,
}

/// All ways of a flow in any world, with every budget possibly full and possibly empty.
pub fn ways(program: &Program, flow: Option<PhaseId>) -> Vec<Way> {
    let mut atlas = Atlas::default();
    for world in World::all(program) {
        atlas.explore(&Machine::new(program, world, Counting::Free), flow);
    }
    atlas.ways
}

/// Places and ways found so far.
#[derive(Default)]
struct Atlas {
    places: BTreeMap<(PhaseId, Option<PhaseId>), usize>,
    known: BTreeSet<(usize, usize, SignalId, Vec<BudgetId>)>,
    ways: Vec<Way>,
}

impl Atlas {
    fn place(&mut self, node: &Node) -> usize {
        let count = self.places.len();
        *self.places.entry((node.phase, node.caller)).or_insert(count)
    }

    fn explore(&mut self, machine: &Machine<'_>, flow: Option<PhaseId>) {
        let mut seen: BTreeSet<(PhaseId, Option<PhaseId>)> = BTreeSet::new();
        let mut open: Vec<Node> = machine.starts(flow, Confidence::High);
        while let Some(node) = open.pop() {
            if !seen.insert((node.phase, node.caller)) {
                continue;
            }
            let from = self.place(&node);
            // The confidence only falls, so it plays no part in cycles; but it decides which phases are passed by.
            for confidence in [Confidence::High, Confidence::Medium, Confidence::Low] {
                for Edge { signal, route, target, .. } in machine.edges(&Node { confidence, ..node.clone() })
                {
                    let Target::Node(next) = target else {
                        continue;
                    };
                    let to = self.place(&next);
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

/// What still matters at each phase. A part of a node that nothing looks at any more before it is set anew is dead,
/// and nodes that differ only in dead parts are one.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// By phase, then by budget.
    budgets: Vec<Vec<bool>>,
    callers: Vec<bool>,
    confidence: bool,
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

    /// Carries what matters at the end of each way back to its beginning; `false` when nothing new came up.
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

    /// The node with its dead parts set to their usual values.
    pub fn canonical(&self, mut node: Node, full: &[u16]) -> Node {
        let at = node.phase.index();
        for (budget, left) in node.left.iter_mut().enumerate() {
            if !self.budgets[at][budget] {
                *left = full[budget];
            }
        }
        if !self.callers[at] {
            node.caller = None;
        }
        if !self.confidence {
            node.confidence = Confidence::High;
        }
        node
    }
}

/// The budgets that some route of a phase may have to pay with, and those that conditions look at.
fn consulted(program: &Program, id: PhaseId) -> Vec<bool> {
    let mut live: Vec<bool> = vec![false; program.budgets.len()];
    for at in crate::rules::followed(program).iter().filter(|at| at.phase == id) {
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

/// What the conditions of a program look at.
fn facts(program: &Program) -> impl Iterator<Item = Fact> + '_ {
    program.conditions().flat_map(|(_, condition)| condition.all.iter().map(|comparison| comparison.fact))
}

/// Tells whether a phase itself looks at the phase that led to it.
fn uses_caller(program: &Program, id: PhaseId) -> bool {
    crate::rules::followed(program)
        .iter()
        .any(|at| at.phase == id && matches!(at.route.action, Action::Return | Action::RemandInjector))
}
