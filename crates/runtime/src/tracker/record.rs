//! What a run does to the tracker, in order, as the ledger keeps it.

use remand_documents::tracker::{Draft, IssueId, Status, Tracker};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// Moves an issue, and shows that in lists but for lines that touch those of others.
    Move {
        issue: IssueId,
        to: Status,
        others: BTreeSet<IssueId>,
    },
    /// Files tasks of a split; a rework takes them back.
    Split {
        drafts: Vec<Draft>,
    },
    /// Files what is left over at the end.
    FollowUp {
        drafts: Vec<Draft>,
    },
    Tick {
        issue: IssueId,
        criterion: String,
    },
    /// Ticks in the parent what its sub-issues have done.
    SettleParent {
        of: IssueId,
        others: BTreeSet<IssueId>,
    },
    Comment {
        issue: IssueId,
        title: String,
        text: String,
    },
}

/// All changes of a run so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub edits: Vec<Edit>,
}

impl Record {
    /// The tracker with these changes.
    pub fn applied(&self, base: &Tracker) -> Tracker {
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

    /// Takes back what a split filed: it was the split of another plan. Its ids are not given out again.
    pub fn withdraw_split(&mut self) {
        self.edits.retain(|edit| !matches!(edit, Edit::Split { .. }));
    }

    /// What the split filed, as it stands.
    pub fn split(&self) -> Vec<&Draft> {
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

    /// What was left over.
    pub fn follow_ups(&self) -> Vec<&Draft> {
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
