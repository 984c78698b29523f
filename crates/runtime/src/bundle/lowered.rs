//! What routes did to the confidence of a run, in words (EP-27, EP-32).

use remand_kernel::program::Effect;
use remand_kernel::view::RulingView;
use remand_ledger::query::{DispatchRow, DispatchStatus};
use remand_ledger::{LedgerError, Reader, RunId};
use std::collections::BTreeSet;

/// One ruling that cost confidence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lowered {
    /// The name of the effect.
    pub effect: String,
    pub text: String,
}

impl Lowered {
    pub fn is_degradation(&self) -> bool {
        self.effect == Effect::Degradation.name()
    }
}

/// Every effect of a route that the run took, in no order.
pub fn lowered(reader: &Reader, run: &RunId) -> Result<BTreeSet<Lowered>, LedgerError> {
    let dispatches = reader.dispatches(run)?;
    let rulings = reader.rulings(run, 0)?.into_iter().map(|row| row.ruling);
    Ok(rulings
        .flat_map(|ruling| {
            let texts = ruling
                .effects
                .iter()
                .map(|effect| Lowered { effect: effect.clone(), text: text(&ruling, effect, &dispatches) });
            texts.collect::<Vec<_>>()
        })
        .collect())
}

fn text(ruling: &RulingView, effect: &str, dispatches: &[DispatchRow]) -> String {
    let shared = shared_model(&ruling.phase, dispatches).filter(|_| effect == Effect::Degradation.name());
    match shared {
        Some(model) => format!("{}: several of its members ran on one model, {model}", ruling.phase),
        None => format!("{}: {}; {}", ruling.phase, ruling.signal, ruling.why),
    }
}

/// A model that did the work of several members of a phase at one visit.
fn shared_model<'d>(phase: &str, dispatches: &'d [DispatchRow]) -> Option<&'d str> {
    let done: Vec<&DispatchRow> = dispatches
        .iter()
        .filter(|row| row.phase == phase && row.status != DispatchStatus::Error && row.item.is_some())
        .collect();
    done.iter().find_map(|row| {
        let model = row.model.as_deref()?;
        let others = done.iter().filter(|other| other.visit == row.visit && other.item != row.item);
        others.map(|other| other.model.as_deref()).any(|other| other == Some(model)).then_some(model)
    })
}
