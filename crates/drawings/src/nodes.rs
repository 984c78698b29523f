//! The nodes of graph formats: ids that no format reserves, and the nodes that are not phases.

use crate::edges::{EdgeTarget, RouteEdge, RunEnd};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Program;
use std::collections::BTreeMap;

/// The ids and labels of the nodes that are not phases.
pub fn other_nodes(edges: &[RouteEdge]) -> BTreeMap<String, String> {
    edges
        .iter()
        .filter_map(|edge| match &edge.to {
            EdgeTarget::End(end) => Some((end_id(end), end.name())),
            EdgeTarget::Caller => Some(("caller".to_string(), "return".to_string())),
            EdgeTarget::Phase(_) | EdgeTarget::Injector => None,
        })
        .collect()
}

/// The id of a phase's node.
pub fn phase_id(id: PhaseId) -> String {
    format!("p{}", id.0)
}

/// The id of the node that an edge leads to. Work enters a sub-flow at its first phase and leaves it at its owner.
pub fn target_id(program: &Program, edge: &RouteEdge) -> String {
    match &edge.to {
        EdgeTarget::Phase(id) if program.phase(edge.from).owner == Some(*id) => phase_id(*id),
        EdgeTarget::Phase(id) => phase_id(program.flow(Some(*id)).next().unwrap_or(*id)),
        EdgeTarget::Injector => "injector".to_string(),
        EdgeTarget::Caller => "caller".to_string(),
        EdgeTarget::End(end) => end_id(end),
    }
}

/// The phases that the pseudo-node `injector` leads to; empty if no edge leads to that node.
pub fn injector_targets<'p>(program: &'p Program, edges: &[RouteEdge]) -> &'p [PhaseId] {
    if edges.iter().any(|edge| edge.to == EdgeTarget::Injector) { &program.injects } else { &[] }
}

fn end_id(end: &RunEnd) -> String {
    // `end` is a keyword of Mermaid.
    let name: String = end.name().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("x_{name}")
}
