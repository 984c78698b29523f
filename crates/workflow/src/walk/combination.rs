//! Finds member verdicts that combine into a given signal.

use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Program, Work};
use remand_kernel::step::tally_of;

/// Chooses one verdict per member so that the phase ends with `wanted`, success verdicts first. `None` if no choice does,
/// for example for a detector's signal.
pub fn verdicts_for(
    program: &Program,
    phase: PhaseId,
    seats: usize,
    wanted: SignalId,
) -> Option<Vec<SignalId>> {
    match &program.phase(phase).work {
        Work::Each { contract, tally, .. } => {
            let says = &program.contract(*contract).says;
            combinations(says, seats).find(|have| tally_of(tally, have) == wanted)
        }
        Work::Panel { members, .. } => {
            let mut verdicts: Vec<SignalId> =
                members.iter().filter_map(|member| program.contract(*member).says.first().copied()).collect();
            let first = members.first().map(|member| program.contract(*member))?;
            let known = first.says.contains(&wanted);
            if let Some(own) = verdicts.first_mut() {
                *own = wanted;
            }
            known.then_some(verdicts)
        }
        Work::Role { .. } | Work::Flow { .. } | Work::Operation { .. } | Work::Ask { .. } => None,
    }
}

/// All ways to choose one of `says` for each seat, starting with success everywhere.
fn combinations(says: &[SignalId], seats: usize) -> impl Iterator<Item = Vec<SignalId>> + '_ {
    let base = says.len().max(1);
    let all = base.checked_pow(u32::try_from(seats).unwrap_or(u32::MAX)).unwrap_or(0).min(1 << 16);
    (0..all).map(move |mut number| {
        let mut chosen = Vec::with_capacity(seats);
        for _ in 0..seats {
            chosen.extend(says.get(number % base));
            number /= base;
        }
        chosen
    })
}
