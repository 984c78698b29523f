//! The signals that a phase can end with, from its contract, operation, tally or options.

use crate::file::{PhaseDecl, RouteDecl};
use crate::source::Spanned;
use remand_kernel::ids::{ContractId, PhaseId, SignalId};
use remand_kernel::program::{Program, Work};
use remand_kernel::signal::{
    CIRCLE, KIND_FINDINGS, NO_RESULT, OSCILLATION, REPEATED, REVERSAL, SECURITY_BLOCKER, SPENT,
};

/// The signals of one phase.
#[derive(Clone, Debug, Default)]
pub struct Producible {
    plain: Vec<SignalId>,
    /// A detector, a verdict, and the signal for both together.
    qualified: Vec<(SignalId, SignalId, SignalId)>,
}

/// Finds the signals that a phase can end with, and records qualified detectors in the program.
pub fn producible_signals(program: &mut Program, id: PhaseId, decl: &PhaseDecl) -> Producible {
    let mut all = Producible::default();
    match program.phase(id).work.clone() {
        Work::Role { contract, .. } => all.add_contract(program, contract, Verdicts::Direct),
        Work::Each { contract, tally, .. } => {
            all.plain.extend(tally.iter().map(|row| row.signal));
            all.add_contract(program, contract, Verdicts::Tallied);
        }
        Work::Panel { members, .. } => {
            for contract in members {
                all.add_contract(program, contract, Verdicts::Direct);
            }
        }
        Work::Flow { tally, .. } => all.plain.extend(tally.iter().map(|row| row.signal)),
        Work::Operation { operation } => {
            if let Some(operation) = program.operations.get(operation.index()) {
                all.plain.extend(&operation.results);
                if operation.judges {
                    all.plain.extend([REPEATED, CIRCLE]);
                }
            }
            all.plain.push(NO_RESULT);
        }
        Work::Ask { options, .. } => all.plain.extend(options.iter().map(|option| option.signal)),
    }
    if program.phase(id).round.is_some() {
        all.plain.push(SPENT);
    }
    all.plain.sort_unstable();
    all.plain.dedup();
    all.qualify(program, id, decl);
    all
}

/// Whether a contract's verdicts are signals of the phase, or the input of a tally.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdicts {
    Direct,
    Tallied,
}

impl Producible {
    fn add_contract(&mut self, program: &Program, contract: ContractId, verdicts: Verdicts) {
        let contract = program.contract(contract);
        if verdicts == Verdicts::Direct {
            if contract.by_kind {
                self.plain.extend(contract.says.first());
                self.plain.extend(KIND_FINDINGS);
            } else {
                self.plain.extend(&contract.says);
            }
        }
        if contract.findings {
            self.plain.extend([SECURITY_BLOCKER, REPEATED]);
        }
        if !contract.changes.is_empty() {
            self.plain.extend([CIRCLE, REVERSAL]);
        }
        if contract.guarded {
            self.plain.push(OSCILLATION);
        }
        self.plain.push(NO_RESULT);
    }

    /// If a phase routes a detector together with a verdict, it must route the detector with every rejecting verdict.
    fn qualify(&mut self, program: &mut Program, id: PhaseId, decl: &PhaseDecl) {
        let verdicts = rejecting(program, id);
        for detector in [REVERSAL, CIRCLE, OSCILLATION, REPEATED] {
            let name = program.signal(detector).to_string();
            let is_routed = decl.on.iter().any(|(key, _)| key.value.starts_with(&format!("{name} ")));
            if !is_routed || !self.plain.contains(&detector) {
                continue;
            }
            for verdict in &verdicts {
                let both = format!("{name} {}", program.signal(*verdict));
                let signal = match program.signal_named(&both) {
                    Some(signal) => signal,
                    None => {
                        program.signals.push(both);
                        SignalId(u16::try_from(program.signals.len() - 1).unwrap_or(u16::MAX))
                    }
                };
                self.qualified.push((detector, *verdict, signal));
            }
        }
        let qualified = self.qualified.clone();
        if let Some(phase) = program.phases.get_mut(id.index()) {
            phase.qualified = qualified;
        }
    }

    /// All signals, including qualified ones.
    pub fn all(&self) -> Vec<SignalId> {
        self.plain.iter().copied().chain(self.qualified.iter().map(|(_, _, signal)| *signal)).collect()
    }

    pub fn by_name(&self, program: &Program, name: &str) -> Option<SignalId> {
        self.all().into_iter().find(|signal| program.signal(*signal) == name)
    }

    /// The signals that need a route. A detector that is routed by verdict needs no plain route; `spent` needs one only if
    /// some route spends the rounds without an `else`.
    pub fn required(&self, program: &Program, on: &[(Spanned<String>, RouteDecl)]) -> Vec<SignalId> {
        self.all()
            .into_iter()
            .filter(|signal| !self.qualified.iter().any(|(detector, _, _)| detector == signal))
            .filter(|signal| *signal != SPENT || on.iter().any(|(_, route)| needs_spent(route)))
            .filter(|signal| usize::from(signal.0) < program.signals.len())
            .collect()
    }
}

fn needs_spent(route: &RouteDecl) -> bool {
    let spends_rounds =
        route.spends.iter().any(|budget| budget.value == super::ROUND) && route.otherwise.is_none();
    spends_rounds || route.otherwise.as_deref().is_some_and(needs_spent)
}

/// The verdicts of a phase's contracts, except the success verdicts.
fn rejecting(program: &Program, id: PhaseId) -> Vec<SignalId> {
    let mut verdicts: Vec<SignalId> = program
        .phase(id)
        .contracts()
        .iter()
        .flat_map(|contract| program.contract(*contract).says.iter().skip(1).copied())
        .collect();
    verdicts.sort_unstable();
    verdicts.dedup();
    verdicts
}
