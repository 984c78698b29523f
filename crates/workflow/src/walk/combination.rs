//! Finds member verdicts that combine into a given signal.

use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Program, Work};
use remand_kernel::step::tally_of;

/// Chooses one verdict per member so that the phase ends with `wanted`. Success verdicts are tried first. `None` if no
/// choice leads to the signal, for example because only a detector raises it.
pub fn verdicts_for(
    program: &Program,
    phase: PhaseId,
    seats: usize,
    wanted: SignalId,
) -> Option<Vec<SignalId>> {
    match &program.phase(phase).work {
        Work::Each { contract, tally, .. } => {
            let says = &program.contract(*contract).says;
            combinations(says, seats).find(|verdicts| tally_of(tally, verdicts) == wanted)
        }
        Work::Panel { members, .. } => {
            let mut verdicts: Vec<SignalId> =
                members.iter().filter_map(|member| program.contract(*member).says.first().copied()).collect();
            let first = members.first().map(|member| program.contract(*member))?;
            let is_possible = first.says.contains(&wanted);
            if let Some(verdict) = verdicts.first_mut() {
                *verdict = wanted;
            }
            is_possible.then_some(verdicts)
        }
        Work::Role { .. } | Work::Flow { .. } | Work::Operation { .. } | Work::Ask { .. } => None,
    }
}

/// All choices of one verdict for each seat, starting with success verdicts only.
fn combinations(says: &[SignalId], seats: usize) -> impl Iterator<Item = Vec<SignalId>> + '_ {
    let base = says.len().max(1);
    let count = base.checked_pow(u32::try_from(seats).unwrap_or(u32::MAX)).unwrap_or(0).min(1 << 16);
    (0..count).map(move |mut number| {
        let mut chosen = Vec::with_capacity(seats);
        for _ in 0..seats {
            chosen.extend(says.get(number % base));
            number /= base;
        }
        chosen
    })
}
