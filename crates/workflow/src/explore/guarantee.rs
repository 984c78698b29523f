//! Proves that a guarantee holds on every path, or finds the shortest path that violates it.
//!
//! One bit monitors a guarantee along each path. The search first ignores counters: that graph is small and contains
//! more paths than can occur, so a guarantee that holds in it holds in every run. If the search finds a violation, it
//! runs again with counters.

use super::graph::{Graph, GraphEdge, GraphTarget, TooManyNodes};
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

/// The claim that a guarantee makes about every path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Whenever A happens, B has happened before, and no C since then.
    Unless { never: Vec<Atom>, unless: Vec<Atom>, since: Vec<Atom> },
    /// After B has happened, A does not happen until C has.
    After { never: Vec<Atom>, after: Vec<Atom>, unless: Vec<Atom> },
    /// Once A has happened, B happens before the run ends.
    Leads { from: Vec<Atom>, to: Vec<Atom> },
}

/// A path that violates a guarantee: phases with the signals they ended with.
pub type Counterexample = Vec<(PhaseId, Option<SignalId>)>;

/// Finds the shortest path that violates a claim in any of these scenarios.
pub fn refute(
    program: &Program,
    scenarios: &[Scenario],
    claim: &Claim,
) -> Result<Option<Counterexample>, TooManyNodes> {
    let monitor = Monitor::new(claim);
    let mut shortest: Option<Counterexample> = None;
    for scenario in scenarios {
        let free = Search::new(program, scenario, Counting::Free, &monitor)?;
        if free.run().is_none() {
            continue;
        }
        if let Some(path) = Search::new(program, scenario, Counting::Exact, &monitor)?.run()
            && shortest.as_ref().is_none_or(|known| path.len() < known.len())
        {
            shortest = Some(path);
        }
    }
    Ok(shortest)
}

/// The bit that monitors a claim, and the rules by which it changes.
struct Monitor<'c> {
    set: &'c [Atom],
    clear: &'c [Atom],
    /// Whether `set` or `clear` wins if both happen in one phase.
    winner: Winner,
    /// The atoms that must not happen while the bit has this value. `None` for a claim about the end of the run.
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

    /// Whether the claim forbids the phase itself, with any signal.
    fn forbids(&self, phase: PhaseId) -> bool {
        self.forbidden.is_some_and(|(atoms, _)| atoms.contains(&Atom::Phase(phase)))
    }

    /// The bit after a phase, or `None` if the claim is violated.
    fn after(&self, program: &Program, bit: bool, visit: &Visit<'_>) -> Option<bool> {
        if let Some((atoms, bad)) = self.forbidden
            && bit == bad
            && atoms.iter().any(|atom| visit.matches(program, *atom))
        {
            return None;
        }
        let set = self.set.iter().any(|atom| visit.matches(program, *atom));
        let clear = self.clear.iter().any(|atom| visit.matches(program, *atom));
        let after = match (set, clear, self.winner) {
            (true, true, Winner::Set) | (true, false, _) => true,
            (true, true, Winner::Clear) | (false, true, _) => false,
            (false, false, _) => bit,
        };
        let is_over = matches!(visit.edge.to, GraphTarget::Done | GraphTarget::Fail | GraphTarget::Stop);
        let is_unfulfilled = self.forbidden.is_none() && is_over && after;
        (!is_unfulfilled).then_some(after)
    }
}

/// One phase on a path, and the edge that leaves it.
struct Visit<'g> {
    phase: PhaseId,
    edge: &'g GraphEdge,
    target: Option<PhaseId>,
}

impl Visit<'_> {
    fn matches(&self, program: &Program, atom: Atom) -> bool {
        match atom {
            Atom::Phase(phase) => phase == self.phase,
            Atom::PhaseSignal(phase, signal) => phase == self.phase && signal == self.edge.signal,
            Atom::Signal(signal) => signal == self.edge.signal,
            Atom::Change(artifact) => {
                let discarded = self.edge.back
                    && self.target.is_some_and(|target| program.phase(target).discards.contains(&artifact));
                discarded || program.phase(self.phase).writes.contains(&artifact)
            }
            Atom::Effect(effect) => self.edge.effect == Some(effect),
            Atom::End(end) => match self.edge.to {
                GraphTarget::Done => end == EndKind::Done,
                GraphTarget::Fail => end == EndKind::Fail,
                GraphTarget::Stop => end == EndKind::Stop,
                GraphTarget::Node(_) | GraphTarget::Hold | GraphTarget::Exit(_) => false,
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
    /// By exit: the possible values of the bit after a task, if no other task had flipped the bit when it started.
    exits: BTreeMap<SignalId, BTreeSet<bool>>,
    /// By exit: the possible values of the bit after a task, if another task had flipped the bit when it started.
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
        scenario: &Scenario,
        counting: Counting,
        monitor: &'a Monitor<'a>,
    ) -> Result<Search<'a>, TooManyNodes> {
        let machine = Machine::new(program, scenario.clone(), counting);
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
        let mut paths = BreadthFirst::new(&self.graph);
        let mut tasks: BTreeMap<(PhaseId, bool), TaskBits> = BTreeMap::new();
        while let Some((node, bit)) = paths.next() {
            let phase = self.graph.phases[node as usize];
            if let Some(flow) = self.flows.get(&phase) {
                let bits = tasks.entry((phase, bit)).or_insert_with(|| self.task(flow, bit));
                if let Some(inner) = &bits.violation {
                    let mut path = paths.path(&self.graph, node, bit, None);
                    path.extend(inner.iter().copied());
                    return Some(path);
                }
                for edge in self.graph.edges_of(node) {
                    for combined in self.batch(phase, edge.signal, bits, bit) {
                        if !self.follow(&mut paths, node, bit, combined, edge) {
                            return Some(paths.path(&self.graph, node, bit, Some(edge.signal)));
                        }
                    }
                }
                continue;
            }
            for edge in self.graph.edges_of(node) {
                if !self.follow(&mut paths, node, bit, bit, edge) {
                    let shown = (!self.monitor.forbids(phase)).then_some(edge.signal);
                    return Some(paths.path(&self.graph, node, bit, shown));
                }
            }
        }
        None
    }

    /// Follows an edge. Returns `false` if that violates the claim.
    fn follow(&self, paths: &mut BreadthFirst, node: u32, from: bool, bit: bool, edge: &GraphEdge) -> bool {
        match self.monitor.after(self.program, bit, &visit(&self.graph, node, edge)) {
            None => false,
            Some(after) => {
                if let GraphTarget::Node(to) = edge.to {
                    paths.reach(to, after, (node, from, edge.signal));
                }
                true
            }
        }
    }

    /// Explores a task that runs in parallel with others. Another task may have flipped the bit before this one starts.
    fn task(&self, graph: &Graph, bit: bool) -> TaskBits {
        let mut bits = TaskBits { flipping: self.flipping_exits(graph, bit), ..TaskBits::default() };
        // A task with a result that is still valid changes nothing.
        bits.exits.entry(COMPLETED).or_default().insert(bit);
        bits.violation = self.task_from(graph, bit, &mut bits.exits);
        if bits.violation.is_none() && !bits.flipping.is_empty() {
            bits.violation = self.task_from(graph, !bit, &mut bits.flipped);
        }
        bits
    }

    /// Explores one task from its start to each of its exits. Returns a path that violates the claim, if there is one.
    fn task_from(
        &self,
        graph: &Graph,
        start: bool,
        exits: &mut BTreeMap<SignalId, BTreeSet<bool>>,
    ) -> Option<Counterexample> {
        let mut paths = BreadthFirst::starting(graph, start);
        while let Some((node, bit)) = paths.next() {
            for edge in graph.edges_of(node) {
                let Some(after) = self.monitor.after(self.program, bit, &visit(graph, node, edge)) else {
                    return Some(paths.path(graph, node, bit, Some(edge.signal)));
                };
                match edge.to {
                    GraphTarget::Node(to) => paths.reach(to, after, (node, bit, edge.signal)),
                    GraphTarget::Exit(exit) => {
                        exits.entry(exit).or_default().insert(after);
                    }
                    GraphTarget::Done | GraphTarget::Fail | GraphTarget::Stop | GraphTarget::Hold => {}
                }
            }
        }
        None
    }

    /// The exits of tasks that flip the bit at some point.
    fn flipping_exits(&self, graph: &Graph, start: bool) -> BTreeSet<SignalId> {
        let mut exits = BTreeSet::new();
        let mut seen: BTreeSet<(u32, bool, bool)> = BTreeSet::new();
        let mut open: Vec<(u32, bool, bool)> =
            graph.starts.iter().map(|node| (*node, start, false)).collect();
        while let Some((node, bit, flipped)) = open.pop() {
            if !seen.insert((node, bit, flipped)) {
                continue;
            }
            for edge in graph.edges_of(node) {
                let Some(after) = self.monitor.after(self.program, bit, &visit(graph, node, edge)) else {
                    continue;
                };
                let flipped = flipped || after != start;
                match edge.to {
                    GraphTarget::Node(to) => open.push((to, after, flipped)),
                    GraphTarget::Exit(exit) if flipped => {
                        exits.insert(exit);
                    }
                    GraphTarget::Exit(_)
                    | GraphTarget::Done
                    | GraphTarget::Fail
                    | GraphTarget::Stop
                    | GraphTarget::Hold => {}
                }
            }
        }
        exits
    }

    /// The possible values of the bit after a batch whose tally gives this signal.
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
                .filter(|(index, _)| set & (1 << index) != 0)
                .map(|(_, exit)| *exit)
                .collect();
            if row_of(tally, &chosen) != row {
                continue;
            }
            let dominant = self.monitor.combination == Combination::Any;
            let possible: Vec<BTreeSet<bool>> =
                chosen.iter().map(|exit| bits.after(*exit, &chosen)).collect();
            // One task is enough for the dominant value; the other value needs all tasks.
            if possible.iter().any(|values| values.contains(&dominant)) {
                values.insert(dominant);
            }
            if possible.iter().all(|values| values.contains(&!dominant)) {
                values.insert(!dominant);
            }
        }
        values
    }
}

/// The visit to a node that is left through this edge.
fn visit<'g>(graph: &Graph, node: u32, edge: &'g GraphEdge) -> Visit<'g> {
    let target = match edge.to {
        GraphTarget::Node(to) => Some(graph.phases[to as usize]),
        GraphTarget::Done
        | GraphTarget::Fail
        | GraphTarget::Stop
        | GraphTarget::Hold
        | GraphTarget::Exit(_) => None,
    };
    Visit { phase: graph.phases[node as usize], edge, target }
}

/// The node, the bit and the signal from which a node was reached.
type Origin = (u32, bool, SignalId);

/// A breadth-first search, so that the first path found is a shortest one.
struct BreadthFirst {
    queue: VecDeque<(u32, bool)>,
    /// The origin of each node with each value of the bit; `None` for a start.
    from: BTreeMap<(u32, bool), Option<Origin>>,
}

impl BreadthFirst {
    fn new(graph: &Graph) -> BreadthFirst {
        BreadthFirst::starting(graph, false)
    }

    fn starting(graph: &Graph, bit: bool) -> BreadthFirst {
        let mut paths = BreadthFirst { queue: VecDeque::new(), from: BTreeMap::new() };
        for start in &graph.starts {
            paths.from.insert((*start, bit), None);
            paths.queue.push_back((*start, bit));
        }
        paths
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

    fn path(&self, graph: &Graph, node: u32, bit: bool, signal: Option<SignalId>) -> Counterexample {
        let mut path = vec![(graph.phases[node as usize], signal)];
        let mut here = (node, bit);
        while let Some(Some((from, bit, signal))) = self.from.get(&here) {
            path.push((graph.phases[*from as usize], Some(*signal)));
            here = (*from, *bit);
        }
        path.reverse();
        path
    }
}
