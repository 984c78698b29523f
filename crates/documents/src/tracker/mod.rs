//! The tracker: a folder of issues, one file each, with a README that lists them by category.
//!
//! A file is read as it is and changed only where something must change. Whatever two runs do beside each other must
//! merge: see `entry.rs` for how lists are laid out, and `others` for lines that are left alone.

mod consistency;
mod draft;
mod entry;
mod front;
mod id;
mod issue;
mod readme;
mod renumber;
mod status;

pub use consistency::{Fault, Mended};
pub use draft::{Draft, NewCriterion};
pub use entry::{Entry, NewEntry};
pub use id::{IssueId, NoId};
pub use issue::{Criterion, Issue, Reference};
pub use readme::Readme;
pub use status::Status;

use std::collections::{BTreeMap, BTreeSet};

/// The folder of the tracker in a repository.
pub const FOLDER: &str = "TODO";

/// The file that lists issues by category.
pub const README: &str = "README.md";

/// All issues, and the README if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracker {
    issues: BTreeMap<IssueId, Issue>,
    readme: Option<Readme>,
}

impl Tracker {
    /// Reads the files of the folder, by name. Others than issues and the README are none of its business.
    pub fn read<N: AsRef<str>, T: Into<String>>(files: impl IntoIterator<Item = (N, T)>) -> Tracker {
        let mut tracker = Tracker::default();
        for (name, text) in files {
            if name.as_ref() == README {
                tracker.readme = Some(Readme::read(text));
            } else if let Some(id) = IssueId::of_file(name.as_ref()) {
                tracker.issues.insert(id.clone(), Issue::read(id, text));
            }
        }
        tracker
    }

    /// The files as they are now, by name.
    pub fn files(&self) -> BTreeMap<String, String> {
        let issues = self.issues.values().map(|issue| (issue.id().file(), issue.text().to_string()));
        let readme = self.readme.iter().map(|readme| (README.to_string(), readme.text().to_string()));
        issues.chain(readme).collect()
    }

    /// The files that are not as they were; none stands for one that is gone.
    pub fn changed_since(&self, before: &Tracker) -> BTreeMap<String, Option<String>> {
        let (old, new) = (before.files(), self.files());
        let gone = old.keys().filter(|name| !new.contains_key(*name)).map(|name| (name.clone(), None));
        let changed = new.iter().filter(|(name, text)| old.get(*name) != Some(text));
        changed.map(|(name, text)| (name.clone(), Some(text.clone()))).chain(gone).collect()
    }

    pub fn issue(&self, id: &IssueId) -> Option<&Issue> {
        self.issues.get(id)
    }

    pub fn issues(&self) -> impl Iterator<Item = &Issue> {
        self.issues.values()
    }

    pub fn readme(&self) -> Option<&Readme> {
        self.readme.as_ref()
    }

    /// The issues that name this one as their parent.
    pub fn children(&self, of: &IssueId) -> impl Iterator<Item = &Issue> {
        self.issues.values().filter(move |issue| issue.parent().as_ref() == Some(of))
    }

    /// Moves an issue, and lets the README and its parent's list show that. Lines that touch those of `others` stay.
    pub fn set_status(&mut self, id: &IssueId, status: Status, others: &BTreeSet<IssueId>) {
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

    /// Files issues: each gets its file and a line in its parent's list, and what it is handed of the parent's criteria is
    /// called by name there from now on.
    pub fn file(&mut self, drafts: &[Draft]) {
        let mut lists: BTreeMap<IssueId, Vec<NewEntry>> = BTreeMap::new();
        for draft in drafts {
            self.issues.insert(draft.id.clone(), Issue::read(draft.id.clone(), draft.text()));
            if let Some(parent) = &draft.parent {
                lists.entry(parent.clone()).or_default().push(draft.entry());
            }
        }
        for (parent, entries) in lists {
            let siblings: Vec<IssueId> = self.children(&parent).map(|child| child.id().clone()).collect();
            let of_it = drafts.iter().filter(|draft| draft.parent.as_ref() == Some(&parent));
            let handed = of_it.flat_map(|draft| &draft.covers).collect();
            if let Some(parent) = self.issues.get_mut(&parent) {
                parent.name_criteria(&handed);
                parent.add_sub_issues(entries, &siblings);
            }
        }
    }

    /// Files one issue of the first level, below a category of the README.
    pub fn file_below(&mut self, draft: &Draft, category: &str) {
        self.issues.insert(draft.id.clone(), Issue::read(draft.id.clone(), draft.text()));
        let readme = self.readme.get_or_insert_with(Readme::empty);
        readme.add(draft.entry(), category);
    }

    pub fn tick(&mut self, id: &IssueId, criterion: &str) {
        if let Some(issue) = self.issues.get_mut(id) {
            issue.tick(criterion);
        }
    }

    pub fn comment(&mut self, id: &IssueId, title: &str, text: &str) {
        if let Some(issue) = self.issues.get_mut(id) {
            issue.comment(title, text);
        }
    }

    /// Ticks what sub-issues that are done were handed, in the parent of this one, and moves the parent on when that
    /// was all; then its own parent in the same way. Where another child is in the hands of `others`, a line beside
    /// another stays.
    pub fn settle_parent(&mut self, of: &IssueId, others: &BTreeSet<IssueId>) {
        let mut settled = BTreeSet::from([of.clone()]);
        let mut child = of.clone();
        while let Some(parent) = self.issues.get(&child).and_then(Issue::parent)
            && settled.insert(parent.clone())
            && self.settle(&parent, &child, others)
        {
            child = parent;
        }
    }

    /// Settles one parent for one child, and tells whether it is done by that.
    fn settle(&mut self, parent: &IssueId, child: &IssueId, others: &BTreeSet<IssueId>) -> bool {
        let is_other = |other: &Issue| other.id() != child && others.contains(other.id());
        let is_shared = self.children(parent).any(is_other);
        let handed = self.handed_and_done(parent);
        let Some(issue) = self.issues.get_mut(parent) else {
            return false;
        };
        for criterion in handed {
            if !(is_shared && issue.is_beside_another(&criterion)) {
                issue.tick(&criterion);
            }
        }
        let criteria = issue.criteria();
        let is_met = !criteria.is_empty() && criteria.iter().all(|criterion| criterion.ticked);
        let is_done = is_met && issue.status() == Some(Status::InProgress);
        if is_done {
            self.set_status(parent, Status::Done, others);
        }
        is_done
    }

    /// The open criteria of an issue whose sub-issues are all done.
    fn handed_and_done(&self, id: &IssueId) -> Vec<String> {
        let Some(issue) = self.issues.get(id) else {
            return Vec::new();
        };
        let open = issue.criteria().into_iter().filter(|criterion| !criterion.ticked);
        let is_done = |criterion: &str| {
            let mut handed = self.children(id).filter(|child| child.covers().contains(&criterion)).peekable();
            handed.peek().is_some() && handed.all(|child| child.status() == Some(Status::Done))
        };
        open.map(|criterion| criterion.id).filter(|criterion| is_done(criterion)).collect()
    }
}

#[cfg(test)]
#[path = "tracker_tests.rs"]
mod tests;
