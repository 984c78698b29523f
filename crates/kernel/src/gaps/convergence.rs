//! Convergence: what a round did to the number and the weight of the gaps (SR-07).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::gap::{Gap, GapId, GapSeverity, GapStatus};

/// One round in numbers. `end` is `start` plus `new` less `resolved` less `set_aside`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoundRow {
    pub round: u32,
    /// Unsettled gaps at the end of the round before.
    pub start: u32,
    pub resolved: Vec<GapId>,
    /// Found in this round, those split off another gap included.
    pub new: Vec<GapId>,
    /// Deferred or waived since the round before; no progress, hence in no net.
    pub set_aside: Vec<GapId>,
    pub end: u32,
    pub net: i64,
    pub weighted_net: i64,
    pub state: RoundState,
}

/// What a round's numbers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundState {
    Converging,
    /// No net progress, for the n-th time without progress between.
    Stalled(u32),
    /// As stalled, often enough to warn.
    Warning(u32),
    Diverging,
    /// The engineer failed; the round does not count.
    Failed,
    /// The user skipped it after a rollback; the round does not count.
    Skipped,
}

/// The numbers that convergence is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Thresholds {
    pub weights: Weights,
    /// A weighted net of this or less is a stall.
    pub stall_at: i64,
    /// So many stalls in a row are a warning.
    pub warn_at: u32,
    /// A count net below this is divergence at once.
    pub diverge_below: i64,
}

/// What one gap of each severity weighs.
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
    /// Tells whether the round counts towards the limit and the trend.
    pub fn counts(self) -> bool {
        match self {
            RoundState::Converging
            | RoundState::Stalled(_)
            | RoundState::Warning(_)
            | RoundState::Diverging => true,
            RoundState::Failed | RoundState::Skipped => false,
        }
    }
}

/// Renders the rounds as a Markdown table.
pub fn table(rows: &[RoundRow]) -> String {
    let states = rows.iter().map(|row| row.state.to_string().chars().count());
    let widest = states.max().unwrap_or(0).max(5);
    let mut text = format!(
        "| Round | Start | Resolved | New | Set aside | End | Net | Weighted | {:widest$} |\n\
         | ----: | ----: | -------: | --: | --------: | --: | --: | -------: | {} |\n",
        "State",
        "-".repeat(widest)
    );
    for row in rows {
        text.push_str(&format!(
            "| {:>5} | {:>5} | {:>8} | {:>3} | {:>9} | {:>3} | {:>3} | {:>8} | {:widest$} |\n",
            row.round,
            row.start,
            row.resolved.len(),
            row.new.len(),
            row.set_aside.len(),
            row.end,
            signed(row.net),
            signed(row.weighted_net),
            row.state.to_string()
        ));
    }
    text
}

impl RoundRow {
    /// Says in one sentence what the round did and by which gaps that is known.
    pub fn explanation(&self, thresholds: &Thresholds) -> String {
        let judged = match self.state {
            RoundState::Converging => {
                format!(
                    "converges: weighted net {} is above {}",
                    signed(self.weighted_net),
                    thresholds.stall_at
                )
            }
            RoundState::Stalled(times) | RoundState::Warning(times) => format!(
                "stalls ({times} in a row): weighted net {} is not above {}",
                signed(self.weighted_net),
                thresholds.stall_at
            ),
            RoundState::Diverging => {
                format!("diverges: net {} is below {}", signed(self.net), thresholds.diverge_below)
            }
            RoundState::Failed => "does not count because the engineer failed".to_string(),
            RoundState::Skipped => "does not count because it was skipped".to_string(),
        };
        format!("round {} {judged}; resolved {}, new {}", self.round, list(&self.resolved), list(&self.new))
    }
}

impl Board {
    /// Counts the round under way and judges it; the caller appends the row.
    pub(super) fn count_round(&mut self, counting: Counting) -> RoundRow {
        let round = self.round;
        let new: Vec<GapId> =
            self.gaps().filter(|gap| gap.found_in == round).map(|gap| gap.id.clone()).collect();
        let resolved = self.moved_to(&[GapStatus::Resolved]);
        let set_aside = self.moved_to(&[GapStatus::Deferred, GapStatus::Waived]);
        let end = self.unsettled().count();
        let net = count(resolved.len()) - count(new.len());
        let weighted_net = self.weight(&resolved) - self.weight(&new);
        let state = match counting {
            Counting::Failed => RoundState::Failed,
            Counting::Counted => self.judge(net, weighted_net),
        };
        let start =
            end.saturating_add(resolved.len()).saturating_add(set_aside.len()).saturating_sub(new.len());
        let row = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        RoundRow {
            round,
            start: row(start),
            resolved,
            new,
            set_aside,
            end: row(end),
            net,
            weighted_net,
            state,
        }
    }

    fn judge(&mut self, net: i64, weighted_net: i64) -> RoundState {
        let thresholds = self.rules.thresholds;
        self.stalled = if weighted_net > thresholds.stall_at { 0 } else { self.stalled.saturating_add(1) };
        if net < thresholds.diverge_below {
            RoundState::Diverging
        } else if self.stalled == 0 {
            RoundState::Converging
        } else if self.stalled < thresholds.warn_at {
            RoundState::Stalled(self.stalled)
        } else {
            RoundState::Warning(self.stalled)
        }
    }

    fn moved_to(&self, targets: &[GapStatus]) -> Vec<GapId> {
        self.transitions
            .iter()
            .filter(|transition| transition.round == self.round && targets.contains(&transition.to))
            .map(|transition| transition.gap.clone())
            .collect()
    }

    fn weight(&self, ids: &[GapId]) -> i64 {
        ids.iter().filter_map(|id| self.gaps.get(id)).map(|gap| self.rules.thresholds.weights.of(gap)).sum()
    }
}

/// Whether the round under way counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    Counted,
    Failed,
}

impl Weights {
    fn of(&self, gap: &Gap) -> i64 {
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
            RoundState::Failed => f.write_str("failed, not counted"),
            RoundState::Skipped => f.write_str("skipped, not counted"),
        }
    }
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn signed(n: i64) -> String {
    if n > 0 { format!("+{n}") } else { n.to_string() }
}

fn list(ids: &[GapId]) -> String {
    if ids.is_empty() {
        return "none".to_string();
    }
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "convergence_tests.rs"]
mod tests;
