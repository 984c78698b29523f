//! The record of a run's changes to the tracker, in order, as the ledger stores it.

use remand_documents::tracker::{IssueDraft, IssueKey, Tracker, TrackerStatus};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One change to the tracker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// Sets the status of an issue, and shows it in each list where no adjacent line belongs to one of `others`.
    Move {
        issue: IssueKey,
        to: TrackerStatus,
        others: BTreeSet<IssueKey>,
    },
    /// Files the tasks of a split; a rework withdraws them.
    Split {
        drafts: Vec<IssueDraft>,
    },
    /// Files follow-ups at the end.
    FollowUp {
        drafts: Vec<IssueDraft>,
    },
    Tick {
        issue: IssueKey,
        criterion: String,
    },
    /// Ticks the criteria of the parent that its finished sub-issues cover.
    SettleParent {
        of: IssueKey,
        others: BTreeSet<IssueKey>,
    },
    Comment {
        issue: IssueKey,
        title: String,
        text: String,
    },
}

/// All changes of a run so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackerRecord {
    pub edits: Vec<Edit>,
}

impl TrackerRecord {
    /// The tracker with these changes.
    pub fn apply_to(&self, base: &Tracker) -> Tracker {
        let mut tracker = base.clone();
        for edit in &self.edits {
            match edit {
                Edit::Move { issue, to, others } => tracker.set_status(issue, *to, others),
                Edit::Split { drafts } | Edit::FollowUp { drafts } => tracker.file(drafts),
                Edit::Tick { issue, criterion } => tracker.tick(issue, criterion),
                Edit::SettleParent { of, others } => tracker.settle_parent(of, others),
                Edit::Comment { issue, title, text } => tracker.comment(issue, title, text),
            }
        }
        tracker
    }

    /// Withdraws the issues of a split that belongs to an outdated plan. Their ids are not reused.
    pub fn withdraw_split(&mut self) {
        self.edits.retain(|edit| !matches!(edit, Edit::Split { .. }));
    }

    /// The issues that the split filed.
    pub fn split(&self) -> Vec<&IssueDraft> {
        let filed = self.edits.iter().filter_map(|edit| match edit {
            Edit::Split { drafts } => Some(drafts),
            Edit::Move { .. }
            | Edit::FollowUp { .. }
            | Edit::Tick { .. }
            | Edit::SettleParent { .. }
            | Edit::Comment { .. } => None,
        });
        filed.flatten().collect()
    }

    /// The issues that were filed as follow-ups.
    pub fn follow_ups(&self) -> Vec<&IssueDraft> {
        let filed = self.edits.iter().filter_map(|edit| match edit {
            Edit::FollowUp { drafts } => Some(drafts),
            Edit::Move { .. }
            | Edit::Split { .. }
            | Edit::Tick { .. }
            | Edit::SettleParent { .. }
            | Edit::Comment { .. } => None,
        });
        filed.flatten().collect()
    }
}
