//! The cause of findings about a design: who produces them, and what triggered them.

use remand_contract::schema::failure::{Producer, Trigger};
use remand_kernel::Program;
use remand_kernel::ids::{BudgetId, PhaseId, SignalId};
use remand_kernel::program::{Scope, Work, is_detector};
use remand_kernel::signal::CIRCLE;

/// Why the run reached a phase that writes findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingsCause {
    pub producer: Producer,
    /// `None` if a human asked for them.
    pub trigger: Option<Trigger>,
    /// The reason for the ruling.
    pub why: String,
}

impl FindingsCause {
    /// Derives the cause from the phase that failed, and its signal.
    pub fn derive(program: &Program, from: PhaseId, signal: SignalId, why: String) -> FindingsCause {
        let phase = program.phase(from);
        let contract = phase.contracts().first().map(|id| program.contract(*id));
        let producer = match (&phase.work, contract) {
            (Work::Operation { .. }, _) => Producer::QualityGate,
            (_, Some(contract)) if contract.findings => Producer::Reviewer,
            (_, Some(contract)) if !contract.changes.is_empty() => Producer::Implementer,
            (_, _) => Producer::Prototyper,
        };
        let trigger = match producer {
            _ if signal == CIRCLE => Some(Trigger::Circle),
            Producer::QualityGate => Some(Trigger::QualityGateFailed),
            Producer::Reviewer if is_detector(phase, signal) => Some(Trigger::ChangesRequested),
            Producer::Prototyper if phase.route(signal).is_some() => Some(Trigger::NegativePrototype),
            Producer::Reviewer | Producer::Implementer | Producer::Prototyper => None,
        };
        FindingsCause { producer, trigger, why }
    }

    pub fn description(&self) -> &'static str {
        match self.trigger {
            Some(Trigger::Circle) => "circle detected",
            Some(Trigger::QualityGateFailed) => "quality gate failed three times in a row",
            Some(Trigger::ChangesRequested) => "changes requested three times for one finding",
            Some(Trigger::NegativePrototype) => "negative prototype",
            None => "a human asked for a revision",
        }
    }

    /// The prefix of the commit message for the findings.
    pub fn prefix(&self) -> &'static str {
        match self.producer {
            Producer::Implementer | Producer::QualityGate | Producer::Prototyper => "impl",
            Producer::Reviewer => "review",
        }
    }
}

/// The budget for revisions of the design. It has the scope `subject`, and a route to the operation that records a failed
/// approach spends it. The ticket counts it across runs.
pub fn revision_budget(program: &Program) -> Option<BudgetId> {
    let records_approach = |target: PhaseId| match &program.phase(target).work {
        Work::Operation { operation } => program.operation(*operation).records_approach,
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Flow { .. } | Work::Ask { .. } => {
            false
        }
    };
    let routes = program.phases.iter().flat_map(|phase| &phase.routes);
    let mut spent = routes
        .filter(|(_, route)| route.action.target_phase().is_some_and(records_approach))
        .flat_map(|(_, route)| &route.spends);
    spent.find(|budget| program.budget(**budget).scope == Scope::Subject).copied()
}

/// Maximum number of revisions of a design.
pub fn cap(program: &Program) -> u16 {
    revision_budget(program).map_or(0, |budget| program.capacity(budget, |_| 0))
}
