//! One round in numbers, and the thresholds for judging it.

use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

use super::gap::{Gap, GapId, GapSeverity};

/// One round in numbers. `end` is `start` plus `new` minus `resolved` minus `set_aside`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoundRow {
    pub round: u32,
    /// Unsettled gaps at the end of the previous round.
    pub start: u32,
    pub resolved: Vec<GapId>,
    /// Gaps found in this round, including those split from another gap.
    pub new: Vec<GapId>,
    /// Gaps deferred or waived since the previous round; they are not progress, so the net leaves them out.
    pub set_aside: Vec<GapId>,
    pub end: u32,
    pub net: i64,
    pub weighted_net: i64,
    pub state: RoundState,
}

/// The judgement of a round's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundState {
    Converging,
    /// No net progress, for the n-th time in a row.
    Stalled(u32),
    /// Stalled often enough to warn.
    Warning(u32),
    Diverging,
    /// The reviewer failed, so nothing could be resolved; the round counts, but not as a stall.
    Unreviewed,
    /// The engineer failed; the round does not count.
    Failed,
    /// The user skipped the round after a rollback; it does not count.
    Skipped,
}

/// The thresholds for judging convergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Thresholds {
    pub weights: Weights,
    /// A weighted net of at most this is a stall.
    pub stall_at: i64,
    /// The number of consecutive stalls that triggers a warning.
    pub warn_at: u32,
    /// A net count below this is divergence.
    pub diverge_below: i64,
}

/// The weight of a gap, by severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Weights {
    pub critical: u32,
    pub high: u32,
    pub medium: u32,
    pub low: u32,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds { weights: Weights::default(), stall_at: 0, warn_at: 2, diverge_below: -2 }
    }
}

impl Default for Weights {
    fn default() -> Weights {
        Weights { critical: 8, high: 4, medium: 2, low: 1 }
    }
}

impl RoundState {
    /// Whether the round counts towards the limit and the trend.
    pub fn counts(self) -> bool {
        match self {
            RoundState::Converging
            | RoundState::Stalled(_)
            | RoundState::Warning(_)
            | RoundState::Diverging
            | RoundState::Unreviewed => true,
            RoundState::Failed | RoundState::Skipped => false,
        }
    }
}

impl Weights {
    pub(super) fn weight_of(&self, gap: &Gap) -> i64 {
        i64::from(match gap.severity {
            GapSeverity::Critical => self.critical,
            GapSeverity::High => self.high,
            GapSeverity::Medium => self.medium,
            GapSeverity::Low => self.low,
        })
    }
}

impl fmt::Display for RoundState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RoundState::Converging => f.write_str("converging"),
            RoundState::Stalled(times) => write!(f, "stalled ({times})"),
            RoundState::Warning(times) => write!(f, "stalled ({times}), warning"),
            RoundState::Diverging => f.write_str("diverging"),
            RoundState::Unreviewed => f.write_str("unreviewed"),
            RoundState::Failed => f.write_str("failed, not counted"),
            RoundState::Skipped => f.write_str("skipped, not counted"),
        }
    }
}
