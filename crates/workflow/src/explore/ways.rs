//! The earlier results that each phase is given on each way into it, over all paths: the law of the brief, applied to
//! the graph of a workflow.
//!
//! Budgets may be full or empty at any time, so the graph has more paths than can occur: a result that is given on all
//! of them is given in every run. A sub-flow is followed for one of its tasks.

use super::Scenario;
use super::machine::{Counting, Machine, MachineNode, StepTarget};
use remand_kernel::brief::{Hearing, Onward, hearing};
use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Confidence, Program, Work};
use std::collections::{BTreeMap, BTreeSet, VecDeque, btree_map};

/// A position on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Start,
    /// A phase about to run, and the phase that led to it if it is an aside.
    Phase(PhaseId, Option<PhaseId>),
    /// A sub-flow whose tasks have ended.
    Joined(PhaseId, Option<PhaseId>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WayEdge {
    to: Place,
    /// The signal that the phase ended with; `None` where no phase ended.
    signal: Option<SignalId>,
    onward: Onward,
    /// Artifacts are reset when work is sent back.
    back: bool,
}

/// All ways through a workflow.
pub struct WayGraph<'p> {
    program: &'p Program,
    edges: BTreeMap<Place, BTreeSet<WayEdge>>,
    /// The phases with which the tasks of each sub-flow may start.
    first: BTreeMap<PhaseId, BTreeSet<PhaseId>>,
}

/// One way into a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayIn {
    /// The phase that led here, and the signal that it ended with; `None` at the start of the run.
    pub from: Option<(PhaseId, SignalId)>,
    /// Whether the phase has run before.
    pub again: bool,
    /// Whether the work was sent back.
    pub back: bool,
    /// The phases whose last result is given on every path that enters here.
    pub heard: BTreeSet<PhaseId>,
    /// The phases whose last result is given on some path that enters here.
    pub may_hear: BTreeSet<PhaseId>,
    /// The phases that have run on every path that enters here.
    pub ran: BTreeSet<PhaseId>,
}

/// An entry into a phase: whether it has run before, what led there, and whether the work was sent back.
type Entry = (bool, Option<(PhaseId, SignalId)>, bool);

/// What is known about all paths to a position.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    heard: BTreeSet<PhaseId>,
    may_hear: BTreeSet<PhaseId>,
    ran: BTreeSet<PhaseId>,
}

impl Known {
    /// Adds the knowledge about other paths; `false` if nothing changed.
    fn join(&mut self, other: &Known) -> bool {
        let before = self.clone();
        self.heard.retain(|phase| other.heard.contains(phase));
        self.ran.retain(|phase| other.ran.contains(phase));
        self.may_hear.extend(&other.may_hear);
        *self != before
    }
}

impl<'p> WayGraph<'p> {
    pub fn new(program: &'p Program) -> WayGraph<'p> {
        let mut graph = WayGraph { program, edges: BTreeMap::new(), first: BTreeMap::new() };
        for scenario in Scenario::all(program) {
            graph.explore(&Machine::new(program, scenario, Counting::Free));
        }
        graph
    }

    fn explore(&mut self, machine: &Machine<'_>) {
        for start in machine.starts(None, Confidence::High) {
            let to = Place::Phase(start.phase, None);
            self.connect(
                machine,
                Place::Start,
                WayEdge { to, signal: None, onward: Onward::Routed, back: false },
            );
        }
        let mut seen: BTreeSet<(PhaseId, Option<PhaseId>)> = BTreeSet::new();
        let mut open: Vec<MachineNode> = machine.starts(None, Confidence::High);
        while let Some(node) = open.pop() {
            if !seen.insert((node.phase, node.caller)) {
                continue;
            }
            let entry = Place::Phase(node.phase, node.caller);
            let from = match self.program.phase(node.phase).work {
                Work::Flow { .. } => {
                    let joined = Place::Joined(node.phase, node.caller);
                    // No task runs if all results are reused. Also, other tasks may have run before this one.
                    let skip = WayEdge { to: joined, signal: None, onward: Onward::Routed, back: false };
                    self.connect(machine, entry, skip);
                    self.explore_tasks(machine, node.phase, joined);
                    joined
                }
                Work::Role { .. }
                | Work::Each { .. }
                | Work::Panel { .. }
                | Work::Operation { .. }
                | Work::Ask { .. } => entry,
            };
            for next in self.connect_all(machine, &node, from, None) {
                open.push(next);
            }
        }
    }

    /// Explores the sub-flow of one task, which ends at this position.
    fn explore_tasks(&mut self, machine: &Machine<'_>, flow: PhaseId, joined: Place) {
        let mut seen: BTreeSet<(PhaseId, Option<PhaseId>)> = BTreeSet::new();
        let mut open = machine.starts(Some(flow), Confidence::High);
        self.first.entry(flow).or_default().extend(open.iter().map(|start| start.phase));
        while let Some(node) = open.pop() {
            if seen.insert((node.phase, node.caller)) {
                let from = Place::Phase(node.phase, node.caller);
                open.extend(self.connect_all(machine, &node, from, Some(joined)));
            }
        }
    }

    /// Adds all edges of a node, and returns the nodes that they lead to. An exit of a sub-flow leads to `exit`.
    fn connect_all(
        &mut self,
        machine: &Machine<'_>,
        node: &MachineNode,
        from: Place,
        exit: Option<Place>,
    ) -> Vec<MachineNode> {
        let mut found = Vec::new();
        for confidence in [Confidence::High, Confidence::Medium, Confidence::Low] {
            for edge in machine.edges(&MachineNode { confidence, ..node.clone() }) {
                let to = match (edge.target, exit) {
                    (StepTarget::Node(next), _) => {
                        let to = Place::Phase(next.phase, next.caller);
                        found.push(next);
                        to
                    }
                    (StepTarget::Exit(_), Some(joined)) => joined,
                    _ => continue,
                };
                let target = match to {
                    Place::Phase(target, _) => Some(target),
                    Place::Start | Place::Joined(..) => None,
                };
                let onward = Onward::of(self.program, node.phase, &edge.route.action, target, edge.effect);
                let back = edge.route.action.is_back();
                self.connect(machine, from, WayEdge { to, signal: Some(edge.signal), onward, back });
            }
        }
        found
    }

    /// Adds an edge. One that leads to a sub-flow also leads to the phases with which its tasks start.
    fn connect(&mut self, machine: &Machine<'_>, from: Place, edge: WayEdge) {
        if let Place::Phase(flow, _) = edge.to
            && matches!(self.program.phase(flow).work, Work::Flow { .. })
        {
            for start in machine.starts(Some(flow), Confidence::High) {
                let to = Place::Phase(start.phase, None);
                self.edges.entry(from).or_default().insert(WayEdge { to, ..edge.clone() });
            }
        }
        self.edges.entry(from).or_default().insert(edge);
    }

    /// What changes for `target` when this position is left.
    fn pass(
        &self,
        target: PhaseId,
        been: bool,
        place: Place,
        edge: &WayEdge,
        known: &Known,
    ) -> (bool, Known) {
        let (Place::Phase(phase, _) | Place::Joined(phase, _), Some(_)) = (place, edge.signal) else {
            return (been, known.clone());
        };
        let mut after = known.clone();
        after.ran.insert(phase);
        // The results of tasks are reused only if the tasks ran before, so each has passed its first phase.
        let first = self.first.get(&phase).filter(|first| first.len() == 1);
        after.ran.extend(first.into_iter().flatten());
        match hearing(self.program, target, been, phase, edge.onward) {
            Hearing::Restart => {
                after.heard.clear();
                after.may_hear.clear();
                return (true, after);
            }
            Hearing::Repeat => return (true, after),
            Hearing::Forget => {
                after.heard.clear();
                after.may_hear.clear();
            }
            Hearing::Hear => {
                after.heard.insert(phase);
                after.may_hear.insert(phase);
            }
            Hearing::Skip => {
                after.heard.remove(&phase);
                after.may_hear.remove(&phase);
            }
        }
        (been, after)
    }

    /// Every way into a phase, in the order of the phases that lead there; first entries before repetitions.
    pub fn ways_in(&self, target: PhaseId) -> Vec<WayIn> {
        let nothing = Known { heard: BTreeSet::new(), may_hear: BTreeSet::new(), ran: BTreeSet::new() };
        let mut known: BTreeMap<(Place, bool), Known> = BTreeMap::from([((Place::Start, false), nothing)]);
        let mut open = VecDeque::from([(Place::Start, false)]);
        let mut entries: BTreeMap<Entry, Known> = BTreeMap::new();
        while let Some((place, been)) = open.pop_front() {
            let here = known[&(place, been)].clone();
            for edge in self.edges.get(&place).into_iter().flatten() {
                let (been, after) = self.pass(target, been, place, edge, &here);
                if matches!(edge.to, Place::Phase(phase, _) if phase == target) {
                    let from = match (place, edge.signal) {
                        (Place::Phase(phase, _) | Place::Joined(phase, _), Some(signal)) => {
                            Some((phase, signal))
                        }
                        _ => None,
                    };
                    let entry = entries.entry((been, from, edge.back)).or_insert_with(|| after.clone());
                    entry.join(&after);
                }
                let key = (edge.to, been);
                let changed = match known.get_mut(&key) {
                    Some(earlier) => earlier.join(&after),
                    None => {
                        known.insert(key, after);
                        true
                    }
                };
                if changed {
                    open.push_back(key);
                }
            }
        }
        let ways = entries.into_iter().map(|((again, from, back), Known { heard, may_hear, ran })| WayIn {
            from,
            again,
            back,
            heard,
            may_hear,
            ran,
        });
        ways.collect()
    }

    /// The shortest path into `target` by this way after which `target` is given no result for which `supplies` is
    /// true. `None` if every path supplies one.
    pub fn path_without(
        &self,
        target: PhaseId,
        way: &WayIn,
        supplies: impl Fn(PhaseId, SignalId) -> bool,
    ) -> Option<Vec<(PhaseId, SignalId)>> {
        type State = (Place, bool, bool);
        let start: State = (Place::Start, false, false);
        let mut from: BTreeMap<State, Option<(State, Option<SignalId>)>> = BTreeMap::from([(start, None)]);
        let mut open = VecDeque::from([start]);
        while let Some(state @ (place, been, supplied)) = open.pop_front() {
            for edge in self.edges.get(&place).into_iter().flatten() {
                let (mut next_been, mut next_supplied) = (been, supplied);
                let passed = match (place, edge.signal) {
                    (Place::Phase(phase, _) | Place::Joined(phase, _), Some(signal)) => Some((phase, signal)),
                    _ => None,
                };
                if let Some((phase, signal)) = passed {
                    match hearing(self.program, target, been, phase, edge.onward) {
                        Hearing::Restart => (next_been, next_supplied) = (true, false),
                        Hearing::Repeat => next_been = true,
                        Hearing::Forget => next_supplied = false,
                        Hearing::Hear => next_supplied |= supplies(phase, signal),
                        // Other phases may still supply it.
                        Hearing::Skip => {}
                    }
                }
                let arrives = matches!(edge.to, Place::Phase(phase, _) if phase == target);
                if arrives && passed == way.from && next_been == way.again && !next_supplied {
                    let mut path: Vec<(PhaseId, SignalId)> = passed.into_iter().collect();
                    let mut here = state;
                    while let Some(Some((earlier, signal))) = from.get(&here) {
                        if let (Place::Phase(phase, _) | Place::Joined(phase, _), Some(signal)) =
                            (earlier.0, signal)
                        {
                            path.push((phase, *signal));
                        }
                        here = *earlier;
                    }
                    path.reverse();
                    return Some(path);
                }
                let next = (edge.to, next_been, next_supplied);
                if let btree_map::Entry::Vacant(entry) = from.entry(next) {
                    entry.insert(Some((state, edge.signal)));
                    open.push_back(next);
                }
            }
        }
        None
    }
}
