//! What a run did in its workflow: where it is, how often it followed each route, and what is left of its budgets.

use crate::edges::{EdgeTarget, RouteEdge};
use remand_kernel::ids::{BudgetId, PhaseId, SignalId};
use std::collections::BTreeMap;

/// What the drawing of a workflow shows about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunMarks {
    /// The phases at which the run is, each with its lanes.
    pub here: BTreeMap<PhaseId, Vec<String>>,
    /// The number of finished visits to each phase.
    pub visits: BTreeMap<PhaseId, u32>,
    /// The routes that were followed, in order.
    pub taken: Vec<RouteTaken>,
    /// What is left of each budget of the run, and its full size.
    pub left: BTreeMap<BudgetId, (u16, u16)>,
    /// The address of the workflow's file. A link to a phase appends `#L` and its line.
    pub file: String,
}

/// One ruling that followed a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteTaken {
    pub from: PhaseId,
    pub signal: SignalId,
    pub target: Option<PhaseId>,
    /// Whether this is the alternative route for a budget that is used up.
    pub exhausted: bool,
}

/// How often each edge of the drawing was followed, and the last one.
#[derive(Clone, Debug, Default)]
pub(crate) struct EdgeMarks {
    counts: Vec<u32>,
    last: Option<usize>,
}

impl EdgeMarks {
    pub fn of(marks: &RunMarks, edges: &[RouteEdge]) -> EdgeMarks {
        let mut found = EdgeMarks { counts: vec![0; edges.len()], last: None };
        for way in &marks.taken {
            found.last = way.edge(edges);
            if let Some(at) = found.last {
                found.counts[at] += 1;
            }
        }
        found
    }

    pub fn count(&self, edge: usize) -> u32 {
        self.counts.get(edge).copied().unwrap_or(0)
    }

    /// The CSS classes of a line that stands for these edges.
    pub fn classes(&self, edges: &[usize]) -> &'static str {
        if self.last.is_some_and(|last| edges.contains(&last)) {
            " taken last"
        } else if edges.iter().any(|edge| self.count(*edge) > 0) {
            " taken"
        } else {
            ""
        }
    }
}

impl RouteTaken {
    /// The edge that the ruling followed; `None` if the route appears only in the legend.
    pub(crate) fn edge(&self, edges: &[RouteEdge]) -> Option<usize> {
        let fits = |edge: &RouteEdge| {
            edge.from == self.from
                && edge.signals.contains(&self.signal)
                && edge.is_exhausted() == self.exhausted
        };
        let leads_there = |edge: &RouteEdge| match (&edge.to, self.target) {
            (EdgeTarget::Phase(to), Some(target)) => *to == target,
            (EdgeTarget::Injector | EdgeTarget::Caller, Some(_)) | (EdgeTarget::End(_), None) => true,
            (EdgeTarget::Phase(_) | EdgeTarget::Injector | EdgeTarget::Caller, None)
            | (EdgeTarget::End(_), Some(_)) => false,
        };
        let exact = edges.iter().position(|edge| fits(edge) && leads_there(edge));
        // `next` may skip phases whose condition does not hold.
        exact.or_else(|| edges.iter().position(fits))
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use crate::edges::edges;
    use crate::sample;

    #[test]
    fn each_taken_way_counts_on_one_edge_and_the_latest_is_known() {
        let program = sample::program();
        let edges = edges(&program);
        let way = |at: usize| {
            let edge = &edges[at];
            let target = match &edge.to {
                EdgeTarget::Phase(id) => Some(*id),
                EdgeTarget::Injector => program.injects.first().copied(),
                EdgeTarget::Caller | EdgeTarget::End(_) => None,
            };
            RouteTaken { from: edge.from, signal: edge.signals[0], target, exhausted: edge.is_exhausted() }
        };
        let remand = edges.iter().position(|edge| edge.kind == crate::edges::EdgeKind::Remand).expect("one");
        let marks = RunMarks { taken: vec![way(remand), way(0), way(remand)], ..RunMarks::default() };
        let marked = EdgeMarks::of(&marks, &edges);
        assert_eq!((marked.count(remand), marked.count(0)), (2, 1));
        assert_eq!((marked.classes(&[remand]), marked.classes(&[0])), (" taken last", " taken"));
        assert_eq!(marked.counts.iter().sum::<u32>(), 3);
    }
}
