//! Proves that a guarantee holds on every path, or finds the shortest path that violates it.
//!
//! One bit monitors a guarantee along each path. The search first runs without counters: there are few nodes, and more
//! paths than can really occur, so a guarantee that holds there holds. Only a violation is searched again with counters.

use super::graph::{Arc, ArcTarget, Graph, TooMany};
use super::machine::{Counting, Machine, Scenario};
use super::tasks::{row_of, subsets};
use remand_kernel::ids::{ArtifactId, PhaseId, SignalId};
use remand_kernel::program::{Effect, Program, Work};
use remand_kernel::signal::COMPLETED;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Something that happens on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atom {
    Phase(PhaseId),
    PhaseSignal(PhaseId, SignalId),
    Signal(SignalId),
    Change(ArtifactId),
    Effect(Effect),
    End(EndKind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndKind {
    Done,
    Fail,
    Stop,
}

/// What a guarantee claims about every path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Whenever A happens, B has happened before, and no C since then.
    Unless { never: Vec<Atom>, unless: Vec<Atom>, since: Vec<Atom> },
    /// A does not happen once B has, until C does.
    After { never: Vec<Atom>, after: Vec<Atom>, unless: Vec<Atom> },
    /// Once A has happened, B happens before the run ends.
    Leads { from: Vec<Atom>, to: Vec<Atom> },
}

/// A path that violates a guarantee: phases with the signals they ended with.
pub type Counterexample = Vec<(PhaseId, Option<SignalId>)>;

/// Finds the shortest path that violates a claim in any of these worlds.
pub fn refute(
    program: &Program,
    worlds: &[Scenario],
    claim: &Claim,
) -> Result<Option<Counterexample>, TooMany> {
    let monitor = Monitor::new(claim);
    let mut shortest: Option<Counterexample> = None;
    for world in worlds {
        let free = Search::new(program, world, Counting::Free, &monitor)?;
        if free.run().is_none() {
            continue;
        }
        if let Some(path) = Search::new(program, world, Counting::Exact, &monitor)?.run()
            && shortest.as_ref().is_none_or(|known| path.len() < known.len())
        {
            shortest = Some(path);
        }
    }
    Ok(shortest)
}

/// The bit that monitors a claim, and when it changes.
struct Monitor<'c> {
    set: &'c [Atom],
    clear: &'c [Atom],
    /// Whether `set` or `clear` wins if both happen in one phase.
    winner: Winner,
    /// What must not happen, and at which value of the bit; `None` checks the bit at the end of the run.
    forbidden: Option<(&'c [Atom], bool)>,
    /// How the bits of tasks are combined.
    combination: Combination,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Winner {
    Set,
    Clear,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Combination {
    All,
    Any,
}

impl<'c> Monitor<'c> {
    fn new(claim: &'c Claim) -> Monitor<'c> {
        match claim {
            Claim::Unless { never, unless, since } => Monitor {
                set: unless,
                clear: since,
                winner: Winner::Set,
                forbidden: Some((never, false)),
                combination: Combination::All,
            },
            Claim::After { never, after, unless } => Monitor {
                set: after,
                clear: unless,
                winner: Winner::Set,
                forbidden: Some((never, true)),
                combination: Combination::Any,
            },
            Claim::Leads { from, to } => Monitor {
                set: from,
                clear: to,
                winner: Winner::Clear,
                forbidden: None,
                combination: Combination::Any,
            },
        }
    }

    /// Whether the phase must not run at all, whatever its signal.
    fn forbids(&self, phase: PhaseId) -> bool {
        self.forbidden.is_some_and(|(atoms, _)| atoms.contains(&Atom::Phase(phase)))
    }

    /// The bit after a phase, or `None` if the claim is violated.
    fn after(&self, program: &Program, bit: bool, visit: &Visit<'_>) -> Option<bool> {
        if let Some((atoms, bad)) = self.forbidden
            && bit == bad
            && atoms.iter().any(|atom| visit.shows(program, *atom))
        {
            return None;
        }
        let set = self.set.iter().any(|atom| visit.shows(program, *atom));
        let clear = self.clear.iter().any(|atom| visit.shows(program, *atom));
        let after = match (set, clear, self.winner) {
            (true, true, Winner::Set) | (true, false, _) => true,
            (true, true, Winner::Clear) | (false, true, _) => false,
            (false, false, _) => bit,
        };
        let over = matches!(visit.arc.to, ArcTarget::Done | ArcTarget::Fail | ArcTarget::Stop);
        let is_unfulfilled = self.forbidden.is_none() && over && after;
        (!is_unfulfilled).then_some(after)
    }
}

/// One phase on a path, with the edge it left by.
struct Visit<'g> {
    phase: PhaseId,
    arc: &'g Arc,
    target: Option<PhaseId>,
}

impl Visit<'_> {
    fn shows(&self, program: &Program, atom: Atom) -> bool {
        match atom {
            Atom::Phase(phase) => phase == self.phase,
            Atom::PhaseSignal(phase, signal) => phase == self.phase && signal == self.arc.signal,
            Atom::Signal(signal) => signal == self.arc.signal,
            Atom::Change(artifact) => {
                let discarded = self.arc.back
                    && self.target.is_some_and(|target| program.phase(target).discards.contains(&artifact));
                discarded || program.phase(self.phase).writes.contains(&artifact)
            }
            Atom::Effect(effect) => self.arc.effect == Some(effect),
            Atom::End(end) => match self.arc.to {
                ArcTarget::Done => end == EndKind::Done,
                ArcTarget::Fail => end == EndKind::Fail,
                ArcTarget::Stop => end == EndKind::Stop,
                ArcTarget::Node(_) | ArcTarget::Hold | ArcTarget::Exit(_) => false,
            },
        }
    }
}

struct Search<'a> {
    program: &'a Program,
    monitor: &'a Monitor<'a>,
    graph: Graph,
    flows: BTreeMap<PhaseId, Graph>,
}

/// How tasks that run in parallel can change the bit.
#[derive(Default)]
struct TaskBits {
    /// The bit after a task that started with the value from before the batch.
    exits: BTreeMap<SignalId, BTreeSet<bool>>,
    /// The bit after a task that started when another task had flipped it.
    flipped: BTreeMap<SignalId, BTreeSet<bool>>,
    /// The exits of tasks that flip the bit.
    flipping: BTreeSet<SignalId>,
    violation: Option<Counterexample>,
}

impl TaskBits {
    /// The possible values of the bit after a task with this exit, in a batch with these exits.
    fn after(&self, exit: SignalId, batch: &[SignalId]) -> BTreeSet<bool> {
        let mut values = self.exits.get(&exit).cloned().unwrap_or_default();
        if batch.iter().any(|other| self.flipping.contains(other)) {
            values.extend(self.flipped.get(&exit).into_iter().flatten());
        }
        values
    }
}

impl<'a> Search<'a> {
    fn new(
        program: &'a Program,
        world: &Scenario,
        counting: Counting,
        monitor: &'a Monitor<'a>,
    ) -> Result<Search<'a>, TooMany> {
        let machine = Machine::new(program, world.clone(), counting);
        let graph = Graph::build(&machine, None)?;
        let mut flows = BTreeMap::new();
        for id in program.phase_ids() {
            if matches!(program.phase(id).work, Work::Flow { .. }) {
                flows.insert(id, Graph::build(&machine, Some(id))?);
            }
        }
        Ok(Search { program, monitor, graph, flows })
    }

    /// The shortest path that violates the claim.
    fn run(&self) -> Option<Counterexample> {
        let mut walk = Walk::new(&self.graph);
        let mut tasks: BTreeMap<(PhaseId, bool), TaskBits> = BTreeMap::new();
        while let Some((at, bit)) = walk.next() {
            let phase = self.graph.phases[at as usize];
            if let Some(flow) = self.flows.get(&phase) {
                let bits = tasks.entry((phase, bit)).or_insert_with(|| self.task(flow, bit));
                if let Some(inner) = &bits.violation {
                    let mut path = walk.path(&self.graph, at, bit, None);
                    path.extend(inner.iter().copied());
                    return Some(path);
                }
                for arc in self.graph.edges_of(at) {
                    for combined in self.batch(phase, arc.signal, bits, bit) {
                        if !self.follow(&mut walk, at, bit, combined, arc) {
                            return Some(walk.path(&self.graph, at, bit, Some(arc.signal)));
                        }
                    }
                }
                continue;
            }
            for arc in self.graph.edges_of(at) {
                if !self.follow(&mut walk, at, bit, bit, arc) {
                    let shown = (!self.monitor.forbids(phase)).then_some(arc.signal);
                    return Some(walk.path(&self.graph, at, bit, shown));
                }
            }
        }
        None
    }

    /// Follows an edge; `false` if that violates the claim.
    fn follow(&self, walk: &mut Walk, at: u32, from: bool, bit: bool, arc: &Arc) -> bool {
        match self.monitor.after(self.program, bit, &visit(&self.graph, at, arc)) {
            None => false,
            Some(after) => {
                if let ArcTarget::Node(to) = arc.to {
                    walk.reach(to, after, (at, from, arc.signal));
                }
                true
            }
        }
    }

    /// Explores a task that runs in parallel with others, one of which may have flipped the bit before.
    fn task(&self, graph: &Graph, bit: bool) -> TaskBits {
        let mut bits = TaskBits { flipping: self.flipping_exits(graph, bit), ..TaskBits::default() };
        // A task whose result is still valid changes nothing.
        bits.exits.entry(COMPLETED).or_default().insert(bit);
        bits.violation = self.task_from(graph, bit, &mut bits.exits);
        if bits.violation.is_none() && !bits.flipping.is_empty() {
            bits.violation = self.task_from(graph, !bit, &mut bits.flipped);
        }
        bits
    }

    /// Explores one task from its start to each of its exits; returns a path that violates the claim, if there is one.
    fn task_from(
        &self,
        graph: &Graph,
        start: bool,
        exits: &mut BTreeMap<SignalId, BTreeSet<bool>>,
    ) -> Option<Counterexample> {
        let mut walk = Walk::starting(graph, start);
        while let Some((at, bit)) = walk.next() {
            for arc in graph.edges_of(at) {
                let Some(after) = self.monitor.after(self.program, bit, &visit(graph, at, arc)) else {
                    return Some(walk.path(graph, at, bit, Some(arc.signal)));
                };
                match arc.to {
                    ArcTarget::Node(to) => walk.reach(to, after, (at, bit, arc.signal)),
                    ArcTarget::Exit(exit) => {
                        exits.entry(exit).or_default().insert(after);
                    }
                    ArcTarget::Done | ArcTarget::Fail | ArcTarget::Stop | ArcTarget::Hold => {}
                }
            }
        }
        None
    }

    /// The exits of tasks that flip the bit on their way.
    fn flipping_exits(&self, graph: &Graph, start: bool) -> BTreeSet<SignalId> {
        let mut exits = BTreeSet::new();
        let mut seen: BTreeSet<(u32, bool, bool)> = BTreeSet::new();
        let mut open: Vec<(u32, bool, bool)> = graph.starts.iter().map(|at| (*at, start, false)).collect();
        while let Some((at, bit, flipped)) = open.pop() {
            if !seen.insert((at, bit, flipped)) {
                continue;
            }
            for arc in graph.edges_of(at) {
                let Some(after) = self.monitor.after(self.program, bit, &visit(graph, at, arc)) else {
                    continue;
                };
                let flipped = flipped || after != start;
                match arc.to {
                    ArcTarget::Node(to) => open.push((to, after, flipped)),
                    ArcTarget::Exit(exit) if flipped => {
                        exits.insert(exit);
                    }
                    ArcTarget::Exit(_)
                    | ArcTarget::Done
                    | ArcTarget::Fail
                    | ArcTarget::Stop
                    | ArcTarget::Hold => {}
                }
            }
        }
        exits
    }

    /// The possible values of the bit after a batch that ends with this row.
    fn batch(&self, flow: PhaseId, row: SignalId, bits: &TaskBits, before: bool) -> BTreeSet<bool> {
        let Work::Flow { tally, .. } = &self.program.phase(flow).work else {
            return BTreeSet::from([before]);
        };
        let mut exits: Vec<SignalId> = bits.exits.keys().chain(bits.flipped.keys()).copied().collect();
        exits.sort_unstable();
        exits.dedup();
        let mut values = BTreeSet::new();
        if row_of(tally, &[]) == row {
            values.insert(before);
        }
        for set in subsets(exits.len()) {
            let chosen: Vec<SignalId> = exits
                .iter()
                .enumerate()
                .filter(|(at, _)| set & (1 << at) != 0)
                .map(|(_, exit)| *exit)
                .collect();
            if row_of(tally, &chosen) != row {
                continue;
            }
            let weak = self.monitor.combination == Combination::Any;
            let can: Vec<BTreeSet<bool>> = chosen.iter().map(|exit| bits.after(*exit, &chosen)).collect();
            // `weak` is the value that a single task can force on the batch.
            if can.iter().any(|values| values.contains(&weak)) {
                values.insert(weak);
            }
            if can.iter().all(|values| values.contains(&!weak)) {
                values.insert(!weak);
            }
        }
        values
    }
}

/// One phase of a graph, with the edge it left by.
fn visit<'g>(graph: &Graph, at: u32, arc: &'g Arc) -> Visit<'g> {
    let target = match arc.to {
        ArcTarget::Node(to) => Some(graph.phases[to as usize]),
        ArcTarget::Done | ArcTarget::Fail | ArcTarget::Stop | ArcTarget::Hold | ArcTarget::Exit(_) => None,
    };
    Visit { phase: graph.phases[at as usize], arc, target }
}

/// The node, the bit and the signal from which a node was reached.
type Origin = (u32, bool, SignalId);

/// A breadth-first search, so that the first path found is a shortest one.
struct Walk {
    queue: VecDeque<(u32, bool)>,
    /// Where each node with each value of the bit was reached from.
    from: BTreeMap<(u32, bool), Option<Origin>>,
}

impl Walk {
    fn new(graph: &Graph) -> Walk {
        Walk::starting(graph, false)
    }

    fn starting(graph: &Graph, bit: bool) -> Walk {
        let mut walk = Walk { queue: VecDeque::new(), from: BTreeMap::new() };
        for start in &graph.starts {
            walk.from.insert((*start, bit), None);
            walk.queue.push_back((*start, bit));
        }
        walk
    }

    fn next(&mut self) -> Option<(u32, bool)> {
        self.queue.pop_front()
    }

    fn reach(&mut self, to: u32, bit: bool, from: Origin) {
        if let std::collections::btree_map::Entry::Vacant(entry) = self.from.entry((to, bit)) {
            entry.insert(Some(from));
            self.queue.push_back((to, bit));
        }
    }

    fn path(&self, graph: &Graph, at: u32, bit: bool, signal: Option<SignalId>) -> Counterexample {
        let mut path = vec![(graph.phases[at as usize], signal)];
        let mut here = (at, bit);
        while let Some(Some((from, bit, signal))) = self.from.get(&here) {
            path.push((graph.phases[*from as usize], Some(*signal)));
            here = (*from, *bit);
        }
        path.reverse();
        path
    }
}
