//! Guarantees: shown to hold on every path, or refuted by the shortest path that breaks them.
//!
//! A guarantee is watched by one bit along each path. First without counters: few nodes, and more paths than there
//! really are, so what holds there holds. Only a refutation is looked for again with counters.

use super::graph::{Arc, Graph, Head, TooMany};
use super::machine::{Counting, Machine, World};
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
    End(Ending),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Done,
    Fail,
    Stop,
}

/// What is claimed of every path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Whenever A happens, B has happened, and no C since.
    Unless { never: Vec<Atom>, unless: Vec<Atom>, since: Vec<Atom> },
    /// A does not happen once B has, until C does.
    After { never: Vec<Atom>, after: Vec<Atom>, unless: Vec<Atom> },
    /// Once A has happened, B happens before the run ends.
    Leads { from: Vec<Atom>, to: Vec<Atom> },
}

/// A path that breaks a guarantee: phases with the signals they ended with.
pub type Path = Vec<(PhaseId, Option<SignalId>)>;

/// Looks for a path that breaks a claim, in any of these worlds. The shortest is returned.
pub fn refute(program: &Program, worlds: &[World], claim: &Claim) -> Result<Option<Path>, TooMany> {
    let monitor = Monitor::new(claim);
    let mut shortest: Option<Path> = None;
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

/// The bit that watches a claim.
struct Monitor<'c> {
    set: &'c [Atom],
    clear: &'c [Atom],
    /// Whether `set` or `clear` has the last word within one phase.
    last: LastWord,
    /// What must not happen, and with which value of the bit; `None` watches the end of the run.
    forbidden: Option<(&'c [Atom], bool)>,
    /// How the bits of tasks add up.
    together: Together,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LastWord {
    Set,
    Clear,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Together {
    All,
    Any,
}

impl<'c> Monitor<'c> {
    fn new(claim: &'c Claim) -> Monitor<'c> {
        match claim {
            Claim::Unless { never, unless, since } => Monitor {
                set: unless,
                clear: since,
                last: LastWord::Set,
                forbidden: Some((never, false)),
                together: Together::All,
            },
            Claim::After { never, after, unless } => Monitor {
                set: after,
                clear: unless,
                last: LastWord::Set,
                forbidden: Some((never, true)),
                together: Together::Any,
            },
            Claim::Leads { from, to } => Monitor {
                set: from,
                clear: to,
                last: LastWord::Clear,
                forbidden: None,
                together: Together::Any,
            },
        }
    }

    /// Tells whether the phase must not run at all, however it ends.
    fn forbids(&self, phase: PhaseId) -> bool {
        self.forbidden.is_some_and(|(atoms, _)| atoms.contains(&Atom::Phase(phase)))
    }

    /// The bit after a phase, or `None` when the claim is broken.
    fn after(&self, program: &Program, bit: bool, visit: &Visit<'_>) -> Option<bool> {
        if let Some((atoms, bad)) = self.forbidden
            && bit == bad
            && atoms.iter().any(|atom| visit.shows(program, *atom))
        {
            return None;
        }
        let set = self.set.iter().any(|atom| visit.shows(program, *atom));
        let clear = self.clear.iter().any(|atom| visit.shows(program, *atom));
        let after = match (set, clear, self.last) {
            (true, true, LastWord::Set) | (true, false, _) => true,
            (true, true, LastWord::Clear) | (false, true, _) => false,
            (false, false, _) => bit,
        };
        let over = matches!(visit.arc.to, Head::Done | Head::Fail | Head::Stop);
        let owed = self.forbidden.is_none() && over && after;
        (!owed).then_some(after)
    }
}

/// One phase on a path with how it ended.
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
                Head::Done => end == Ending::Done,
                Head::Fail => end == Ending::Fail,
                Head::Stop => end == Ending::Stop,
                Head::Node(_) | Head::Hold | Head::Exit(_) => false,
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

/// What tasks can do to the bit, one beside the other.
#[derive(Default)]
struct TaskBits {
    /// After a task that began with the bit as it was before the batch.
    exits: BTreeMap<SignalId, BTreeSet<bool>>,
    /// After a task that began when another had turned the bit.
    turned: BTreeMap<SignalId, BTreeSet<bool>>,
    /// How a task that turned the bit can have ended.
    turning: BTreeSet<SignalId>,
    broken: Option<Path>,
}

impl TaskBits {
    /// The values that the bit can have after a task with this exit, in a batch with these exits.
    fn after(&self, exit: SignalId, batch: &[SignalId]) -> BTreeSet<bool> {
        let mut values = self.exits.get(&exit).cloned().unwrap_or_default();
        if batch.iter().any(|other| self.turning.contains(other)) {
            values.extend(self.turned.get(&exit).into_iter().flatten());
        }
        values
    }
}

impl<'a> Search<'a> {
    fn new(
        program: &'a Program,
        world: &World,
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

    /// The shortest path that breaks the claim.
    fn run(&self) -> Option<Path> {
        let mut walk = Walk::new(&self.graph);
        let mut tasks: BTreeMap<(PhaseId, bool), TaskBits> = BTreeMap::new();
        while let Some((at, bit)) = walk.next() {
            let phase = self.graph.phases[at as usize];
            if let Some(flow) = self.flows.get(&phase) {
                let bits = tasks.entry((phase, bit)).or_insert_with(|| self.task(flow, bit));
                if let Some(inner) = &bits.broken {
                    let mut path = walk.path(&self.graph, at, bit, None);
                    path.extend(inner.iter().copied());
                    return Some(path);
                }
                for arc in self.graph.edges_of(at) {
                    for together in self.batch(phase, arc.signal, bits, bit) {
                        if !self.follow(&mut walk, at, bit, together, arc) {
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

    /// Goes along an edge; `false` when that breaks the claim.
    fn follow(&self, walk: &mut Walk, at: u32, from: bool, bit: bool, arc: &Arc) -> bool {
        match self.monitor.after(self.program, bit, &visit(&self.graph, at, arc)) {
            None => false,
            Some(after) => {
                if let Head::Node(to) = arc.to {
                    walk.reach(to, after, (at, from, arc.signal));
                }
                true
            }
        }
    }

    /// Tasks beside each other: a task may begin when another has turned the bit.
    fn task(&self, graph: &Graph, bit: bool) -> TaskBits {
        let mut bits = TaskBits { turning: self.turning(graph, bit), ..TaskBits::default() };
        // A task whose result stands does nothing.
        bits.exits.entry(COMPLETED).or_default().insert(bit);
        bits.broken = self.task_from(graph, bit, &mut bits.exits);
        if bits.broken.is_none() && !bits.turning.is_empty() {
            bits.broken = self.task_from(graph, !bit, &mut bits.turned);
        }
        bits
    }

    /// One task from its start to each of its exits; a path on which the claim is broken, if there is one.
    fn task_from(
        &self,
        graph: &Graph,
        start: bool,
        exits: &mut BTreeMap<SignalId, BTreeSet<bool>>,
    ) -> Option<Path> {
        let mut walk = Walk::starting(graph, start);
        while let Some((at, bit)) = walk.next() {
            for arc in graph.edges_of(at) {
                let Some(after) = self.monitor.after(self.program, bit, &visit(graph, at, arc)) else {
                    return Some(walk.path(graph, at, bit, Some(arc.signal)));
                };
                match arc.to {
                    Head::Node(to) => walk.reach(to, after, (at, bit, arc.signal)),
                    Head::Exit(exit) => {
                        exits.entry(exit).or_default().insert(after);
                    }
                    Head::Done | Head::Fail | Head::Stop | Head::Hold => {}
                }
            }
        }
        None
    }

    /// The exits of tasks that turn the bit on their way.
    fn turning(&self, graph: &Graph, start: bool) -> BTreeSet<SignalId> {
        let mut exits = BTreeSet::new();
        let mut seen: BTreeSet<(u32, bool, bool)> = BTreeSet::new();
        let mut open: Vec<(u32, bool, bool)> = graph.starts.iter().map(|at| (*at, start, false)).collect();
        while let Some((at, bit, turned)) = open.pop() {
            if !seen.insert((at, bit, turned)) {
                continue;
            }
            for arc in graph.edges_of(at) {
                let Some(after) = self.monitor.after(self.program, bit, &visit(graph, at, arc)) else {
                    continue;
                };
                let turned = turned || after != start;
                match arc.to {
                    Head::Node(to) => open.push((to, after, turned)),
                    Head::Exit(exit) if turned => {
                        exits.insert(exit);
                    }
                    Head::Exit(_) | Head::Done | Head::Fail | Head::Stop | Head::Hold => {}
                }
            }
        }
        exits
    }

    /// The values that the bit can have after a batch that ends with this row.
    fn batch(&self, flow: PhaseId, row: SignalId, bits: &TaskBits, before: bool) -> BTreeSet<bool> {
        let Work::Flow { tally, .. } = &self.program.phase(flow).work else {
            return BTreeSet::from([before]);
        };
        let mut exits: Vec<SignalId> = bits.exits.keys().chain(bits.turned.keys()).copied().collect();
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
            let weak = self.monitor.together == Together::Any;
            let can: Vec<BTreeSet<bool>> = chosen.iter().map(|exit| bits.after(*exit, &chosen)).collect();
            // `weak` is the value that one task alone can force on all.
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

/// One phase of a graph with how it ended.
fn visit<'g>(graph: &Graph, at: u32, arc: &'g Arc) -> Visit<'g> {
    let target = match arc.to {
        Head::Node(to) => Some(graph.phases[to as usize]),
        Head::Done | Head::Fail | Head::Stop | Head::Hold | Head::Exit(_) => None,
    };
    Visit { phase: graph.phases[at as usize], arc, target }
}

/// The node, the bit and the signal that a node was reached from.
type Origin = (u32, bool, SignalId);

/// Breadth first, so that the first path found is a shortest one.
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

    fn path(&self, graph: &Graph, at: u32, bit: bool, signal: Option<SignalId>) -> Path {
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
