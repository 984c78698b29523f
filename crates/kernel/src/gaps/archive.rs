//! The archive of rounds: how each began, and what was rolled back. Nothing in it is ever deleted (SR-11).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::convergence::{Counting, RoundRow, RoundState};

/// The boards at the start of each round of the present line, and every rollback.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    starts: BTreeMap<u32, Board>,
    rollbacks: Vec<Rollback>,
}

/// One rollback: the rounds it archived and what the retry is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Rollback {
    /// Counts the rollbacks of the run from 1.
    pub number: u32,
    pub cause: RollbackCause,
    /// The round restored, the first in `rounds`.
    pub to: u32,
    pub rounds: Vec<ArchivedRound>,
}

/// Why rounds were archived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RollbackCause {
    Requested(RollbackRequest),
    /// No rollback was left, and an archived attempt was better; spends nothing.
    BestAdopted,
}

/// A round that was rolled back: the board at its start and as it was when the next began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ArchivedRound {
    pub round: u32,
    pub start: Board,
    pub end: Board,
}

/// What the user says when rolling back.
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
    /// The round is left out; the next one begins from where it began.
    Skip,
}

/// One try at a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Attempt {
    /// Where it began.
    pub round: u32,
    /// The round that counts: a later one if the engineers failed before it.
    pub until: u32,
    /// The rollback that archived it; none for the present line.
    pub rollback: Option<u32>,
    pub weighted_net: i64,
}

/// Why a round is not restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RollbackError {
    #[error("round {round} is not in the present line: restore one of the rounds that have begun")]
    NotBegun { round: u32 },
    #[error("round {round} was rolled back {limit} times, which is the limit: proceed with its best attempt")]
    RoundLimit { round: u32, limit: u32 },
    #[error(
        "the run was rolled back {limit} times, which is the limit: proceed with round {round}'s best attempt"
    )]
    RunLimit { round: u32, limit: u32 },
    #[error("round {round} can still be rolled back: restore it instead of taking its best attempt")]
    StillAllowed { round: u32 },
    #[error("round {round} has no attempt that counts: pause or abandon the run")]
    NoAttempt { round: u32 },
}

impl Rounds {
    /// Keeps the board as it is at the start of its round. Saying so again, after a crash, changes nothing.
    pub fn start(&mut self, board: &Board) {
        self.starts.entry(board.round).or_insert_with(|| board.clone());
    }

    /// Brings back the board, statuses and decisions, of the start of a round; that round and all later ones
    /// are archived as one rollback. Ids given meanwhile stay given.
    pub fn restore(&mut self, board: &Board, request: RollbackRequest) -> Result<Board, RollbackError> {
        self.check_limits(board, request.round)?;
        self.follow(board, request)
    }

    /// Restores a round that the workflow's own budgets let go back, whatever the limits here say.
    pub fn follow(&mut self, board: &Board, request: RollbackRequest) -> Result<Board, RollbackError> {
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

    /// The best of the tries that began at a round, archived ones included: the highest weighted net, the latest on a tie. Tries
    /// that began from other earlier rounds than the present ones are left out.
    pub fn best(&self, board: &Board, round: u32) -> Option<Attempt> {
        self.attempts(board, round).into_iter().max_by_key(|attempt| attempt.weighted_net)
    }

    /// Goes on with the best try at a round once no rollback is left for it.
    pub fn proceed_with_best(&mut self, board: &Board, round: u32) -> Result<Board, RollbackError> {
        if self.check_limits(board, round).is_ok() {
            return Err(RollbackError::StillAllowed { round });
        }
        self.adopt_best(board, round)
    }

    /// Goes on with the best try at a round; the caller knows that it cannot be tried again.
    pub fn adopt_best(&mut self, board: &Board, round: u32) -> Result<Board, RollbackError> {
        let best = self.best(board, round).ok_or(RollbackError::NoAttempt { round })?;
        let archived = self.archived(best);
        if archived.is_empty() {
            return Ok(board.clone());
        }
        self.archive(board, round, RollbackCause::BestAdopted);
        let end = archived.last().map_or_else(|| board.clone(), |last| last.end.clone());
        self.starts.extend(archived.into_iter().map(|archived| (archived.round, archived.start)));
        Ok(Board { issued: board.issued.clone(), max_rounds: board.max_rounds, ..end })
    }

    /// Every rollback so far, oldest first; the newest requested one holds what the retry is told.
    pub fn rollbacks(&self) -> &[Rollback] {
        &self.rollbacks
    }

    /// Tells whether a round of the present line may be restored once more.
    pub fn check(&self, board: &Board, round: u32) -> Result<(), RollbackError> {
        if !self.starts.contains_key(&round) {
            return Err(RollbackError::NotBegun { round });
        }
        self.check_limits(board, round)
    }

    /// The rounds of the present line, those that have begun.
    pub fn begun(&self) -> impl Iterator<Item = u32> + '_ {
        self.starts.keys().copied()
    }

    fn check_limits(&self, board: &Board, round: u32) -> Result<(), RollbackError> {
        let (per_round, per_run) = (board.rules.rollbacks_per_round, board.rules.rollbacks_per_run);
        let requested: Vec<u32> = self.rollbacks.iter().filter_map(Rollback::requested_round).collect();
        if at_least(requested.len(), per_run) {
            return Err(RollbackError::RunLimit { round, limit: per_run });
        }
        if at_least(requested.iter().filter(|to| **to == round).count(), per_round) {
            return Err(RollbackError::RoundLimit { round, limit: per_round });
        }
        Ok(())
    }

    /// The rounds that were begun after this one and stay spent: a rollback gives none of them back, and has a limit of
    /// its own for the one that it does again (CORE-11). Rounds that do not count cost none.
    fn spent_since(&self, board: &Board, round: u32) -> u32 {
        let uncounted = |round: u32| board.rows.iter().any(|row| row.round == round && !row.state.counts());
        let begun = self.starts.range(round..).filter(|(round, _)| !uncounted(**round)).count();
        u32::try_from(begun).unwrap_or(u32::MAX).saturating_sub(1)
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
        self.rollbacks.push(Rollback { number, cause, to: round, rounds });
    }

    fn attempts(&self, board: &Board, round: u32) -> Vec<Attempt> {
        let archived = self.rollbacks_of(round).filter_map(|rollback| {
            let counted = rollback.rounds.iter().find_map(|archived| {
                counted_row(&archived.end, round).filter(|row| row.round == archived.round)
            });
            Some((Some(rollback.number), counted?))
        });
        let attempt = |(rollback, row): (Option<u32>, &RoundRow)| Attempt {
            round,
            until: row.round,
            rollback,
            weighted_net: row.weighted_net,
        };
        archived.chain(counted_row(board, round).map(|row| (None, row))).map(attempt).collect()
    }

    /// The rollbacks to a round since its past last changed: an older try stands on rounds that are gone.
    fn rollbacks_of(&self, round: u32) -> impl Iterator<Item = &Rollback> {
        let past = self.rollbacks.iter().rposition(|rollback| rollback.to < round);
        let first = past.map_or(0, |at| at.saturating_add(1));
        self.rollbacks.iter().skip(first).filter(move |rollback| rollback.to == round)
    }

    /// The rounds of an attempt that was archived, in order; none for the present line.
    fn archived(&self, attempt: Attempt) -> Vec<ArchivedRound> {
        let of_it = self.rollbacks.iter().filter(|rollback| Some(rollback.number) == attempt.rollback);
        let rounds = of_it.flat_map(|rollback| &rollback.rounds);
        rounds.filter(|archived| (attempt.round..=attempt.until).contains(&archived.round)).cloned().collect()
    }
}

/// The folder of a round that was rolled back; the run's rollbacks are numbered from 1.
pub fn archive_name(round: u32, rollback: u32) -> String {
    alloc::format!("round_{round:03}_rolled_back_{rollback}")
}

impl Rollback {
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

/// The first round from this one on that counts.
fn counted_row(board: &Board, from: u32) -> Option<&RoundRow> {
    board.rows.iter().find(|row| row.round >= from && row.state.counts())
}

fn at_least(count: usize, limit: u32) -> bool {
    u32::try_from(count).unwrap_or(u32::MAX) >= limit
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
