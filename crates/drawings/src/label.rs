//! The label of an edge: its signals, the budget found empty, what it spends, its effect.

use crate::edges::{EdgeKind, RouteEdge};
use crate::phrase::marked;
use remand_kernel::program::Program;

/// The label of an edge: `needs-work, block / round`, `round spent`, `blocked when design-revision spent`.
pub fn label(program: &Program, edge: &RouteEdge, all: &[RouteEdge]) -> Label {
    let phase = program.phase(edge.from);
    let cause = if edge.kind == EdgeKind::Pass {
        vec!["otherwise".to_string()]
    } else if edge.is_exhausted() && takes_all(edge, all) {
        Vec::new()
    } else {
        edge.signals.iter().map(|signal| marked(program, phase, *signal)).collect()
    };
    Label {
        signals: cause,
        empty: edge.exhausting(program),
        spends: edge.spending(program),
        effect: edge.effect.map(|effect| effect.name()),
    }
}

/// Whether every signal of the phase that spends the empty budget follows this exhausted edge.
fn takes_all(edge: &RouteEdge, all: &[RouteEdge]) -> bool {
    all.iter()
        .filter(|other| other.from == edge.from)
        .filter(|other| other.spends.iter().any(|budget| edge.empty.contains(budget)))
        .all(|other| other.signals.iter().all(|signal| edge.signals.contains(signal)))
}

/// The parts of an edge's label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The names of the signals, detectors starred; none if the empty budget is enough.
    pub signals: Vec<String>,
    pub empty: String,
    pub spends: String,
    pub effect: Option<&'static str>,
}

impl Label {
    /// Signals and the budget found empty.
    pub fn cause(&self) -> String {
        let signals = self.signals.join(", ");
        match (self.signals.is_empty(), self.empty.is_empty()) {
            (_, true) => signals,
            (true, false) => format!("{} spent", self.empty),
            (false, false) => format!("{signals} when {} spent", self.empty),
        }
    }

    /// The whole label on one line.
    pub fn line(&self) -> String {
        let mut text = self.cause();
        if !self.spends.is_empty() {
            text.push_str(&format!(" / {}", self.spends));
        }
        if let Some(effect) = self.effect {
            text.push_str(&format!(" with {effect}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::edges;
    use crate::sample::{self, REVIEW, TASKS};
    use remand_kernel::ids::PhaseId;

    fn lines(phase: PhaseId) -> Vec<String> {
        let program = sample::program();
        let edges = edges(&program);
        edges
            .iter()
            .filter(|edge| edge.from == phase)
            .map(|edge| label(&program, edge, &edges).line())
            .collect()
    }

    #[test]
    fn a_budget_spent_by_all_its_signals_needs_no_signals() {
        assert!(lines(REVIEW).contains(&"round spent with blockers".to_string()));
    }

    #[test]
    fn a_budget_spent_by_some_signals_names_them() {
        assert!(lines(TASKS).contains(&"unsafe when rework spent".to_string()));
    }
}
