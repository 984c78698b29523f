//! Finds passes that look suspicious.

use super::result::CheckResult;

/// An earlier pass of the same check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlierPass {
    pub duration_ms: u64,
    pub collected: Option<u32>,
}

impl EarlierPass {
    /// How many earlier passes a pass is compared with.
    pub const COMPARED: u32 = 5;
}

const COMPARED: usize = EarlierPass::COMPARED as usize;

/// Why a pass is doubtful: it took less than a tenth of the median of the last 5 passes, or ran fewer than half the
/// tests of the last one. `past` is in order of time, latest last.
pub fn doubt(result: &CheckResult, past: &[EarlierPass]) -> Option<String> {
    if !result.passed() {
        return None;
    }
    let recent = &past[past.len().saturating_sub(COMPARED)..];
    if let (Some(now), Some(before)) = (result.collected, recent.last().and_then(|past| past.collected))
        && u64::from(now) * 2 < u64::from(before)
    {
        return Some(format!("`{}` ran {now} tests; when it last passed, it ran {before}", result.name));
    }
    if recent.len() < COMPARED {
        return None;
    }
    let mut durations: Vec<u64> = recent.iter().map(|past| past.duration_ms).collect();
    durations.sort_unstable();
    let median = durations[COMPARED / 2];
    let now = result.duration.as_millis();
    (now * 10 < u128::from(median))
        .then(|| format!("`{}` took {now} ms; the median of earlier passes is {median} ms", result.name))
}
