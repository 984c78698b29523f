//! Places asides next to the phases that lead to them.

use crate::edges::{EdgeTarget, RouteEdge};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Program;
use std::collections::BTreeMap;

/// The asides in the order of the phases that lead to them.
pub fn by_leaders(program: &Program, edges: &[RouteEdge], asides: &[PhaseId]) -> Vec<PhaseId> {
    let places = leaders(program, edges);
    let mut order = asides.to_vec();
    order.sort_by_key(|id| (places.get(id).copied().unwrap_or(i32::MAX), *id));
    order
}

/// How far down each phase belongs, in thousandths of a phase: an aside is between those that lead to it.
pub fn leaders(program: &Program, edges: &[RouteEdge]) -> BTreeMap<PhaseId, i32> {
    let mut places: BTreeMap<PhaseId, i32> = BTreeMap::new();
    for (at, id) in program.flow(None).filter(|id| !program.phase(*id).aside).enumerate() {
        places.insert(id, i32::try_from(at).unwrap_or(0) * 1000);
    }
    // Asides reached only from asides follow these: each pass places one more step of such a chain.
    for _ in 0..program.phases.len() {
        for id in program.flow(None).filter(|id| program.phase(*id).aside) {
            let from = |edge: &&RouteEdge| edge.to == EdgeTarget::Phase(id) && edge.from != id;
            let mut sources: Vec<PhaseId> = edges.iter().filter(from).map(|edge| edge.from).collect();
            sources.dedup();
            let main = sources.iter().any(|source| !program.phase(*source).aside);
            let known: Vec<i32> = sources
                .iter()
                .filter(|source| !main || !program.phase(**source).aside)
                .filter_map(|source| places.get(source).copied())
                .collect();
            if !known.is_empty() && (main || !places.contains_key(&id)) {
                let count = i32::try_from(known.len()).unwrap_or(1);
                places.insert(id, known.iter().sum::<i32>() / count + i32::from(!main));
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::edges;
    use crate::sample::{self, DECIDE, TASKS};

    #[test]
    fn an_aside_belongs_beside_the_phase_that_leads_to_it() {
        let program = sample::program();
        let places = leaders(&program, &edges(&program));
        assert_eq!(places[&DECIDE], places[&TASKS]);
    }

    #[test]
    fn an_aside_that_nothing_leads_to_comes_last() {
        let program = sample::program();
        let order = by_leaders(&program, &[], &[DECIDE]);
        assert_eq!(order, [DECIDE]);
    }
}
