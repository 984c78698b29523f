//! The transitions of a workflow: computes the successors of a node.
//!
//! A node is a phase about to run, with the phase that led to it, the confidence and what is left of each budget. The
//! kernel's `resolve` resolves signals here too, so a proof applies to real runs.

use super::liveness::Liveness;
use remand_kernel::event::Mode;
use remand_kernel::ids::{BudgetId, ListId, PhaseId, SignalId};
use remand_kernel::program::{
    Action, Condition, Confidence, Effect, Fact, Items, Program, Route, TallyRow, Work,
};
use remand_kernel::resolve;
use remand_kernel::signal::{COMPLETED, KIND_FINDINGS, NO_RESULT, SPENT};
use remand_kernel::step::tally_of;
use std::collections::BTreeSet;

pub use super::liveness::MachineNode;

/// The circumstances under which a workflow is explored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scenario {
    pub mode: Mode,
    /// The maximum length of each list. A list may be shorter, and is empty until a phase produces it.
    pub counts: Vec<u16>,
}

impl Scenario {
    /// A scenario with these lengths of named lists, and one item in every other list.
    pub fn new(program: &Program, mode: Mode, known: &[(&str, u16)]) -> Scenario {
        let count =
            |name: &String| known.iter().find(|(list, _)| list == name).map_or(1, |(_, count)| *count);
        Scenario { mode, counts: program.lists.iter().map(count).collect() }
    }

    /// One scenario per mode, in which lists may have any length at any time.
    pub fn all(program: &Program) -> Vec<Scenario> {
        [Mode::Autonomous, Mode::Interactive]
            .map(|mode| Scenario { mode, counts: vec![u16::MAX; program.lists.len()] })
            .to_vec()
    }

    pub fn count(&self, list: ListId) -> u16 {
        self.counts.get(list.index()).copied().unwrap_or(1)
    }
}

/// Whether budgets are counted, or may be full or empty at any time.
///
/// Without counters there are fewer nodes, and more paths than can occur, so a property of all these paths holds in every
/// run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    Exact,
    Free,
}

/// The target of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepTarget {
    Node(MachineNode),
    Done,
    Fail,
    Stop,
    /// The run waits for a human.
    Hold,
    /// The sub-flow ends with this signal.
    Exit(SignalId),
}

/// One transition from a node.
#[derive(Clone, Debug)]
pub struct MachineEdge<'p> {
    pub signal: SignalId,
    pub route: &'p Route,
    pub effect: Option<Effect>,
    pub target: StepTarget,
}

pub struct Machine<'p> {
    pub program: &'p Program,
    pub scenario: Scenario,
    pub counting: Counting,
    /// The signals that each phase can end with.
    signals: Vec<Vec<SignalId>>,
    /// The parts of a node that still matter; only with counters.
    liveness: Option<Liveness>,
    full: Vec<u16>,
}

impl<'p> Machine<'p> {
    pub(super) fn with_liveness(
        program: &'p Program,
        scenario: Scenario,
        counting: Counting,
        liveness: Option<Liveness>,
    ) -> Machine<'p> {
        let mut machine =
            Machine { program, scenario, counting, signals: Vec::new(), liveness, full: Vec::new() };
        machine.signals = program.phase_ids().map(|id| machine.signals_of(id)).collect();
        machine.full = machine.capacities();
        machine
    }

    /// The nodes at which a flow can start. There are several if a flag decides which phase is first.
    pub fn starts(&self, owner: Option<PhaseId>, confidence: Confidence) -> Vec<MachineNode> {
        let left = match self.counting {
            Counting::Exact => self.full.clone(),
            Counting::Free => Vec::new(),
        };
        let blank = MachineNode { phase: PhaseId(0), caller: None, confidence, left };
        self.candidates(owner, None, &blank)
            .into_iter()
            .flatten()
            .map(|phase| self.canonical(MachineNode { phase, ..blank.clone() }))
            .collect()
    }

    /// The size of every budget.
    pub fn full(&self) -> &[u16] {
        &self.full
    }

    fn capacities(&self) -> Vec<u16> {
        (0..self.program.budgets.len())
            .filter_map(|index| u16::try_from(index).ok())
            .map(|index| self.program.capacity(BudgetId(index), |list| self.scenario.count(list)))
            .collect()
    }

    /// All transitions from a node.
    pub fn edges(&self, node: &MachineNode) -> Vec<MachineEdge<'p>> {
        let mut edges = Vec::new();
        for signal in self.signals_at(node) {
            for route in self.routes(node, signal) {
                if route.action == Action::Ignore {
                    continue;
                }
                for effect in self.effects(node.phase, route) {
                    for target in self.targets(node, route, effect) {
                        edges.push(MachineEdge { signal, route, effect, target });
                    }
                }
            }
        }
        edges
    }

    /// The number of dispatches of one run of a phase, without and with retries. Sub-flows are counted separately.
    pub fn dispatches(&self, phase: PhaseId) -> (u64, u64) {
        let phase = self.program.phase(phase);
        let seats = match &phase.work {
            Work::Role { .. } => 1,
            Work::Each { items: Items::Fixed(names), .. } => names.len(),
            Work::Each { items: Items::Listed { up_to, .. }, .. } => usize::from(*up_to),
            Work::Panel { members, advisors } => members.len() + advisors.len(),
            Work::Flow { .. } | Work::Operation { .. } | Work::Ask { .. } => 0,
        };
        (seats as u64, seats as u64 * (u64::from(phase.retries) + 1))
    }

    /// The signals that can occur at a node. A question has only those that are offered in this mode.
    fn signals_at(&self, node: &MachineNode) -> Vec<SignalId> {
        let Work::Ask { default, options, .. } = &self.program.phase(node.phase).work else {
            return self.signals[node.phase.index()].clone();
        };
        match (default, self.scenario.mode) {
            (Some(default), Mode::Autonomous) => vec![*default],
            (Some(_) | None, Mode::Autonomous | Mode::Interactive) => options
                .iter()
                .filter(|option| {
                    option.offered.as_ref().is_none_or(|offered| self.truth(offered, node) != Some(false))
                })
                .map(|option| option.signal)
                .collect(),
        }
    }

    fn signals_of(&self, id: PhaseId) -> Vec<SignalId> {
        let phase = self.program.phase(id);
        match &phase.work {
            Work::Each { contract, items, tally, quorum, .. } => {
                let seats = match items {
                    Items::Fixed(names) => names.len(),
                    Items::Listed { up_to, .. } => usize::from(*up_to),
                };
                let contract = self.program.contract(*contract);
                let says: Vec<SignalId> = if contract.by_kind {
                    contract.says.first().copied().into_iter().chain(KIND_FINDINGS).collect()
                } else {
                    contract.says.clone()
                };
                // A list may have fewer items than the maximum.
                let min_present = match items {
                    Items::Fixed(_) => quorum.map_or(seats, usize::from),
                    Items::Listed { .. } => 1,
                };
                let mut rows = attainable(tally, &says, seats, min_present);
                rows.extend(
                    phase
                        .routes
                        .iter()
                        .map(|(signal, _)| *signal)
                        .filter(|signal| *signal != SPENT && !tally.iter().any(|row| row.signal == *signal)),
                );
                rows.into_iter().collect()
            }
            Work::Role { .. }
            | Work::Panel { .. }
            | Work::Operation { .. }
            | Work::Flow { .. }
            | Work::Ask { .. } => {
                phase.routes.iter().map(|(signal, _)| *signal).filter(|signal| *signal != SPENT).collect()
            }
        }
    }

    /// The routes that a signal can follow.
    fn routes(&self, node: &MachineNode, signal: SignalId) -> Vec<&'p Route> {
        let program = self.program;
        match self.counting {
            Counting::Exact => {
                let resolved =
                    resolve::resolve(program, node.phase, signal, |budget| node.left[budget.index()]);
                resolved.map(|resolution| resolution.route).into_iter().collect()
            }
            Counting::Free => {
                let mut found = Vec::new();
                if let Some(route) = program.phase(node.phase).route(signal) {
                    collect_routes(program, node.phase, route, &mut found);
                }
                found
            }
        }
    }

    /// The effects that a route can have: the one it states, and those that the kernel adds.
    fn effects(&self, phase: PhaseId, route: &Route) -> Vec<Option<Effect>> {
        let mut all = vec![route.effect];
        let dissent = resolve::may_dissent(self.program, phase)
            || self.program.flow(Some(phase)).any(|inner| resolve::may_dissent(self.program, inner));
        // An effect inside a sub-flow applies when the batch is over.
        let in_main_flow = self.program.phase(phase).owner.is_none();
        if in_main_flow
            && route.effect.is_none()
            && dissent
            && !matches!(route.action, Action::Hold | Action::Ignore)
        {
            all.push(Some(Effect::Dissent));
        }
        if in_main_flow && route.effect.is_none() && resolve::may_degrade(self.program, phase) {
            all.push(Some(Effect::Degradation));
        }
        all
    }

    fn targets(&self, node: &MachineNode, route: &'p Route, effect: Option<Effect>) -> Vec<StepTarget> {
        let confidence = effect.map_or(node.confidence, |effect| node.confidence.min(effect.ceiling()));
        let here = MachineNode { confidence, ..node.clone() };
        match &route.action {
            Action::Next => self.next_from(node.phase, &here),
            Action::Return => node.caller.map_or_else(Vec::new, |caller| self.next_from(caller, &here)),
            Action::To(target) => vec![self.move_to(&here, *target)],
            Action::Remand(target) | Action::Restore(target) => {
                vec![self.send_back(&here, *target, &route.spends)]
            }
            Action::RemandInjector => self
                .injectors(node)
                .into_iter()
                .map(|target| self.send_back(&here, target, &route.spends))
                .collect(),
            Action::Raise(signal) => vec![StepTarget::Exit(*signal)],
            Action::Done => vec![StepTarget::Done],
            Action::Fail => vec![StepTarget::Fail],
            Action::Stop(_) => vec![StepTarget::Stop],
            Action::Hold => vec![StepTarget::Hold],
            Action::Ignore => Vec::new(),
        }
    }

    /// The phases that `remand injector` can lead to from a node.
    pub fn injectors(&self, node: &MachineNode) -> Vec<PhaseId> {
        let latest = node.caller.unwrap_or(node.phase);
        let all: Vec<PhaseId> = self.program.injects.iter().copied().filter(|id| *id <= latest).collect();
        if all.is_empty() { self.program.injects.first().copied().into_iter().collect() } else { all }
    }

    fn next_from(&self, from: PhaseId, here: &MachineNode) -> Vec<StepTarget> {
        let owner = self.program.phase(from).owner;
        self.candidates(owner, Some(from), here)
            .into_iter()
            .map(|candidate| match candidate {
                Some(phase) => self.move_to(here, phase),
                None if owner.is_some() => StepTarget::Exit(COMPLETED),
                None => StepTarget::Done,
            })
            .collect()
    }

    /// The phases that may follow `from` in a flow: all up to the first with a condition that certainly holds. `None` is
    /// the end of the flow.
    fn candidates(
        &self,
        owner: Option<PhaseId>,
        from: Option<PhaseId>,
        here: &MachineNode,
    ) -> Vec<Option<PhaseId>> {
        let mut found = Vec::new();
        for id in self.program.flow(owner) {
            let phase = self.program.phase(id);
            if phase.aside || from.is_some_and(|from| id <= from) {
                continue;
            }
            match phase.when.as_ref().map_or(Some(true), |when| self.truth(when, here)) {
                Some(true) => {
                    found.push(Some(id));
                    return found;
                }
                Some(false) => {}
                None => found.push(Some(id)),
            }
        }
        found.push(None);
        found
    }

    /// Whether a condition holds at a node; `None` if that is unknown.
    fn truth(&self, condition: &Condition, node: &MachineNode) -> Option<bool> {
        let mut is_certain = true;
        for comparison in &condition.all {
            let value = match comparison.fact {
                Fact::Count(list) => {
                    match comparison.holds_up_to(self.scenario.count(list)) {
                        Some(true) => {}
                        Some(false) => return Some(false),
                        None => is_certain = false,
                    }
                    continue;
                }
                Fact::Confidence => Some(node.confidence as u16),
                Fact::Mode => Some(self.scenario.mode as u16),
                Fact::Left(budget) => node.left.get(budget.index()).copied(),
                Fact::Risk | Fact::Flag(_) => None,
            };
            match value.map(|value| comparison.holds(value)) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => is_certain = false,
            }
        }
        is_certain.then_some(true)
    }

    fn move_to(&self, here: &MachineNode, target: PhaseId) -> StepTarget {
        let from_aside = self.program.phase(here.phase).aside;
        let caller = match (self.program.phase(target).aside, from_aside) {
            (false, _) => None,
            (true, true) => here.caller,
            (true, false) => Some(here.phase),
        };
        StepTarget::Node(self.canonical(MachineNode { phase: target, caller, ..here.clone() }))
    }

    fn canonical(&self, node: MachineNode) -> MachineNode {
        match &self.liveness {
            Some(liveness) => liveness.canonical(node, &self.full),
            None => node,
        }
    }

    fn send_back(&self, here: &MachineNode, target: PhaseId, spends: &[BudgetId]) -> StepTarget {
        let mut here = here.clone();
        for index in 0..here.left.len() {
            let budget = BudgetId(u16::try_from(index).unwrap_or(u16::MAX));
            if spends.contains(&budget) {
                here.left[index] = here.left[index].saturating_sub(1);
            } else if resolve::refills(self.program, budget, here.phase, target, spends) {
                here.left[index] = self.full[index];
            }
        }
        self.move_to(&here, target)
    }
}

/// Collects a route and all routes that can replace it.
fn collect_routes<'p>(program: &'p Program, phase: PhaseId, route: &'p Route, found: &mut Vec<&'p Route>) {
    if found.iter().any(|known| std::ptr::eq(*known, route)) {
        return;
    }
    found.push(route);
    for budget in &route.spends {
        if let Some(next) = resolve::replacement(program, phase, route, *budget) {
            collect_routes(program, phase, next, found);
        }
    }
}

/// The rows of a tally that some combination of verdicts reaches if at least the quorum is present.
fn attainable(tally: &[TallyRow], says: &[SignalId], seats: usize, quorum: usize) -> BTreeSet<SignalId> {
    let mut rows = BTreeSet::new();
    for present in quorum.max(1)..=seats {
        let mut chosen = vec![0_usize; present];
        loop {
            let verdicts: Vec<SignalId> =
                chosen.iter().filter_map(|index| says.get(*index).copied()).collect();
            rows.insert(tally_of(tally, &verdicts));
            // The next multiset: the order of seats does not matter for a tally.
            let Some(last) = chosen.iter().rposition(|index| index + 1 < says.len()) else {
                break;
            };
            let next_verdict = chosen[last] + 1;
            for index in &mut chosen[last..] {
                *index = next_verdict;
            }
        }
    }
    rows.remove(&NO_RESULT);
    rows
}
