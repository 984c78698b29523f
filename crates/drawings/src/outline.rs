//! A workflow as a list of its phases with what a run did at each, for narrow terminals.

use crate::edges::{EdgeKind, edges};
use crate::marks::RunMarks;
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Program;

/// One phase of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineRow {
    pub phase: String,
    /// 1 inside a sub-flow, else 0.
    pub depth: usize,
    pub is_aside: bool,
    /// The lanes that are at this phase; `here` is the main line.
    pub here: Vec<String>,
    /// How often a ruling left the phase.
    pub visits: u32,
    /// What is left of the rounds of the phase, and their number.
    pub rounds: Option<(u16, u16)>,
    pub back: Vec<WayBack>,
}

/// A way on which work went back from a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayBack {
    pub to: String,
    pub count: u32,
    /// Whether it is what the run did last.
    pub is_last: bool,
}

/// The phases in the order of the file; an aside is left out until the run was there.
pub fn outline(program: &Program, marks: &RunMarks) -> Vec<OutlineRow> {
    let edges = edges(program);
    let last = marks.taken.len().saturating_sub(1);
    let row = |id: PhaseId| {
        let phase = program.phase(id);
        let mut back: Vec<WayBack> = Vec::new();
        for (at, way) in marks.taken.iter().enumerate().filter(|(_, way)| way.from == id) {
            let kind = way.edge(&edges).map(|edge| edges[edge].kind);
            let (Some(EdgeKind::Remand | EdgeKind::Restore), Some(to)) = (kind, way.target) else { continue };
            let to = &program.phase(to).name;
            match back.iter_mut().find(|known| known.to == *to) {
                Some(known) => (known.count, known.is_last) = (known.count + 1, at == last),
                None => back.push(WayBack { to: to.clone(), count: 1, is_last: at == last }),
            }
        }
        OutlineRow {
            phase: phase.name.clone(),
            depth: usize::from(phase.owner.is_some()),
            is_aside: phase.aside,
            here: marks.here.get(&id).cloned().unwrap_or_default(),
            visits: marks.visits.get(&id).copied().unwrap_or(0),
            rounds: phase.round.and_then(|budget| marks.left.get(&budget).copied()),
            back,
        }
    };
    let was_there = |row: &OutlineRow| !row.is_aside || row.visits > 0 || !row.here.is_empty();
    program.phase_ids().map(row).filter(was_there).collect()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use crate::marks::RouteTaken;
    use crate::sample::{self, PLAN, REVIEW, TASKS};

    #[test]
    fn work_that_went_back_is_counted_at_the_phase_that_sent_it() {
        let program = sample::program();
        let signal = program.signal_named("needs-work").expect("a signal");
        let way = RouteTaken { from: REVIEW, signal, target: Some(PLAN), exhausted: false };
        let mut marks = RunMarks { taken: vec![way, way], ..RunMarks::default() };
        marks.visits.insert(REVIEW, 2);
        marks.here.insert(TASKS, vec!["here".to_string()]);
        let rows = outline(&program, &marks);
        let review = rows.iter().find(|row| row.visits == 2).expect("the review");
        let plan = program.phase(PLAN).name.clone();
        assert_eq!(review.back, [WayBack { to: plan, count: 2, is_last: true }]);
        assert!(rows.iter().any(|row| row.here == ["here"]));
        assert!(rows.iter().all(|row| !row.is_aside), "the run was at no aside: {rows:?}");
    }
}
