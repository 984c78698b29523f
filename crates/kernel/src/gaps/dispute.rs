//! The issues that engineer and reviewer still disagree about.

use alloc::vec::Vec;

use super::board::Board;
use super::gap::GapId;
use super::issue::{IssueState, NewIssue, ReviewIssue, ReviewIssueId};

impl Board {
    /// The serious issues that the next engineer must answer because the last one did not.
    pub fn must_answer(&self) -> Vec<ReviewIssueId> {
        self.issues
            .values()
            .filter(|issue| issue.is_serious() && self.is_contested(&issue.gap))
            .filter(|issue| match issue.state {
                IssueState::Unanswered { silences } => silences > 0,
                IssueState::Answered(_) | IssueState::Decided => false,
            })
            .filter(|issue| !self.conflicts.contains_key(&issue.id))
            .map(|issue| issue.id)
            .collect()
    }

    /// The unanswered issues about gaps in `asked` that are still in dispute.
    pub(super) fn pending_issues(&self, asked: &[GapId]) -> Vec<ReviewIssueId> {
        self.issues
            .values()
            .filter(|issue| asked.contains(&issue.gap))
            .filter(|issue| issue.is_unanswered() && self.is_contested(&issue.gap))
            .map(|issue| issue.id)
            .collect()
    }

    pub(super) fn raise(&mut self, new: NewIssue) -> ReviewIssueId {
        let id = self.next_issue();
        let issue = ReviewIssue {
            id,
            gap: new.gap,
            severity: new.severity,
            concern: new.concern,
            trade_off: new.trade_off,
            state: IssueState::Unanswered { silences: 0 },
        };
        self.issues.insert(id, issue);
        id
    }

    /// Whether reviewer and engineer still disagree about a gap. An unreviewed proposal is not in dispute yet, and an
    /// accepted one no longer is.
    pub(super) fn is_contested(&self, gap: &GapId) -> bool {
        self.gaps.get(gap).is_some_and(|gap| gap.status.is_workable())
    }
}
