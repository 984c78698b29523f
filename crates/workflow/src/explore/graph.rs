//! The graph of all reachable nodes.

use super::machine::{Counting, Machine, MachineNode, StepTarget};
use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Confidence, Effect};
use rustc_hash::FxHashMap;

/// The maximum number of explored nodes.
const MOST: usize = 4_000_000;

/// The reachable part of a transition system.
pub struct Graph {
    pub phases: Vec<PhaseId>,
    /// Where the edges of each node start; one more entry than there are nodes.
    first: Vec<u32>,
    pub edges: Vec<Arc>,
    pub starts: Vec<u32>,
    packing: Packing,
    packed: Vec<u128>,
}

/// One edge of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    pub signal: SignalId,
    pub to: ArcTarget,
    pub effect: Option<Effect>,
    /// Whether the edge sends work back.
    pub back: bool,
}

/// Where an edge of the graph leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArcTarget {
    Node(u32),
    Done,
    Fail,
    Stop,
    Hold,
    Exit(SignalId),
}

/// There are too many nodes to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

impl Graph {
    /// Builds the graph that is reachable from the starts of a flow.
    pub fn build(machine: &Machine<'_>, owner: Option<PhaseId>) -> Result<Graph, TooMany> {
        let packing = Packing::new(machine).ok_or(TooMany)?;
        let mut known: FxHashMap<u128, u32> = FxHashMap::default();
        let mut graph = Graph {
            phases: Vec::new(),
            first: vec![0],
            edges: Vec::new(),
            starts: Vec::new(),
            packed: Vec::new(),
            packing,
        };
        for start in machine.starts(owner, Confidence::High) {
            let at = graph.intern(&mut known, &start);
            graph.starts.push(at);
        }
        let mut at = 0;
        while at < graph.packed.len() {
            if graph.packed.len() > MOST {
                return Err(TooMany);
            }
            let node = graph.packing.unpack(graph.packed[at]);
            for edge in machine.edges(&node) {
                let to = match &edge.target {
                    StepTarget::Node(next) => ArcTarget::Node(graph.intern(&mut known, next)),
                    StepTarget::Done => ArcTarget::Done,
                    StepTarget::Fail => ArcTarget::Fail,
                    StepTarget::Stop => ArcTarget::Stop,
                    StepTarget::Hold => ArcTarget::Hold,
                    StepTarget::Exit(signal) => ArcTarget::Exit(*signal),
                };
                let back = edge.route.action.is_back();
                graph.edges.push(Arc { signal: edge.signal, to, effect: edge.effect, back });
            }
            graph.first.push(u32::try_from(graph.edges.len()).unwrap_or(u32::MAX));
            at += 1;
        }
        Ok(graph)
    }

    fn intern(&mut self, known: &mut FxHashMap<u128, u32>, node: &MachineNode) -> u32 {
        let key = self.packing.pack(node);
        *known.entry(key).or_insert_with(|| {
            self.packed.push(key);
            self.phases.push(node.phase);
            u32::try_from(self.packed.len() - 1).unwrap_or(u32::MAX)
        })
    }

    pub fn len(&self) -> usize {
        self.packed.len()
    }

    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    pub fn edges_of(&self, at: u32) -> &[Arc] {
        let at = at as usize;
        &self.edges[self.first[at] as usize..self.first[at + 1] as usize]
    }

    pub fn node(&self, at: u32) -> MachineNode {
        self.packing.unpack(self.packed[at as usize])
    }

    /// The nodes in topological order; `None` if there is a cycle.
    pub fn order(&self) -> Option<Vec<u32>> {
        let mut waiting = vec![0_u32; self.len()];
        for arc in &self.edges {
            if let ArcTarget::Node(to) = arc.to {
                waiting[to as usize] += 1;
            }
        }
        let mut order: Vec<u32> = Vec::with_capacity(self.len());
        let mut ready: Vec<u32> =
            (0..self.len()).filter(|at| waiting[*at] == 0).filter_map(|at| u32::try_from(at).ok()).collect();
        while let Some(at) = ready.pop() {
            order.push(at);
            for arc in self.edges_of(at) {
                if let ArcTarget::Node(to) = arc.to {
                    waiting[to as usize] -= 1;
                    if waiting[to as usize] == 0 {
                        ready.push(to);
                    }
                }
            }
        }
        (order.len() == self.len()).then_some(order)
    }
}

/// Packs a node into a number, with one bit field per part.
struct Packing {
    phase_bits: u32,
    /// The width of each budget in bits; empty without counters.
    budgets: Vec<u32>,
}

impl Packing {
    fn new(machine: &Machine<'_>) -> Option<Packing> {
        let program = machine.program;
        // One value more than there are phases stands for "no caller".
        let phase_bits = bits(program.phases.len() + 1);
        let budgets: Vec<u32> = match machine.counting {
            Counting::Free => Vec::new(),
            Counting::Exact => machine.full().iter().map(|full| bits(usize::from(*full))).collect(),
        };
        let total = 2 * phase_bits + 2 + budgets.iter().sum::<u32>();
        (total <= u128::BITS).then_some(Packing { phase_bits, budgets })
    }

    fn pack(&self, node: &MachineNode) -> u128 {
        let mut packed = u128::from(node.phase.0);
        packed = packed << self.phase_bits | node.caller.map_or(0, |caller| u128::from(caller.0) + 1);
        packed = packed << 2 | node.confidence as u128;
        for (left, width) in node.left.iter().zip(&self.budgets) {
            packed = packed << width | u128::from(*left);
        }
        packed
    }

    fn unpack(&self, mut packed: u128) -> MachineNode {
        let mut take = |width: u32| {
            let value = packed & ((1 << width) - 1);
            packed >>= width;
            u16::try_from(value).unwrap_or(u16::MAX)
        };
        let mut left: Vec<u16> = self.budgets.iter().rev().map(|width| take(*width)).collect();
        left.reverse();
        let confidence = match take(2) {
            0 => Confidence::Low,
            1 => Confidence::Medium,
            _ => Confidence::High,
        };
        let caller = take(self.phase_bits).checked_sub(1).map(PhaseId);
        let phase = PhaseId(take(self.phase_bits));
        MachineNode { phase, caller, confidence, left }
    }
}

/// The number of bits for values from 0 to `most`.
fn bits(most: usize) -> u32 {
    (usize::BITS - most.leading_zeros()).max(1)
}
