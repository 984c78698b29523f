//! What one round left behind: assignments, results, mishaps.

use super::history::Text;
use crate::contract::schema::gaps::{GapProposals, GapReview};
use remand_kernel::gaps::{Board, GapId};
use remand_ledger::Millis;
use std::collections::BTreeMap;

/// Everything that happened in one round.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    pub round: u32,
    /// The gaps of each batch, once they were assigned.
    pub batches: BTreeMap<String, Vec<GapId>>,
    /// The newest result of each batch.
    pub proposals: BTreeMap<String, GapProposals>,
    /// The summaries of these results.
    pub said: BTreeMap<String, String>,
    pub review: Option<GapReview>,
    /// Why there is no review, where one was asked for.
    pub unreviewed: Option<String>,
    pub mishaps: Vec<Mishap>,
    /// What the engine had to say when the round was closed.
    pub remarks: Vec<String>,
    /// What the close of the round said; empty before.
    pub end: String,
    /// The document and the board when the round was over.
    pub text: Option<Text>,
    pub board: Option<Board>,
    pub begun_at: Option<Millis>,
    pub closed_at: Option<Millis>,
}

/// A dispatch that brought no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mishap {
    pub at: Millis,
    pub role: String,
    pub item: Option<String>,
    /// The failure and its detail.
    pub what: String,
    pub tried_again: bool,
}

impl Sheet {
    pub fn of(round: u32) -> Sheet {
        Sheet { round, ..Sheet::default() }
    }

    /// Tells whether anything happened in the round.
    pub fn is_blank(&self) -> bool {
        self.batches.is_empty() && self.mishaps.is_empty() && self.proposals.is_empty()
    }

    /// Tells whether the engineers had their turn and had nothing.
    pub fn is_without_proposal(&self) -> bool {
        !self.proposals.is_empty() && self.proposals.values().all(|result| result.proposals.is_empty())
    }
}
