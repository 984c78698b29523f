//! What the two roles delivered in one round, as the engine read it.

use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::gap::{GapId, NewGap, Proposal};
use super::issue::{EngineerAnswer, NewIssue};
use super::section::SectionPaths;

/// Everything needed to close a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoundInput {
    /// The round that these outputs belong to; outputs of another round are refused.
    pub round: u32,
    pub engineer: EngineerTurn,
    /// The gaps assigned to the engineers who delivered. An engineer who was not asked about a gap was not silent on
    /// it.
    #[serde(default)]
    pub asked: Vec<GapId>,
    pub reviewer: ReviewerTurn,
    pub autonomy: Autonomy,
    /// Accepted proposals whose text the host could not insert into the document.
    #[serde(default)]
    pub unplaced: Vec<Unplaced>,
    /// The path in the document for each section name in the proposals.
    #[serde(default)]
    pub places: SectionPaths,
}

/// Whether a user is available to decide.
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

/// What an engineer delivered; all empty means "nothing to propose".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct EngineerOutput {
    pub proposals: Vec<Proposal>,
    pub answers: Vec<EngineerAnswer>,
    pub new_gaps: Vec<NewGap>,
}

/// How the reviewer's turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewerTurn {
    /// There was no turn, because the engineer failed or delivered nothing.
    Skipped,
    Failed {
        why: String,
    },
    Delivered(ReviewerOutput),
}

/// What a reviewer delivered. An output with only `checks` means "no issues"; an empty output is silence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct ReviewerOutput {
    pub verdicts: Vec<ProposalVerdict>,
    pub issues: Vec<NewIssue>,
    pub checks: Vec<String>,
    pub new_gaps: Vec<NewGap>,
}

/// A reviewer's verdict on one proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalVerdict {
    pub gap: GapId,
    pub judgement: ReviewerJudgement,
}

/// A reviewer's judgement of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewerJudgement {
    Approved,
    ApprovedWithNote(String),
    NeedsRevision(String),
}

/// An accepted proposal whose text could not be inserted into the document, and why.
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
    /// Whether the output says nothing about any gap; checks do not count.
    pub fn is_empty(&self) -> bool {
        self.verdicts.is_empty() && self.issues.is_empty() && self.new_gaps.is_empty()
    }

    /// Whether the review found nothing and lists what it checked.
    pub fn is_clean(&self) -> bool {
        let approved = |verdict: &ProposalVerdict| match verdict.judgement {
            ReviewerJudgement::Approved | ReviewerJudgement::ApprovedWithNote(_) => true,
            ReviewerJudgement::NeedsRevision(_) => false,
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
