//! The results of specification rounds: gaps, proposals, reviews.

use super::header::CommonPayload;
use super::words::{NonBlankText, ReportedConfidence, ReportedGapSeverity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An inventory of gaps, or the final review of the specification.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GapInventory {
    #[serde(default)]
    pub gaps: Vec<ReportedGap>,
    /// What was examined. Always required.
    #[schemars(length(min = 1))]
    pub checks: Vec<NonBlankText>,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// A gap, before the engine gives it an id.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReportedGap {
    /// One word in capitals, such as FLOW, DATA or ERROR.
    #[schemars(regex(pattern = r"^[A-Z][A-Z0-9]*$"))]
    pub category: String,
    pub severity: ReportedGapSeverity,
    /// What is missing or unclear.
    #[schemars(extend("x-alias" = ["description", "title"]))]
    pub claim: NonBlankText,
    /// The sections that the gap affects.
    #[serde(default)]
    pub sections: Vec<String>,
    /// The gap that this one was split from.
    #[serde(default)]
    pub split_from: Option<String>,
    /// The gap that must be closed before this one, such as `GAP-FLOW-001`. The gaps in this list are numbered per
    /// category in list order, continuing after the known gaps.
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
    pub common: CommonPayload,
}

/// A solution for one gap.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GapProposal {
    /// The id of the gap, such as `GAP-FLOW-001`.
    pub gap: NonBlankText,
    pub confidence: ReportedConfidence,
    pub solution: NonBlankText,
    #[serde(default)]
    pub examples: Vec<String>,
    #[serde(default)]
    pub trade_offs: Vec<String>,
    /// The section of the specification that gets the text.
    pub section: NonBlankText,
    /// The passage that the text replaces; empty if the text is added.
    #[serde(default)]
    pub replaces: String,
    /// The text as it will appear in the specification.
    pub text: NonBlankText,
    #[serde(default)]
    pub new_gaps: Vec<ReportedGap>,
}

/// An answer to one issue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct IssueAnswer {
    /// The id of the issue, such as `ISSUE-R2-001`.
    pub issue: NonBlankText,
    pub stance: IssueStance,
    /// Required when you disagree.
    #[serde(default)]
    pub position: String,
    /// Required when you disagree.
    #[serde(default)]
    pub rationale: String,
    #[serde(default)]
    pub alternative: String,
    /// What it costs. Required when you disagree.
    #[serde(default)]
    pub trade_off: String,
    /// What the alternative costs.
    #[serde(default)]
    pub alternative_trade_off: String,
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
    /// What was checked. Always required.
    #[schemars(length(min = 1))]
    pub checks: Vec<NonBlankText>,
    #[serde(default)]
    pub new_gaps: Vec<ReportedGap>,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// The review of one proposal.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProposalReview {
    /// The gap whose proposal is reviewed.
    pub gap: NonBlankText,
    #[schemars(extend("x-alias" = ["verdict", "judgment"]))]
    pub judgement: ProposalJudgement,
    /// Required unless the judgement is `approved`.
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

/// An objection to a proposal.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReportedIssue {
    pub severity: ReportedGapSeverity,
    #[schemars(extend("x-alias" = ["description", "claim"]))]
    pub concern: NonBlankText,
    /// What meeting the concern costs, for the human who decides if the engineer disagrees.
    #[serde(default)]
    pub trade_off: String,
}
