//! A node of the transition system, and the parts of it that still matter at each phase.

use remand_kernel::ids::PhaseId;
use remand_kernel::program::Confidence;

/// A phase about to run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MachineNode {
    pub phase: PhaseId,
    pub caller: Option<PhaseId>,
    pub confidence: Confidence,
    /// What is left of each budget; empty without counters.
    pub left: Vec<u16>,
}

/// The parts of a node that still matter at each phase. A part is dead if it is set again before anything reads it. Nodes
/// that differ only in dead parts are merged.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Whether a budget matters, by phase and then by budget.
    pub(super) budgets: Vec<Vec<bool>>,
    pub(super) callers: Vec<bool>,
    pub(super) confidence: bool,
}

impl Liveness {
    /// The node with its dead parts set to fixed values.
    pub fn canonical(&self, mut node: MachineNode, full: &[u16]) -> MachineNode {
        let phase = node.phase.index();
        for (budget, left) in node.left.iter_mut().enumerate() {
            if !self.budgets[phase][budget] {
                *left = full[budget];
            }
        }
        if !self.callers[phase] {
            node.caller = None;
        }
        if !self.confidence {
            node.confidence = Confidence::High;
        }
        node
    }
}
