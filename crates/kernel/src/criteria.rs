//! The acceptance criteria of an issue at the end of a run: ticked, left open, or filed as follow-ups.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use crate::finding::Location;

/// One acceptance criterion of the parent issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptanceCriterion {
    /// Unique within its issue.
    pub id: String,
    pub text: String,
    /// Whether an earlier run ticked the criterion, which then stays ticked.
    #[serde(default)]
    pub ticked: bool,
}

/// The final review's judgement of one criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CriterionJudgement {
    pub criterion: String,
    pub met: bool,
    #[serde(default)]
    pub proof: Option<Proof>,
}

/// What a reviewer cites as proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// The id of a ledger row.
    Row(String),
    Place(Location),
}

/// The evidence that a reviewer can cite: rows and files that the engine recorded in this run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct KnownEvidence {
    /// The ids of the passing rows of this run.
    pub rows: BTreeSet<String>,
    /// The files of the final diff.
    pub files: BTreeSet<String>,
}

/// A criterion handed to a sub-issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handover {
    pub criterion: String,
    pub issue: String,
    pub done: bool,
}

/// The state of the parent issue after the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Settlement {
    pub status: IssueStatus,
    /// The ids of all ticked criteria, in the order of the issue.
    pub ticked: Vec<String>,
    /// Open criteria that no sub-issue covers; each is filed as a follow-up.
    pub follow_ups: Vec<AcceptanceCriterion>,
    /// Why judgements had no effect, one sentence each.
    pub refused: Vec<String>,
}

/// The status of an issue after a run that committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IssueStatus {
    Done,
    InProgress,
}

/// Why criteria cannot be settled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CriteriaError {
    #[error("the issue has two criteria `{criterion}`: give each a unique id")]
    Twice { criterion: String },
    #[error(
        "sub-issue {issue} was handed `{criterion}`, which its parent issue does not have: hand over one of the parent's"
    )]
    UnknownHandover { criterion: String, issue: String },
}

/// Settles the criteria of the parent issue. A criterion that was handed over is ticked if all its sub-issues are done.
/// Any other criterion is ticked if the final review judges it met and cites known evidence.
pub fn settle(
    criteria: &[AcceptanceCriterion],
    judgements: &[CriterionJudgement],
    handovers: &[Handover],
    known: &KnownEvidence,
) -> Result<Settlement, CriteriaError> {
    check_ids(criteria, handovers)?;
    let mut settlement = Settlement {
        status: IssueStatus::Done,
        ticked: Vec::new(),
        follow_ups: Vec::new(),
        refused: unknown_criteria(criteria, judgements),
    };
    for criterion in criteria {
        let mut covering = handovers.iter().filter(|handover| handover.criterion == criterion.id).peekable();
        let is_covered = covering.peek().is_some();
        let is_ticked = if criterion.ticked {
            true
        } else if is_covered {
            covering.all(|handover| handover.done)
        } else {
            is_met(criterion, judgements, known, &mut settlement.refused)
        };
        if is_ticked {
            settlement.ticked.push(criterion.id.clone());
        } else {
            settlement.status = IssueStatus::InProgress;
            settlement.follow_ups.extend((!is_covered).then(|| criterion.clone()));
        }
    }
    Ok(settlement)
}

fn check_ids(criteria: &[AcceptanceCriterion], handovers: &[Handover]) -> Result<(), CriteriaError> {
    let mut ids = BTreeSet::new();
    for criterion in criteria {
        if !ids.insert(criterion.id.as_str()) {
            return Err(CriteriaError::Twice { criterion: criterion.id.clone() });
        }
    }
    match handovers.iter().find(|handover| !ids.contains(handover.criterion.as_str())) {
        Some(Handover { criterion, issue, .. }) => {
            Err(CriteriaError::UnknownHandover { criterion: criterion.clone(), issue: issue.clone() })
        }
        None => Ok(()),
    }
}

fn unknown_criteria(criteria: &[AcceptanceCriterion], judgements: &[CriterionJudgement]) -> Vec<String> {
    judgements
        .iter()
        .filter(|judgement| !criteria.iter().any(|criterion| criterion.id == judgement.criterion))
        .map(|judgement| format!("the issue has no criterion `{}`", judgement.criterion))
        .collect()
}

/// Whether all judgements of the criterion are "met" and at least one has valid proof.
fn is_met(
    criterion: &AcceptanceCriterion,
    judgements: &[CriterionJudgement],
    known: &KnownEvidence,
    refused: &mut Vec<String>,
) -> bool {
    let relevant: Vec<&CriterionJudgement> =
        judgements.iter().filter(|judgement| judgement.criterion == criterion.id).collect();
    if relevant.is_empty() || relevant.iter().any(|judgement| !judgement.met) {
        return false;
    }
    let problems: Vec<String> =
        relevant.iter().filter_map(|judgement| proof_problem(judgement.proof.as_ref(), known)).collect();
    let is_met = problems.len() < relevant.len();
    if !is_met {
        refused.extend(problems.iter().map(|why| format!("`{}` was judged met, but {why}", criterion.id)));
    }
    is_met
}

/// Why a proof is invalid; `None` if it is valid.
fn proof_problem(proof: Option<&Proof>, known: &KnownEvidence) -> Option<String> {
    match proof {
        None => Some("no row or location is cited".to_string()),
        Some(Proof::Row(row)) if known.rows.contains(row) => None,
        Some(Proof::Row(row)) => Some(format!("the ledger has no passing row `{row}`")),
        Some(Proof::Place(location)) if known.files.contains(&location.file) => None,
        Some(Proof::Place(location)) => Some(format!("`{}` is not in the diff", location.file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;

    fn criterion(id: &str) -> AcceptanceCriterion {
        AcceptanceCriterion { id: id.into(), text: format!("{id} holds"), ticked: false }
    }

    fn met(criterion: &str, proof: Option<Proof>) -> CriterionJudgement {
        CriterionJudgement { criterion: criterion.into(), met: true, proof }
    }

    fn cited_row(id: &str) -> Option<Proof> {
        Some(Proof::Row(id.into()))
    }

    fn cited_file(file: &str) -> Option<Proof> {
        Some(Proof::Place(Location { file: file.into(), ..Location::default() }))
    }

    fn handover_of(criterion: &str, done: bool) -> Handover {
        Handover { criterion: criterion.into(), issue: "APP-7".into(), done }
    }

    fn known() -> KnownEvidence {
        KnownEvidence { rows: ["r1".to_string()].into(), files: ["src/a.rs".to_string()].into() }
    }

    fn settle_ids(
        criteria: &[&str],
        judgements: &[CriterionJudgement],
        handovers: &[Handover],
    ) -> Settlement {
        let criteria: Vec<_> = criteria.iter().map(|id| criterion(id)).collect();
        settle(&criteria, judgements, handovers, &known()).unwrap()
    }

    // OT-20
    #[test]
    fn an_issue_is_done_when_every_criterion_is_met_with_a_row_or_a_location() {
        let settlement =
            settle_ids(&["a", "b"], &[met("a", cited_row("r1")), met("b", cited_file("src/a.rs"))], &[]);
        assert_eq!((settlement.status, settlement.ticked), (IssueStatus::Done, vec!["a".into(), "b".into()]));
    }

    // OT-20
    #[test]
    fn a_criterion_without_evidence_is_not_ticked() {
        let judgements = [
            met("a", None),
            met("b", cited_row("r9")),
            met("c", cited_file("src/z.rs")),
            met("d", cited_row("")),
        ];
        let settlement = settle_ids(&["a", "b", "c", "d"], &judgements, &[]);
        assert_eq!(
            (settlement.status, settlement.ticked.len(), settlement.follow_ups.len()),
            (IssueStatus::InProgress, 0, 4)
        );
        assert_eq!(
            settlement.refused,
            [
                "`a` was judged met, but no row or location is cited",
                "`b` was judged met, but the ledger has no passing row `r9`",
                "`c` was judged met, but `src/z.rs` is not in the diff",
                "`d` was judged met, but the ledger has no passing row ``",
            ]
        );
    }

    // OT-20
    #[test]
    fn a_criterion_handed_over_is_ticked_when_its_sub_issue_is_done() {
        let settlement = settle_ids(&["a", "b"], &[met("a", cited_row("r1"))], &[handover_of("b", false)]);
        assert_eq!((settlement.status, settlement.follow_ups), (IssueStatus::InProgress, vec![]));
        let settlement = settle_ids(&["a", "b"], &[met("a", cited_row("r1"))], &[handover_of("b", true)]);
        assert_eq!(settlement.status, IssueStatus::Done);
        let settlement = settle_ids(
            &["b"],
            &[met("b", cited_row("r1"))],
            &[handover_of("b", true), handover_of("b", false)],
        );
        assert_eq!(settlement.status, IssueStatus::InProgress);
    }

    // OT-20
    #[test]
    fn an_open_criterion_that_no_sub_issue_covers_is_filed() {
        let settlement =
            settle_ids(&["a", "b", "c"], &[met("a", cited_row("r1"))], &[handover_of("b", false)]);
        assert_eq!(settlement.follow_ups, [criterion("c")]);
    }

    #[test]
    fn one_judgement_of_not_met_leaves_a_criterion_open() {
        let not_met = CriterionJudgement { met: false, ..met("a", cited_row("r1")) };
        assert_eq!(
            settle_ids(&["a"], &[met("a", cited_row("r1")), not_met], &[]).status,
            IssueStatus::InProgress
        );
    }

    #[test]
    fn a_criterion_ticked_earlier_stays_ticked() {
        let ticked = AcceptanceCriterion { ticked: true, ..criterion("a") };
        assert_eq!(settle(&[ticked], &[], &[], &known()).unwrap().status, IssueStatus::Done);
    }

    #[test]
    fn unknown_and_duplicate_criteria_are_refused() {
        assert_eq!(
            settle_ids(&["a"], &[met("x", cited_row("r1"))], &[]).refused,
            ["the issue has no criterion `x`"]
        );
        let error = settle(&[criterion("a")], &[], &[handover_of("x", true)], &known()).unwrap_err();
        assert!(matches!(error, CriteriaError::UnknownHandover { .. }));
        let twice = settle(&[criterion("a"), criterion("a")], &[], &[], &known());
        assert_eq!(twice, Err(CriteriaError::Twice { criterion: "a".into() }));
    }

    proptest! {
        // OT-20
        #[test]
        fn a_criterion_is_ticked_handed_over_or_filed(
            verdicts in prop::collection::vec((0..4usize, any::<bool>(), prop::option::of("r[12]")), 0..8),
            handovers in prop::collection::vec((0..4usize, any::<bool>()), 0..4),
        ) {
            let ids = ["a", "b", "c", "d"];
            let judgements: Vec<_> = verdicts.into_iter()
                .map(|(at, met, proof)| CriterionJudgement { criterion: ids[at].into(), met, proof: proof.map(Proof::Row) })
                .collect();
            let handovers: Vec<_> = handovers.into_iter().map(|(at, done)| handover_of(ids[at], done)).collect();
            let settlement = settle_ids(&ids, &judgements, &handovers);
            prop_assert_eq!(settlement.status == IssueStatus::Done, settlement.ticked.len() == ids.len());
            for id in ids {
                let outcomes = [
                    settlement.ticked.iter().any(|ticked| ticked == id),
                    settlement.follow_ups.iter().any(|filed| filed.id == id),
                    handovers.iter().any(|h| h.criterion == id) && handovers.iter().any(|h| h.criterion == id && !h.done),
                ];
                prop_assert_eq!(outcomes.iter().filter(|outcome| **outcome).count(), 1, "{}", id);
            }
        }
    }
}
