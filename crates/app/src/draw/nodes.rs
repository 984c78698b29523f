//! The nodes of graph formats: ids that no format reserves, and what stands beside the phases.

use super::edges::{Edge, End, Target};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Program;
use std::collections::BTreeMap;

/// Nodes that are no phases, by id, with their text.
pub fn others(edges: &[Edge]) -> BTreeMap<String, String> {
    edges
        .iter()
        .filter_map(|edge| match &edge.to {
            Target::End(end) => Some((end_id(end), end.name())),
            Target::Caller => Some(("caller".to_string(), "return".to_string())),
            Target::Phase(_) | Target::Injector => None,
        })
        .collect()
}

/// The node of a phase.
pub fn phase_id(id: PhaseId) -> String {
    format!("p{}", id.0)
}

/// The node that an edge leads to. Work enters a sub-flow at its first phase and leaves it at its owner.
pub fn target_id(program: &Program, edge: &Edge) -> String {
    match &edge.to {
        Target::Phase(id) if program.phase(edge.from).owner == Some(*id) => phase_id(*id),
        Target::Phase(id) => phase_id(program.flow(Some(*id)).next().unwrap_or(*id)),
        Target::Injector => "injector".to_string(),
        Target::Caller => "caller".to_string(),
        Target::End(end) => end_id(end),
    }
}

/// The phases that the pseudo-node `injector` leads to; none when no edge leads there.
pub fn injects<'p>(program: &'p Program, edges: &[Edge]) -> &'p [PhaseId] {
    if edges.iter().any(|edge| edge.to == Target::Injector) { &program.injects } else { &[] }
}

fn end_id(end: &End) -> String {
    // `end` alone is a word of Mermaid's.
    let name: String = end.name().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("x_{name}")
}
