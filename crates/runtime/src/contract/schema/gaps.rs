//! What the roles of the specification rounds return: gaps, proposals, reviews (SR-14).

use super::header::Said;
use super::words::{Confidence, GapSeverity, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An inventory of gaps, or the last look at the whole.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GapInventory {
    #[serde(default)]
    pub gaps: Vec<ReportedGap>,
    /// What was looked at; never left out.
    #[schemars(length(min = 1))]
    pub checks: Vec<Text>,
    #[serde(flatten)]
    pub said: Said,
}

/// A gap, before the engine gives it an id.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReportedGap {
    /// One word of capitals, as in FLOW, DATA, ERROR.
    #[schemars(regex(pattern = r"^[A-Z][A-Z0-9]*$"))]
    pub category: String,
    pub severity: GapSeverity,
    /// What is open.
    #[schemars(extend("x-alias" = ["description", "title"]))]
    pub claim: Text,
    /// The sections that it touches.
    #[serde(default)]
    pub sections: Vec<String>,
    /// The gap that this one was part of.
    #[serde(default)]
    pub split_from: Option<String>,
    /// The gap that must be closed before this one, as in `GAP-FLOW-001`. The gaps of this list are numbered category
    /// by category, in their order, after those that are known.
    #[serde(default)]
    pub waits_for: Option<String>,
}

/// Proposals that close gaps.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GapProposals {
    #[serde(default)]
    pub proposals: Vec<GapProposal>,
    /// Answers to the issues of the last review.
    #[serde(default)]
    pub answers: Vec<IssueAnswer>,
    #[serde(default)]
    pub new_gaps: Vec<ReportedGap>,
    #[serde(flatten)]
    pub said: Said,
}

/// A solution for one gap.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GapProposal {
    /// As in `GAP-FLOW-001`.
    pub gap: Text,
    pub confidence: Confidence,
    pub solution: Text,
    #[serde(default)]
    pub examples: Vec<String>,
    #[serde(default)]
    pub trade_offs: Vec<String>,
    /// The section of the specification that the text is for.
    pub section: Text,
    /// The passage that the text stands in for; empty when it is added.
    #[serde(default)]
    pub replaces: String,
    /// The text as it will stand in the specification.
    pub text: Text,
    #[serde(default)]
    pub new_gaps: Vec<ReportedGap>,
}

/// An answer to one issue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct IssueAnswer {
    /// As in `ISSUE-R2-001`.
    pub issue: Text,
    pub stance: IssueStance,
    /// Required when you disagree.
    #[serde(default)]
    pub position: String,
    /// Required when you disagree.
    #[serde(default)]
    pub rationale: String,
    #[serde(default)]
    pub alternative: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-same" = {"agreed": "agree", "accept": "agree", "disagreed": "disagree", "reject": "disagree"}))]
pub enum IssueStance {
    Agree,
    Disagree,
}

/// A review, proposal by proposal.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GapReview {
    #[serde(default)]
    pub reviews: Vec<ProposalReview>,
    /// What was checked; never left out.
    #[schemars(length(min = 1))]
    pub checks: Vec<Text>,
    #[serde(default)]
    pub new_gaps: Vec<ReportedGap>,
    #[serde(flatten)]
    pub said: Said,
}

/// The review of one proposal.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProposalReview {
    /// The gap whose proposal it is.
    pub gap: Text,
    #[schemars(extend("x-alias" = ["verdict", "judgment"]))]
    pub judgement: ProposalJudgement,
    /// Required unless it is plainly approved.
    #[serde(default)]
    pub note: String,
    #[serde(default)]
    pub issues: Vec<ReportedIssue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-same" = {"approve": "approved", "approved with notes": "approved-with-note"}))]
pub enum ProposalJudgement {
    Approved,
    ApprovedWithNote,
    NeedsRevision,
}

/// Something held against a proposal.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReportedIssue {
    pub severity: GapSeverity,
    #[schemars(extend("x-alias" = ["description", "claim"]))]
    pub concern: Text,
}
