//! The tracker: a folder of issues, one file each, with a README that lists them by category.
//!
//! A change touches only the bytes that must change. Changes of concurrent runs must merge: see `entry.rs` for the layout of
//! lists. Parameters named `others` hold issues of other runs; changes avoid their lines.

mod consistency;
mod draft;
mod entry;
mod front;
mod id;
mod issue;
mod readme;
mod renumber;
mod sections;
mod status;

pub use consistency::{Fault, RepairReport};
pub use draft::{IssueDraft, NewCriterion};
pub use entry::{IssueEntry, NewEntry};
pub use id::{InvalidIssueKey, IssueKey};
pub use issue::{IssueCriterion, Reference, TrackerIssue};
pub use readme::Readme;
pub use status::TrackerStatus;

use std::collections::{BTreeMap, BTreeSet};

/// The folder of the tracker in a repository.
pub const FOLDER: &str = "TODO";

/// The file that lists issues by category.
pub const README: &str = "README.md";

/// All issues, and the README if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracker {
    issues: BTreeMap<IssueKey, TrackerIssue>,
    readme: Option<Readme>,
}

impl Tracker {
    /// Reads the files of the folder, given as names and texts. Ignores files other than issues and the README.
    pub fn read<N: AsRef<str>, T: Into<String>>(files: impl IntoIterator<Item = (N, T)>) -> Tracker {
        let mut tracker = Tracker::default();
        for (name, text) in files {
            if name.as_ref() == README {
                tracker.readme = Some(Readme::read(text));
            } else if let Some(id) = IssueKey::of_file(name.as_ref()) {
                tracker.issues.insert(id.clone(), TrackerIssue::read(id, text));
            }
        }
        tracker
    }

    /// The current files, by name.
    pub fn files(&self) -> BTreeMap<String, String> {
        let issues = self.issues.values().map(|issue| (issue.id().file(), issue.text().to_string()));
        let readme = self.readme.iter().map(|readme| (README.to_string(), readme.text().to_string()));
        issues.chain(readme).collect()
    }

    /// The changed files, by name; `None` for a removed file.
    pub fn changed_since(&self, before: &Tracker) -> BTreeMap<String, Option<String>> {
        let (old, new) = (before.files(), self.files());
        let gone = old.keys().filter(|name| !new.contains_key(*name)).map(|name| (name.clone(), None));
        let changed = new.iter().filter(|(name, text)| old.get(*name) != Some(text));
        changed.map(|(name, text)| (name.clone(), Some(text.clone()))).chain(gone).collect()
    }

    pub fn issue(&self, id: &IssueKey) -> Option<&TrackerIssue> {
        self.issues.get(id)
    }

    pub fn issues(&self) -> impl Iterator<Item = &TrackerIssue> {
        self.issues.values()
    }

    pub fn readme(&self) -> Option<&Readme> {
        self.readme.as_ref()
    }

    /// The issues whose parent is this one.
    pub fn children(&self, of: &IssueKey) -> impl Iterator<Item = &TrackerIssue> {
        self.issues.values().filter(move |issue| issue.parent().as_ref() == Some(of))
    }

    /// Sets the status of an issue, and shows it in the README and in its parent's list. A line next to one of `others`
    /// stays unchanged.
    pub fn set_status(&mut self, id: &IssueKey, status: TrackerStatus, others: &BTreeSet<IssueKey>) {
        let Some(issue) = self.issues.get_mut(id) else {
            return;
        };
        issue.set_status(status);
        let parent = issue.parent();
        if let Some(readme) = &mut self.readme {
            readme.show_status(id, status, others);
        }
        if let Some(parent) = parent.and_then(|parent| self.issues.get_mut(&parent)) {
            parent.show_status(id, status, others);
        }
    }

    /// Adds issues: each gets a file and a line in its parent's list. Criteria of the parent that a new issue covers get
    /// explicit ids.
    pub fn file(&mut self, drafts: &[IssueDraft]) {
        let mut lists: BTreeMap<IssueKey, Vec<NewEntry>> = BTreeMap::new();
        for draft in drafts {
            self.issues.insert(draft.id.clone(), TrackerIssue::read(draft.id.clone(), draft.text()));
            if let Some(parent) = &draft.parent {
                lists.entry(parent.clone()).or_default().push(draft.entry());
            }
        }
        for (parent, entries) in lists {
            let siblings: Vec<IssueKey> = self.children(&parent).map(|child| child.id().clone()).collect();
            let new = drafts.iter().filter(|draft| draft.parent.as_ref() == Some(&parent));
            let covered = new.flat_map(|draft| &draft.covers).collect();
            if let Some(parent) = self.issues.get_mut(&parent) {
                parent.write_criterion_ids(&covered);
                parent.add_sub_issues(entries, &siblings);
            }
        }
    }

    /// Adds a top-level issue below a category of the README.
    pub fn file_below(&mut self, draft: &IssueDraft, category: &str) {
        self.issues.insert(draft.id.clone(), TrackerIssue::read(draft.id.clone(), draft.text()));
        let readme = self.readme.get_or_insert_with(Readme::empty);
        readme.add(draft.entry(), category);
    }

    pub fn tick(&mut self, id: &IssueKey, criterion: &str) {
        if let Some(issue) = self.issues.get_mut(id) {
            issue.tick(criterion);
        }
    }

    pub fn comment(&mut self, id: &IssueKey, title: &str, text: &str) {
        if let Some(issue) = self.issues.get_mut(id) {
            issue.comment(title, text);
        }
    }

    /// Ticks the criteria of this issue's parent that finished sub-issues cover, and marks the parent as done if all are
    /// ticked; then does the same for the parent's parent. If another run works on another child, a criterion next to
    /// another one stays open.
    pub fn settle_parent(&mut self, of: &IssueKey, others: &BTreeSet<IssueKey>) {
        let mut settled = BTreeSet::from([of.clone()]);
        let mut child = of.clone();
        while let Some(parent) = self.issues.get(&child).and_then(TrackerIssue::parent)
            && settled.insert(parent.clone())
            && self.settle(&parent, &child, others)
        {
            child = parent;
        }
    }

    /// Settles one parent for one child; returns true if that completes the parent.
    fn settle(&mut self, parent: &IssueKey, child: &IssueKey, others: &BTreeSet<IssueKey>) -> bool {
        let is_other = |other: &TrackerIssue| other.id() != child && others.contains(other.id());
        let is_shared = self.children(parent).any(is_other);
        let finished = self.finished_criteria(parent);
        let Some(issue) = self.issues.get_mut(parent) else {
            return false;
        };
        for criterion in finished {
            if !(is_shared && issue.is_next_to_another(&criterion)) {
                issue.tick(&criterion);
            }
        }
        let criteria = issue.criteria();
        let is_met = !criteria.is_empty() && criteria.iter().all(|criterion| criterion.ticked);
        let is_done = is_met && issue.status() == Some(TrackerStatus::InProgress);
        if is_done {
            self.set_status(parent, TrackerStatus::Done, others);
        }
        is_done
    }

    /// The open criteria of an issue for which all covering sub-issues are done.
    fn finished_criteria(&self, id: &IssueKey) -> Vec<String> {
        let Some(issue) = self.issues.get(id) else {
            return Vec::new();
        };
        let open = issue.criteria().into_iter().filter(|criterion| !criterion.ticked);
        let is_done = |criterion: &str| {
            let mut covering =
                self.children(id).filter(|child| child.covers().contains(&criterion)).peekable();
            covering.peek().is_some() && covering.all(|child| child.status() == Some(TrackerStatus::Done))
        };
        open.map(|criterion| criterion.id).filter(|criterion| is_done(criterion)).collect()
    }
}

#[cfg(test)]
#[path = "tracker_tests.rs"]
mod tests;
