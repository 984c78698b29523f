//! What a verifier returns: a judgement for each acceptance criterion (EP-33).

use super::finding::Place;
use super::header::Said;
use super::words::Text;
use remand_kernel::criteria;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    #[schemars(extend("x-alias" = ["task_id"]))]
    pub task: Text,
    #[schemars(length(min = 1))]
    pub criteria: Vec<Judgement>,
    /// Commands that show the program running, at most 5 lines; the engine runs them.
    #[serde(default)]
    #[schemars(length(max = 5))]
    pub smoke: Vec<String>,
    /// Why the program cannot be run here.
    #[serde(default)]
    pub smoke_infeasible: Option<String>,
    #[serde(default)]
    pub notes: String,
    #[serde(flatten)]
    pub said: Said,
}

/// The judgement of one criterion: a place or a row is required.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The id of the criterion.
    #[schemars(extend("x-alias" = ["id", "criterion_id"]))]
    pub criterion: Text,
    pub met: Met,
    /// Where the code shows it.
    #[serde(default)]
    pub place: Place,
    /// The row of evidence that shows it.
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
pub enum Met {
    Met,
    NotMet,
}

impl Judgement {
    pub fn is_met(&self) -> bool {
        match self.met {
            Met::Met => true,
            Met::NotMet => false,
        }
    }

    pub(in crate::contract) fn row(&self) -> Option<&str> {
        self.row.as_deref().map(str::trim).filter(|row| !row.is_empty())
    }
}

impl From<&Judgement> for criteria::CriterionJudgement {
    fn from(it: &Judgement) -> criteria::CriterionJudgement {
        let row = it.row().map(|row| criteria::Proof::Row(row.to_string()));
        let place = it.place.is_given().then(|| criteria::Proof::Place(it.place.clone().into()));
        criteria::CriterionJudgement {
            criterion: it.criterion.0.clone(),
            met: it.is_met(),
            proof: row.or(place),
        }
    }
}
