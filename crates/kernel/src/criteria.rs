//! The acceptance criteria of an issue at the end of a run: ticked, left open, or filed as follow-ups (OT-20).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use crate::finding::Place;

/// One acceptance criterion of the parent issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// Unique within its issue.
    pub id: String,
    pub text: String,
    /// An earlier run ticked it; it stays so.
    #[serde(default)]
    pub ticked: bool,
}

/// What the final review says about one criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CriterionJudgement {
    pub criterion: String,
    pub met: bool,
    #[serde(default)]
    pub proof: Option<Proof>,
}

/// What a reviewer points at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// The id of a ledger row.
    Row(String),
    Place(Place),
}

/// What can be pointed at: what the engine itself knows of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Known {
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

/// How the parent issue leaves the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Settlement {
    pub status: IssueStatus,
    /// The ids of all ticked criteria, in the order of the issue.
    pub ticked: Vec<String>,
    /// Open and covered by no sub-issue: each is to be filed as a follow-up.
    pub follow_ups: Vec<Criterion>,
    /// Why a criterion said to be met was not ticked, one sentence each.
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
    #[error("the issue has two criteria `{criterion}`: give each its own id")]
    Twice { criterion: String },
    #[error(
        "sub-issue {issue} was handed `{criterion}`, which the parent does not have: hand over one of its own"
    )]
    UnknownHandover { criterion: String, issue: String },
}

/// Settles the criteria of the parent. One that was handed over is ticked by its sub-issues alone, when all of
/// them are done; any other by the final review, when that points at something the engine knows.
pub fn settle(
    criteria: &[Criterion],
    judgements: &[CriterionJudgement],
    handovers: &[Handover],
    known: &Known,
) -> Result<Settlement, CriteriaError> {
    check(criteria, handovers)?;
    let mut settlement = Settlement {
        status: IssueStatus::Done,
        ticked: Vec::new(),
        follow_ups: Vec::new(),
        refused: unknown(criteria, judgements),
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

fn check(criteria: &[Criterion], handovers: &[Handover]) -> Result<(), CriteriaError> {
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

fn unknown(criteria: &[Criterion], judgements: &[CriterionJudgement]) -> Vec<String> {
    judgements
        .iter()
        .filter(|judgement| !criteria.iter().any(|criterion| criterion.id == judgement.criterion))
        .map(|judgement| format!("`{}` is no criterion of the issue", judgement.criterion))
        .collect()
}

/// Every word about the criterion must be "met", and one of them must hold.
fn is_met(
    criterion: &Criterion,
    judgements: &[CriterionJudgement],
    known: &Known,
    refused: &mut Vec<String>,
) -> bool {
    let words: Vec<&CriterionJudgement> =
        judgements.iter().filter(|judgement| judgement.criterion == criterion.id).collect();
    if words.is_empty() || words.iter().any(|word| !word.met) {
        return false;
    }
    let objections: Vec<String> =
        words.iter().filter_map(|word| objection(word.proof.as_ref(), known)).collect();
    let is_met = objections.len() < words.len();
    if !is_met {
        let objections =
            objections.iter().map(|why| format!("`{}` is said to be met, but {why}", criterion.id));
        refused.extend(objections);
    }
    is_met
}

fn objection(proof: Option<&Proof>, known: &Known) -> Option<String> {
    match proof {
        None => Some("no row or place is named".to_string()),
        Some(Proof::Row(row)) if known.rows.contains(row) => None,
        Some(Proof::Row(row)) => Some(format!("the ledger has no passing row `{row}`")),
        Some(Proof::Place(place)) if known.files.contains(&place.file) => None,
        Some(Proof::Place(place)) => Some(format!("`{}` is not in the diff", place.file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;

    fn criterion(id: &str) -> Criterion {
        Criterion { id: id.into(), text: format!("{id} holds"), ticked: false }
    }

    fn met(criterion: &str, proof: Option<Proof>) -> CriterionJudgement {
        CriterionJudgement { criterion: criterion.into(), met: true, proof }
    }

    fn row(id: &str) -> Option<Proof> {
        Some(Proof::Row(id.into()))
    }

    fn place(file: &str) -> Option<Proof> {
        Some(Proof::Place(Place { file: file.into(), ..Place::default() }))
    }

    fn handed(criterion: &str, done: bool) -> Handover {
        Handover { criterion: criterion.into(), issue: "APP-7".into(), done }
    }

    fn known() -> Known {
        Known { rows: ["r1".to_string()].into(), files: ["src/a.rs".to_string()].into() }
    }

    fn settled(criteria: &[&str], judgements: &[CriterionJudgement], handovers: &[Handover]) -> Settlement {
        let criteria: Vec<_> = criteria.iter().map(|id| criterion(id)).collect();
        settle(&criteria, judgements, handovers, &known()).unwrap()
    }

    // OT-20
    #[test]
    fn all_met_with_a_row_or_a_place_is_done() {
        let settlement = settled(&["a", "b"], &[met("a", row("r1")), met("b", place("src/a.rs"))], &[]);
        assert_eq!((settlement.status, settlement.ticked), (IssueStatus::Done, vec!["a".into(), "b".into()]));
    }

    // OT-20
    #[test]
    fn met_without_evidence_ticks_nothing() {
        let said = [met("a", None), met("b", row("r9")), met("c", place("src/z.rs")), met("d", row(""))];
        let settlement = settled(&["a", "b", "c", "d"], &said, &[]);
        assert_eq!(
            (settlement.status, settlement.ticked.len(), settlement.follow_ups.len()),
            (IssueStatus::InProgress, 0, 4)
        );
        assert_eq!(
            settlement.refused,
            [
                "`a` is said to be met, but no row or place is named",
                "`b` is said to be met, but the ledger has no passing row `r9`",
                "`c` is said to be met, but `src/z.rs` is not in the diff",
                "`d` is said to be met, but the ledger has no passing row ``",
            ]
        );
    }

    // OT-20
    #[test]
    fn a_criterion_handed_over_is_ticked_when_its_sub_issue_is_done() {
        let settlement = settled(&["a", "b"], &[met("a", row("r1"))], &[handed("b", false)]);
        assert_eq!((settlement.status, settlement.follow_ups), (IssueStatus::InProgress, vec![]));
        let settlement = settled(&["a", "b"], &[met("a", row("r1"))], &[handed("b", true)]);
        assert_eq!(settlement.status, IssueStatus::Done);
        let settlement = settled(&["b"], &[met("b", row("r1"))], &[handed("b", true), handed("b", false)]);
        assert_eq!(settlement.status, IssueStatus::InProgress);
    }

    // OT-20
    #[test]
    fn what_no_sub_issue_covers_is_filed() {
        let settlement = settled(&["a", "b", "c"], &[met("a", row("r1"))], &[handed("b", false)]);
        assert_eq!(settlement.follow_ups, [criterion("c")]);
    }

    #[test]
    fn one_reviewer_who_says_not_met_leaves_it_open() {
        let against = CriterionJudgement { met: false, ..met("a", row("r1")) };
        assert_eq!(settled(&["a"], &[met("a", row("r1")), against], &[]).status, IssueStatus::InProgress);
    }

    #[test]
    fn an_earlier_tick_stays() {
        let ticked = Criterion { ticked: true, ..criterion("a") };
        assert_eq!(settle(&[ticked], &[], &[], &known()).unwrap().status, IssueStatus::Done);
    }

    #[test]
    fn unknown_names_are_told_or_refused() {
        assert_eq!(
            settled(&["a"], &[met("x", row("r1"))], &[]).refused,
            ["`x` is no criterion of the issue"]
        );
        let error = settle(&[criterion("a")], &[], &[handed("x", true)], &known()).unwrap_err();
        assert!(matches!(error, CriteriaError::UnknownHandover { .. }));
        let twice = settle(&[criterion("a"), criterion("a")], &[], &[], &known());
        assert_eq!(twice, Err(CriteriaError::Twice { criterion: "a".into() }));
    }

    proptest! {
        // OT-20
        #[test]
        fn a_criterion_is_ticked_handed_over_or_filed(
            said in prop::collection::vec((0..4usize, any::<bool>(), prop::option::of("r[12]")), 0..8),
            handovers in prop::collection::vec((0..4usize, any::<bool>()), 0..4),
        ) {
            let ids = ["a", "b", "c", "d"];
            let judgements: Vec<_> = said.into_iter()
                .map(|(at, met, proof)| CriterionJudgement { criterion: ids[at].into(), met, proof: proof.map(Proof::Row) })
                .collect();
            let handovers: Vec<_> = handovers.into_iter().map(|(at, done)| handed(ids[at], done)).collect();
            let settlement = settled(&ids, &judgements, &handovers);
            prop_assert_eq!(settlement.status == IssueStatus::Done, settlement.ticked.len() == ids.len());
            for id in ids {
                let places = [
                    settlement.ticked.iter().any(|ticked| ticked == id),
                    settlement.follow_ups.iter().any(|filed| filed.id == id),
                    handovers.iter().any(|h| h.criterion == id) && handovers.iter().any(|h| h.criterion == id && !h.done),
                ];
                prop_assert_eq!(places.iter().filter(|place| **place).count(), 1, "{}", id);
            }
        }
    }
}
