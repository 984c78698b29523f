//! Convergence: how a round changed the number and the weight of the gaps.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::board::Board;
use super::gap::{GapId, GapStatus};
use super::row::{RoundRow, RoundState, Thresholds};

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
    /// Explains the judgement in one sentence, with the gaps it is based on.
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
            RoundState::Unreviewed => "is not a stall, because the reviewer failed".to_string(),
            RoundState::Failed => "does not count because the engineer failed".to_string(),
            RoundState::Skipped => "does not count because it was skipped".to_string(),
        };
        format!("round {} {judged}; resolved {}, new {}", self.round, list(&self.resolved), list(&self.new))
    }
}

impl Board {
    /// Counts and judges the current round; the caller appends the row.
    pub(super) fn count_round(&mut self, counting: Counting) -> RoundRow {
        let round = self.round;
        let new: Vec<GapId> =
            self.gaps().filter(|gap| gap.found_in == round).map(|gap| gap.id.clone()).collect();
        let resolved = self.moved_to(&[GapStatus::Resolved]);
        let set_aside = self.moved_to(&[GapStatus::Deferred, GapStatus::Waived]);
        let end = self.unsettled().count();
        let net = to_i64(resolved.len()) - to_i64(new.len());
        let weighted_net = self.weight(&resolved) - self.weight(&new);
        let state = match counting {
            Counting::Failed => RoundState::Failed,
            Counting::Unreviewed if self.lacks_progress(net, weighted_net) => RoundState::Unreviewed,
            Counting::Counted | Counting::Unreviewed => self.judge(net, weighted_net),
        };
        let start =
            end.saturating_add(resolved.len()).saturating_add(set_aside.len()).saturating_sub(new.len());
        let to_u32 = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        RoundRow {
            round,
            start: to_u32(start),
            resolved,
            new,
            set_aside,
            end: to_u32(end),
            net,
            weighted_net,
            state,
        }
    }

    /// Whether a round resolved too little, but did not add many gaps either.
    fn lacks_progress(&self, net: i64, weighted_net: i64) -> bool {
        let thresholds = self.rules.thresholds;
        weighted_net <= thresholds.stall_at && net >= thresholds.diverge_below
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
        ids.iter()
            .filter_map(|id| self.gaps.get(id))
            .map(|gap| self.rules.thresholds.weights.weight_of(gap))
            .sum()
    }
}

/// Whether the current round counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    Counted,
    /// It counts, but nobody judged its proposals.
    Unreviewed,
    Failed,
}

fn to_i64(n: usize) -> i64 {
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
