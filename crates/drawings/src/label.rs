//! The label of an edge: its signals, the empty budget, the budgets it spends, its effect.

use crate::edges::{EdgeKind, RouteEdge};
use crate::phrase::signal_name;
use remand_kernel::program::Program;

/// The label of an edge: `needs-work, block / round`, `round spent`, `blocked when design-revision spent`.
pub fn label(program: &Program, edge: &RouteEdge, all: &[RouteEdge]) -> Label {
    let phase = program.phase(edge.from);
    let signals = if edge.kind == EdgeKind::Pass {
        vec!["otherwise".to_string()]
    } else if edge.is_exhausted() && covers_all_spenders(edge, all) {
        Vec::new()
    } else {
        edge.signals.iter().map(|signal| signal_name(program, phase, *signal)).collect()
    };
    Label {
        signals,
        empty: edge.empty_budgets(program),
        spends: edge.spent_budgets(program),
        effect: edge.effect.map(|effect| effect.name()),
    }
}

/// Whether all signals that spend the empty budget at this phase follow this exhausted edge.
fn covers_all_spenders(edge: &RouteEdge, all: &[RouteEdge]) -> bool {
    all.iter()
        .filter(|other| other.from == edge.from)
        .filter(|other| other.spends.iter().any(|budget| edge.empty.contains(budget)))
        .all(|other| other.signals.iter().all(|signal| edge.signals.contains(signal)))
}

/// The parts of an edge's label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The names of the signals, with a star for detectors; no names if the empty budget is enough.
    pub signals: Vec<String>,
    pub empty: String,
    pub spends: String,
    pub effect: Option<&'static str>,
}

impl Label {
    /// The signals and the empty budget.
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
    fn a_label_omits_the_signals_if_all_that_spend_the_budget_follow_the_edge() {
        assert!(lines(REVIEW).contains(&"round spent with blockers".to_string()));
    }

    #[test]
    fn a_label_names_the_signals_if_only_some_that_spend_the_budget_follow_the_edge() {
        assert!(lines(TASKS).contains(&"unsafe when rework spent".to_string()));
    }
}
