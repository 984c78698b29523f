//! The rulings that lowered the confidence of a run.

use crate::pinned::Pinned;
use remand_kernel::program::{Effect, Program, Work};
use remand_kernel::view::RulingView;
use remand_ledger::query::{DispatchRow, DispatchStatus};
use remand_ledger::{LedgerError, Reader, RunId};
use std::collections::BTreeSet;

/// An effect of a ruling on the run's confidence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfidenceEffect {
    /// The name of the effect.
    pub effect: String,
    pub text: String,
}

impl ConfidenceEffect {
    pub fn is_degradation(&self) -> bool {
        self.effect == Effect::Degradation.name()
    }
}

/// The effects of all rulings of the run.
pub fn confidence_effects(reader: &Reader, run: &RunId) -> Result<BTreeSet<ConfidenceEffect>, LedgerError> {
    let dispatches = reader.dispatches(run)?;
    let pinned = Pinned::of(reader, run)?;
    let is_diverse = |phase: &str| pinned.as_ref().is_some_and(|pinned| is_diverse(&pinned.program, phase));
    let rulings = reader.rulings(run, 0)?.into_iter().map(|row| row.ruling);
    Ok(rulings
        .flat_map(|ruling| {
            let shared = shared_model(&ruling.phase, &dispatches).filter(|_| is_diverse(&ruling.phase));
            let effects = ruling.effects.iter().map(|effect| ConfidenceEffect {
                effect: effect.clone(),
                text: text(&ruling, effect, shared.as_deref()),
            });
            effects.collect::<Vec<_>>()
        })
        .collect())
}

fn text(ruling: &RulingView, effect: &str, shared: Option<&str>) -> String {
    match shared.filter(|_| effect == Effect::Degradation.name()) {
        Some(model) => format!("{}: several of its members used the same model, {model}", ruling.phase),
        None => format!("{}: {}; {}", ruling.phase, ruling.signal, ruling.why),
    }
}

/// Whether the members of a phase should use different models.
fn is_diverse(program: &Program, phase: &str) -> bool {
    let work = program.phase_named(phase).map(|id| &program.phase(id).work);
    matches!(work, Some(Work::Each { diverse: true, .. }))
}

/// A model that several members of a phase used in one visit.
fn shared_model(phase: &str, dispatches: &[DispatchRow]) -> Option<String> {
    let done: Vec<&DispatchRow> = dispatches
        .iter()
        .filter(|row| row.phase == phase && row.status != DispatchStatus::Error && row.item.is_some())
        .collect();
    done.iter().find_map(|row| {
        let model = model(row)?;
        let mut others = done.iter().filter(|other| other.visit == row.visit && other.item != row.item);
        others.any(|other| self::model(other).as_ref() == Some(&model)).then_some(model)
    })
}

/// The model that a dispatch reported, or else the default of its agent.
fn model(row: &DispatchRow) -> Option<String> {
    let default = || row.driver.as_ref().map(|driver| format!("the default of {driver}"));
    row.model.clone().or_else(default)
}
