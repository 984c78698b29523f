//! The graph of all reachable nodes.

use super::machine::{Counting, Machine, MachineNode, StepTarget};
use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Confidence, Effect};
use rustc_hash::FxHashMap;

/// The maximum number of explored nodes.
const MAX_NODES: usize = 4_000_000;

/// The reachable part of a transition system.
pub struct Graph {
    pub phases: Vec<PhaseId>,
    /// The index of the first edge of each node, and then the number of all edges.
    first: Vec<u32>,
    pub edges: Vec<GraphEdge>,
    pub starts: Vec<u32>,
    packing: Packing,
    packed: Vec<u128>,
}

/// One edge of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphEdge {
    pub signal: SignalId,
    pub to: GraphTarget,
    pub effect: Option<Effect>,
    /// Whether the edge sends work back.
    pub back: bool,
}

/// Where an edge of the graph leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphTarget {
    Node(u32),
    Done,
    Fail,
    Stop,
    Hold,
    Exit(SignalId),
}

/// There are too many nodes to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyNodes;

impl Graph {
    /// Builds the graph that is reachable from the starts of a flow.
    pub fn build(machine: &Machine<'_>, owner: Option<PhaseId>) -> Result<Graph, TooManyNodes> {
        let packing = Packing::new(machine).ok_or(TooManyNodes)?;
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
            let start = graph.intern(&mut known, &start);
            graph.starts.push(start);
        }
        let mut index = 0;
        while index < graph.packed.len() {
            if graph.packed.len() > MAX_NODES {
                return Err(TooManyNodes);
            }
            let node = graph.packing.unpack(graph.packed[index]);
            for edge in machine.edges(&node) {
                let to = match &edge.target {
                    StepTarget::Node(next) => GraphTarget::Node(graph.intern(&mut known, next)),
                    StepTarget::Done => GraphTarget::Done,
                    StepTarget::Fail => GraphTarget::Fail,
                    StepTarget::Stop => GraphTarget::Stop,
                    StepTarget::Hold => GraphTarget::Hold,
                    StepTarget::Exit(signal) => GraphTarget::Exit(*signal),
                };
                let back = edge.route.action.is_back();
                graph.edges.push(GraphEdge { signal: edge.signal, to, effect: edge.effect, back });
            }
            graph.first.push(u32::try_from(graph.edges.len()).unwrap_or(u32::MAX));
            index += 1;
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

    pub fn edges_of(&self, node: u32) -> &[GraphEdge] {
        let node = node as usize;
        &self.edges[self.first[node] as usize..self.first[node + 1] as usize]
    }

    pub fn node(&self, index: u32) -> MachineNode {
        self.packing.unpack(self.packed[index as usize])
    }

    /// The nodes in topological order; `None` if there is a cycle.
    pub fn order(&self) -> Option<Vec<u32>> {
        let mut waiting = vec![0_u32; self.len()];
        for edge in &self.edges {
            if let GraphTarget::Node(to) = edge.to {
                waiting[to as usize] += 1;
            }
        }
        let mut order: Vec<u32> = Vec::with_capacity(self.len());
        let mut ready: Vec<u32> = (0..self.len())
            .filter(|node| waiting[*node] == 0)
            .filter_map(|node| u32::try_from(node).ok())
            .collect();
        while let Some(node) = ready.pop() {
            order.push(node);
            for edge in self.edges_of(node) {
                if let GraphTarget::Node(to) = edge.to {
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
    /// The number of bits for each budget; empty without counters.
    budgets: Vec<u32>,
}

impl Packing {
    fn new(machine: &Machine<'_>) -> Option<Packing> {
        let program = machine.program;
        // The caller needs one more value, for "no caller".
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

/// The number of bits for values from 0 to `max`.
fn bits(max: usize) -> u32 {
    (usize::BITS - max.leading_zeros()).max(1)
}
