//! Places asides next to the phases that lead to them.

use crate::edges::{EdgeTarget, RouteEdge};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Program;
use std::collections::BTreeMap;

/// The asides in the order of the phases that lead to them.
pub fn order_asides(program: &Program, edges: &[RouteEdge], asides: &[PhaseId]) -> Vec<PhaseId> {
    let positions = vertical_positions(program, edges);
    let mut order = asides.to_vec();
    order.sort_by_key(|id| (positions.get(id).copied().unwrap_or(i32::MAX), *id));
    order
}

/// The vertical position of each phase, in thousandths of a phase. An aside is between the phases that lead to it.
pub fn vertical_positions(program: &Program, edges: &[RouteEdge]) -> BTreeMap<PhaseId, i32> {
    let mut positions: BTreeMap<PhaseId, i32> = BTreeMap::new();
    for (at, id) in program.flow(None).filter(|id| !program.phase(*id).aside).enumerate() {
        positions.insert(id, i32::try_from(at).unwrap_or(0) * 1000);
    }
    // An aside that only asides lead to comes after them, so each pass positions the next aside in a chain.
    for _ in 0..program.phases.len() {
        for id in program.flow(None).filter(|id| program.phase(*id).aside) {
            let from = |edge: &&RouteEdge| edge.to == EdgeTarget::Phase(id) && edge.from != id;
            let mut sources: Vec<PhaseId> = edges.iter().filter(from).map(|edge| edge.from).collect();
            sources.dedup();
            let has_main_source = sources.iter().any(|source| !program.phase(*source).aside);
            let found: Vec<i32> = sources
                .iter()
                .filter(|source| !has_main_source || !program.phase(**source).aside)
                .filter_map(|source| positions.get(source).copied())
                .collect();
            if !found.is_empty() && (has_main_source || !positions.contains_key(&id)) {
                let count = i32::try_from(found.len()).unwrap_or(1);
                positions.insert(id, found.iter().sum::<i32>() / count + i32::from(!has_main_source));
            }
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::edges;
    use crate::sample::{self, DECIDE, TASKS};

    #[test]
    fn an_aside_is_next_to_the_phase_that_leads_to_it() {
        let program = sample::program();
        let positions = vertical_positions(&program, &edges(&program));
        assert_eq!(positions[&DECIDE], positions[&TASKS]);
    }

    #[test]
    fn an_aside_that_nothing_leads_to_comes_last() {
        let program = sample::program();
        let order = order_asides(&program, &[], &[DECIDE]);
        assert_eq!(order, [DECIDE]);
    }
}
