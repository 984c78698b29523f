//! What led to findings about a design: who noticed, and what.

use crate::contract::schema::failure::{Producer, Trigger};
use remand_kernel::Program;
use remand_kernel::ids::{BudgetId, PhaseId, SignalId};
use remand_kernel::program::{Scope, Work, is_detector};
use remand_kernel::signal::CIRCLE;

/// The way that led to a phase which states findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Led {
    pub producer: Producer,
    /// None when nothing but a human's wish led there.
    pub trigger: Option<Trigger>,
    /// What the ruling rested on.
    pub why: String,
}

impl Led {
    /// From the phase of the flow proper that is closest to the failure, and the signal that led on.
    pub fn by(program: &Program, from: PhaseId, signal: SignalId, why: String) -> Led {
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
        Led { producer, trigger, why }
    }

    pub fn words(&self) -> &'static str {
        match self.trigger {
            Some(Trigger::Circle) => "circle detected",
            Some(Trigger::QualityGateFailed) => "quality gate failed three times in a row",
            Some(Trigger::ChangesRequested) => "changes requested three times for one finding",
            Some(Trigger::NegativePrototype) => "negative prototype",
            None => "a human asked for a revision",
        }
    }

    /// How the commit of the findings begins (DR-19).
    pub fn prefix(&self) -> &'static str {
        match self.producer {
            Producer::Implementer | Producer::QualityGate | Producer::Prototyper => "impl",
            Producer::Reviewer => "review",
        }
    }
}

/// The budget that revisions of the design are paid from: the one of the subject that is spent on the way to recording
/// a failed approach. The ticket counts it across runs.
pub fn revision_budget(program: &Program) -> Option<BudgetId> {
    let records = |target: PhaseId| match &program.phase(target).work {
        Work::Operation { operation } => program.operation(*operation).records_approach,
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Flow { .. } | Work::Ask { .. } => {
            false
        }
    };
    let routes = program.phases.iter().flat_map(|phase| &phase.routes);
    let mut paid = routes
        .filter(|(_, route)| route.action.named().is_some_and(records))
        .flat_map(|(_, route)| &route.spends);
    paid.find(|budget| program.budget(**budget).scope == Scope::Subject).copied()
}

/// How many revisions of a design there may be.
pub fn cap(program: &Program) -> u16 {
    revision_budget(program).map_or(0, |budget| program.capacity(budget, |_| 0))
}
