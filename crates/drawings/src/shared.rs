//! Routes to an end that many phases share, such as `no-result: fail`: drawings state them once.

use crate::edges::{EdgeKind, EdgeTarget, RouteEdge, RunEnd};
use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::Program;
use remand_kernel::signal::{NO_RESULT, SECURITY_BLOCKER};

/// The minimum number of phases that share an end.
const MIN_PHASES: usize = 3;

/// An implicit signal that ends the run the same way at many phases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedEnd {
    pub signal: SignalId,
    pub end: RunEnd,
    /// The phases that have another route for the signal.
    pub except: Vec<PhaseId>,
}

/// Removes the shared ends from the edges and returns them.
pub fn take_shared(program: &Program, edges: &mut Vec<RouteEdge>) -> Vec<SharedEnd> {
    let found: Vec<SharedEnd> = [NO_RESULT, SECURITY_BLOCKER]
        .into_iter()
        .filter_map(|signal| find_shared(program, signal, edges))
        .collect();
    for one in &found {
        for edge in edges.iter_mut().filter(|edge| is_plain_end(edge, &one.end)) {
            edge.signals.retain(|signal| *signal != one.signal);
        }
    }
    edges.retain(|edge| !edge.signals.is_empty() || edge.kind == EdgeKind::Pass);
    found
}

fn find_shared(program: &Program, signal: SignalId, edges: &[RouteEdge]) -> Option<SharedEnd> {
    let end = RunEnd::Fail;
    let phases: Vec<PhaseId> = edges
        .iter()
        .filter(|edge| is_plain_end(edge, &end) && edge.signals.contains(&signal))
        .map(|edge| edge.from)
        .collect();
    if phases.len() < MIN_PHASES {
        return None;
    }
    let except = program
        .phase_ids()
        .filter(|id| program.phase(*id).route(signal).is_some() && !phases.contains(id))
        .collect();
    Some(SharedEnd { signal, end, except })
}

fn is_plain_end(edge: &RouteEdge, end: &RunEnd) -> bool {
    edge.kind == EdgeKind::Close
        && !edge.is_exhausted()
        && edge.effect.is_none()
        && edge.to == EdgeTarget::End(end.clone())
}

impl SharedEnd {
    /// The shared end as written in the workflow file: `no-result: fail except implement, verify`.
    pub fn phrase(&self, program: &Program) -> String {
        let signal = program.signal(self.signal);
        let mut text = format!("{signal}: {}", self.end.name());
        if !self.except.is_empty() {
            let names: Vec<&str> = self.except.iter().map(|id| program.phase(*id).name.as_str()).collect();
            text.push_str(&format!(" except {}", names.join(", ")));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::edges;
    use crate::sample::{self, DECIDE};
    use remand_kernel::program::Action;

    #[test]
    fn an_end_that_many_phases_share_is_stated_once_with_its_exceptions() {
        let mut program = sample::program();
        let route = sample::route(Action::Hold);
        program.phases[DECIDE.index()].routes.insert(0, (NO_RESULT, route));
        let mut edges = edges(&program);
        let shared = take_shared(&program, &mut edges);
        assert_eq!(
            shared.iter().map(|one| one.phrase(&program)).collect::<Vec<_>>(),
            ["no-result: fail except decide"]
        );
        let left: Vec<&RouteEdge> = edges.iter().filter(|edge| edge.signals.contains(&NO_RESULT)).collect();
        assert_eq!(left.iter().map(|edge| edge.from).collect::<Vec<_>>(), [DECIDE]);
    }

    #[test]
    fn an_end_that_few_phases_share_is_drawn_at_each_phase() {
        let mut program = sample::program();
        program.phases[sample::PLAN.index()].routes.retain(|(signal, _)| *signal != NO_RESULT);
        let mut edges = edges(&program);
        assert!(take_shared(&program, &mut edges).is_empty());
    }
}
