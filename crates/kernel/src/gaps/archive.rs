//! The archive of rounds: the board at the start of each round, and every rollback. Nothing is ever deleted.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::convergence::Counting;
use super::row::{RoundRow, RoundState};

/// The boards at the start of each current round, and every rollback.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    starts: BTreeMap<u32, Board>,
    rollbacks: Vec<RoundRollback>,
}

/// One rollback: the rounds it archived, and the request with the instructions for the retry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoundRollback {
    /// 1-based number of the rollback in the run.
    pub number: u32,
    pub cause: RollbackCause,
    /// The restored round, the first in `rounds`.
    pub to: u32,
    pub rounds: Vec<ArchivedRound>,
}

/// Why rounds were archived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RollbackCause {
    Requested(RollbackRequest),
    /// No rollback was left, and an archived attempt was better. This does not count towards the limits.
    BestAdopted,
}

/// A round that was rolled back: the board at its start and at the start of the next round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ArchivedRound {
    pub round: u32,
    pub start: Board,
    pub end: Board,
}

/// A user's request to roll back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RollbackRequest {
    pub round: u32,
    pub mode: RetryMode,
    pub reason: String,
    #[serde(default)]
    pub errors: Vec<String>,
    #[serde(default)]
    pub adjustments: Vec<String>,
}

/// How a restored round is tried again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryMode {
    #[default]
    SamePrompt,
    Narrowed,
    ExtraContext,
    /// The round is skipped; the next one starts from the same board.
    Skip,
}

/// One attempt at a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoundAttempt {
    /// The round in which the attempt started.
    pub round: u32,
    /// The round that counts; it is later than `round` if the engineers failed at first.
    pub until: u32,
    /// The rollback that archived the attempt; `None` for the current attempt.
    pub rollback: Option<u32>,
    pub weighted_net: i64,
}

/// Why a round cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RollbackError {
    #[error("round {round} has not started: restore one of the rounds that have")]
    NotBegun { round: u32 },
    #[error(
        "round {round} was already rolled back {limit} times, which is the limit: continue with its best attempt"
    )]
    RoundLimit { round: u32, limit: u32 },
    #[error(
        "the run was already rolled back {limit} times, which is the limit: continue with round {round}'s best attempt"
    )]
    RunLimit { round: u32, limit: u32 },
    #[error("round {round} can still be rolled back: restore it instead of using its best attempt")]
    StillAllowed { round: u32 },
    #[error("round {round} has no attempt that counts: pause or abandon the run")]
    NoAttempt { round: u32 },
}

impl Rounds {
    /// Records the board at the start of its round. Recording it again, after a crash, changes nothing.
    pub fn start(&mut self, board: &Board) {
        self.starts.entry(board.round).or_insert_with(|| board.clone());
    }

    /// Restores the board from the start of a round, with its statuses and decisions. That round and all later ones are
    /// archived as one rollback. Ids assigned since then are not reused.
    pub fn restore(&mut self, board: &Board, request: RollbackRequest) -> Result<Board, RollbackError> {
        self.check_limits(board, request.round)?;
        self.restore_unlimited(board, request)
    }

    /// Restores a round without checking the limits of the board, because the workflow's budgets allowed it.
    pub fn restore_unlimited(
        &mut self,
        board: &Board,
        request: RollbackRequest,
    ) -> Result<Board, RollbackError> {
        let (round, mode) = (request.round, request.mode);
        let start = self.starts.get(&round).ok_or(RollbackError::NotBegun { round })?.clone();
        let spent = self.spent_since(board, round);
        self.archive(board, round, RollbackCause::Requested(request));
        let max_rounds = board.max_rounds.saturating_sub(spent);
        let mut restored = Board { issued: board.issued.clone(), max_rounds, ..start };
        match mode {
            RetryMode::SamePrompt | RetryMode::Narrowed | RetryMode::ExtraContext => {}
            RetryMode::Skip => restored.skip_round(),
        }
        Ok(restored)
    }

    /// The best attempt at a round, including archived ones: the one with the highest weighted net or, if several have
    /// it, the latest. Attempts that build on rounds that are no longer current are left out.
    pub fn best(&self, board: &Board, round: u32) -> Option<RoundAttempt> {
        self.attempts(board, round).into_iter().max_by_key(|attempt| attempt.weighted_net)
    }

    /// Continues with the best attempt at a round that has no rollback left.
    pub fn proceed_with_best(&mut self, board: &Board, round: u32) -> Result<Board, RollbackError> {
        if self.check_limits(board, round).is_ok() {
            return Err(RollbackError::StillAllowed { round });
        }
        self.adopt_best(board, round)
    }

    /// Continues with the best attempt at a round. The caller has checked that no rollback is left.
    pub fn adopt_best(&mut self, board: &Board, round: u32) -> Result<Board, RollbackError> {
        let best = self.best(board, round).ok_or(RollbackError::NoAttempt { round })?;
        let archived = self.archived_rounds(best);
        if archived.is_empty() {
            return Ok(board.clone());
        }
        self.archive(board, round, RollbackCause::BestAdopted);
        let end = archived.last().map_or_else(|| board.clone(), |last| last.end.clone());
        self.starts.extend(archived.into_iter().map(|archived| (archived.round, archived.start)));
        Ok(Board { issued: board.issued.clone(), max_rounds: board.max_rounds, ..end })
    }

    /// Every rollback so far, oldest first; the latest request holds the instructions for the retry.
    pub fn rollbacks(&self) -> &[RoundRollback] {
        &self.rollbacks
    }

    /// Checks that a round can be restored again.
    pub fn check(&self, board: &Board, round: u32) -> Result<(), RollbackError> {
        if !self.starts.contains_key(&round) {
            return Err(RollbackError::NotBegun { round });
        }
        self.check_limits(board, round)
    }

    /// The current rounds that have started.
    pub fn started(&self) -> impl Iterator<Item = u32> + '_ {
        self.starts.keys().copied()
    }

    fn check_limits(&self, board: &Board, round: u32) -> Result<(), RollbackError> {
        let (per_round, per_run) = (board.rules.rollbacks_per_round, board.rules.rollbacks_per_run);
        let requested: Vec<u32> = self.rollbacks.iter().filter_map(RoundRollback::requested_round).collect();
        if at_least(requested.len(), per_run) {
            return Err(RollbackError::RunLimit { round, limit: per_run });
        }
        if at_least(requested.iter().filter(|to| **to == round).count(), per_round) {
            return Err(RollbackError::RoundLimit { round, limit: per_round });
        }
        Ok(())
    }

    /// The number of rounds after this one that stay spent. A rollback refunds none of them; the repeated round has a
    /// separate limit, and rounds that do not count are free.
    fn spent_since(&self, board: &Board, round: u32) -> u32 {
        let is_uncounted =
            |round: u32| board.rows.iter().any(|row| row.round == round && !row.state.counts());
        let started = self.starts.range(round..).filter(|(round, _)| !is_uncounted(**round)).count();
        u32::try_from(started).unwrap_or(u32::MAX).saturating_sub(1)
    }

    fn archive(&mut self, board: &Board, round: u32, cause: RollbackCause) {
        let number = u32::try_from(self.rollbacks.len()).unwrap_or(u32::MAX).saturating_add(1);
        let starts = self.starts.split_off(&round);
        let ends = starts.values().skip(1).cloned().chain([board.clone()]);
        let rounds = starts.iter().zip(ends).map(|((round, start), end)| ArchivedRound {
            round: *round,
            start: start.clone(),
            end,
        });
        let rounds = rounds.collect();
        self.rollbacks.push(RoundRollback { number, cause, to: round, rounds });
    }

    fn attempts(&self, board: &Board, round: u32) -> Vec<RoundAttempt> {
        let archived = self.rollbacks_of(round).filter_map(|rollback| {
            let counted = rollback.rounds.iter().find_map(|archived| {
                counted_row(&archived.end, round).filter(|row| row.round == archived.round)
            });
            Some((Some(rollback.number), counted?))
        });
        let attempt = |(rollback, row): (Option<u32>, &RoundRow)| RoundAttempt {
            round,
            until: row.round,
            rollback,
            weighted_net: row.weighted_net,
        };
        archived.chain(counted_row(board, round).map(|row| (None, row))).map(attempt).collect()
    }

    /// The rollbacks to a round since an earlier round last changed; older attempts build on rounds that are gone.
    fn rollbacks_of(&self, round: u32) -> impl Iterator<Item = &RoundRollback> {
        let last_change = self.rollbacks.iter().rposition(|rollback| rollback.to < round);
        let first = last_change.map_or(0, |at| at.saturating_add(1));
        self.rollbacks.iter().skip(first).filter(move |rollback| rollback.to == round)
    }

    /// The rounds of an archived attempt, in order; empty for the current attempt.
    fn archived_rounds(&self, attempt: RoundAttempt) -> Vec<ArchivedRound> {
        let rollback = self.rollbacks.iter().filter(|rollback| Some(rollback.number) == attempt.rollback);
        let rounds = rollback.flat_map(|rollback| &rollback.rounds);
        rounds.filter(|archived| (attempt.round..=attempt.until).contains(&archived.round)).cloned().collect()
    }
}

/// The folder name of a round that was rolled back; rollbacks are numbered from 1.
pub fn archive_name(round: u32, rollback: u32) -> String {
    alloc::format!("round_{round:03}_rolled_back_{rollback}")
}

impl RoundRollback {
    fn requested_round(&self) -> Option<u32> {
        match self.cause {
            RollbackCause::Requested(_) => Some(self.to),
            RollbackCause::BestAdopted => None,
        }
    }
}

impl Board {
    fn skip_round(&mut self) {
        let row = self.count_round(Counting::Failed);
        self.rows.push(RoundRow { state: RoundState::Skipped, ..row });
        self.round = self.round.saturating_add(1);
    }
}

/// The row of the first counted round from `from` on.
fn counted_row(board: &Board, from: u32) -> Option<&RoundRow> {
    board.rows.iter().find(|row| row.round >= from && row.state.counts())
}

fn at_least(count: usize, limit: u32) -> bool {
    u32::try_from(count).unwrap_or(u32::MAX) >= limit
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
