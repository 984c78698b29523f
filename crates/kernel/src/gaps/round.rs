//! What the two roles delivered in one round, as the engine understood it (SR-04, SR-05, SR-14).

use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::gap::{GapId, NewGap};
use super::issue::{Answer, NewIssue};
use super::overlap::Proposal;
use super::section::Places;

/// All that closing a round needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoundInput {
    /// The round these outputs belong to; a late or doubled one is refused.
    pub round: u32,
    pub engineer: EngineerTurn,
    /// The gaps that the engineers who delivered were given. Who was not asked about a gap was not silent on it.
    #[serde(default)]
    pub asked: Vec<GapId>,
    pub reviewer: ReviewerTurn,
    pub autonomy: Autonomy,
    /// Accepted texts that the host could not put into the document.
    #[serde(default)]
    pub unplaced: Vec<Unplaced>,
    /// What the document makes of the sections that proposals name.
    #[serde(default)]
    pub places: Places,
}

/// Whether a user is there to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Autonomy {
    Interactive,
    Autonomous,
}

/// How the engineer's turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineerTurn {
    Failed { why: String },
    Delivered(EngineerOutput),
}

/// What an engineer delivered; all empty is "nothing to propose".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct EngineerOutput {
    pub proposals: Vec<Proposal>,
    pub answers: Vec<Answer>,
    pub new_gaps: Vec<NewGap>,
}

/// How the reviewer's turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewerTurn {
    /// There was no turn, because the engineer failed or had nothing.
    Skipped,
    Failed {
        why: String,
    },
    Delivered(ReviewerOutput),
}

/// What a reviewer delivered. "No issues" is `checks` with nothing else; without checks it is silence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct ReviewerOutput {
    pub verdicts: Vec<Verdict>,
    pub issues: Vec<NewIssue>,
    pub checks: Vec<String>,
    pub new_gaps: Vec<NewGap>,
}

/// A reviewer's word on one proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub gap: GapId,
    pub judgement: Judgement,
}

/// What a reviewer thinks of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    Approved,
    ApprovedWithNote(String),
    NeedsRevision(String),
}

/// An accepted text that could not be put into the document, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unplaced {
    pub gap: GapId,
    pub why: String,
}

impl EngineerOutput {
    pub fn is_empty(&self) -> bool {
        self.proposals.is_empty() && self.answers.is_empty() && self.new_gaps.is_empty()
    }
}

impl ReviewerOutput {
    /// Tells whether the reviewer had nothing to say about any gap; the checks performed are no such word.
    pub fn is_empty(&self) -> bool {
        self.verdicts.is_empty() && self.issues.is_empty() && self.new_gaps.is_empty()
    }

    /// Tells whether the review found nothing and says what it looked at.
    pub fn is_clean(&self) -> bool {
        let approved = |verdict: &Verdict| match verdict.judgement {
            Judgement::Approved | Judgement::ApprovedWithNote(_) => true,
            Judgement::NeedsRevision(_) => false,
        };
        !self.checks.is_empty()
            && self.issues.is_empty()
            && self.new_gaps.is_empty()
            && self.verdicts.iter().all(approved)
    }
}

impl RoundInput {
    pub(super) fn is_empty(&self) -> bool {
        let engineer = match &self.engineer {
            EngineerTurn::Failed { .. } => true,
            EngineerTurn::Delivered(output) => output.is_empty(),
        };
        let reviewer = match &self.reviewer {
            ReviewerTurn::Skipped | ReviewerTurn::Failed { .. } => true,
            ReviewerTurn::Delivered(output) => output.is_empty(),
        };
        engineer && reviewer
    }
}
