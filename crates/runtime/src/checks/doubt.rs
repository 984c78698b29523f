//! A pass that looks too easy (CORE-13).

use super::outcome::CheckOutcome;

/// An earlier pass of the same check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Past {
    pub duration_ms: u64,
    pub collected: Option<u32>,
}

impl Past {
    /// How many earlier passes a pass is held against.
    pub const COMPARED: u32 = 5;
}

const COMPARED: usize = Past::COMPARED as usize;

/// Says why a pass is doubtful: shorter than a tenth of the median of its last 5, or with fewer than half the tests
/// of the latest. `past` is in order of time, latest last.
pub fn doubt(outcome: &CheckOutcome, past: &[Past]) -> Option<String> {
    if !outcome.passed() {
        return None;
    }
    let recent = &past[past.len().saturating_sub(COMPARED)..];
    if let (Some(now), Some(before)) = (outcome.collected, recent.last().and_then(|past| past.collected))
        && u64::from(now) * 2 < u64::from(before)
    {
        return Some(format!("`{}` ran {now} tests, and {before} the time before", outcome.name));
    }
    if recent.len() < COMPARED {
        return None;
    }
    let mut durations: Vec<u64> = recent.iter().map(|past| past.duration_ms).collect();
    durations.sort_unstable();
    let median = durations[COMPARED / 2];
    let now = outcome.duration.as_millis();
    (now * 10 < u128::from(median))
        .then(|| format!("`{}` took {now} ms, and {median} ms in the median before", outcome.name))
}
