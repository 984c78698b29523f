//! The result of a verifier: a judgement of each acceptance criterion.

use super::finding::ReportedPlace;
use super::header::CommonPayload;
use super::words::NonBlankText;
use remand_kernel::criteria;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A judgement of each acceptance criterion of a task.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    #[schemars(extend("x-alias" = ["task_id"]))]
    pub task: NonBlankText,
    #[schemars(length(min = 1))]
    pub criteria: Vec<ReportedJudgement>,
    /// Commands that show that the program runs, at most 5 lines. The engine runs them.
    #[serde(default)]
    #[schemars(length(max = 5))]
    pub smoke: Vec<String>,
    /// Why the program cannot be run here.
    #[serde(default)]
    pub smoke_infeasible: Option<String>,
    #[serde(default)]
    pub notes: String,
    #[serde(flatten)]
    pub common: CommonPayload,
}

/// The judgement of one criterion. `place` or `row` is required.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Judgement")]
pub struct ReportedJudgement {
    /// The id of the criterion.
    #[schemars(extend("x-alias" = ["id", "criterion_id"]))]
    pub criterion: NonBlankText,
    pub met: CriterionStatus,
    /// The location in the code that proves the judgement.
    #[serde(default)]
    pub place: ReportedPlace,
    /// The evidence row that proves the judgement.
    #[serde(default)]
    pub row: Option<String>,
    #[serde(default)]
    pub reason: String,
}

/// Whether a criterion is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-same" = {"true": "met", "yes": "met", "passed": "met", "pass": "met",
    "false": "not-met", "no": "not-met", "unmet": "not-met", "failed": "not-met", "fail": "not-met"}))]
#[schemars(rename = "Met")]
pub enum CriterionStatus {
    Met,
    NotMet,
}

impl ReportedJudgement {
    pub fn is_met(&self) -> bool {
        match self.met {
            CriterionStatus::Met => true,
            CriterionStatus::NotMet => false,
        }
    }

    pub(crate) fn row(&self) -> Option<&str> {
        self.row.as_deref().map(str::trim).filter(|row| !row.is_empty())
    }
}

impl From<&ReportedJudgement> for criteria::CriterionJudgement {
    fn from(it: &ReportedJudgement) -> criteria::CriterionJudgement {
        let row = it.row().map(|row| criteria::Proof::Row(row.to_string()));
        let place = it.place.is_given().then(|| criteria::Proof::Place(it.place.clone().into()));
        criteria::CriterionJudgement {
            criterion: it.criterion.0.clone(),
            met: it.is_met(),
            proof: row.or(place),
        }
    }
}
