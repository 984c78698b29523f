//! Finds inconsistencies in a tracker, and repairs those that need no human.

use super::{IssueKey, NewEntry, README, Reference, Tracker, TrackerStatus};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The category of top-level issues that no category lists.
const OTHERS: &str = "Other";

/// One inconsistency.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// With the text in its place, if any.
    NoStatus {
        issue: IssueKey,
        written: Option<String>,
    },
    /// The id in the front matter differs from the file name.
    OtherId {
        issue: IssueKey,
        says: String,
    },
    /// A reference is not an issue id.
    NoReference {
        issue: IssueKey,
        written: String,
    },
    UnknownParent {
        issue: IssueKey,
        parent: IssueKey,
    },
    UnknownDependency {
        issue: IssueKey,
        on: IssueKey,
    },
    /// A dependency cycle: each depends on the next, and the last on the first.
    Circle {
        issues: Vec<IssueKey>,
    },
    /// A cycle of parents: each is the parent of the one before.
    ParentCircle {
        issues: Vec<IssueKey>,
    },
    /// A list names a missing issue.
    UnknownEntry {
        list: Option<IssueKey>,
        issue: IssueKey,
    },
    /// A list lacks an issue.
    NotListed {
        list: Option<IssueKey>,
        issue: IssueKey,
    },
    /// A list shows a wrong status.
    OtherStatus {
        list: Option<IssueKey>,
        issue: IssueKey,
        shown: TrackerStatus,
        is: TrackerStatus,
    },
    /// A criterion is open although the sub-issues that cover it are done.
    Unticked {
        issue: IssueKey,
        criterion: String,
    },
    /// All criteria are met, but the issue is not done.
    NotDone {
        issue: IssueKey,
    },
}

/// What was repaired, and what needs a human.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairReport {
    pub mended: Vec<Fault>,
    pub left: Vec<Fault>,
}

impl Tracker {
    /// All inconsistencies, by file.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for issue in self.issues() {
            self.own_faults(issue, &mut faults);
            self.list_faults(issue, &mut faults);
        }
        self.readme_faults(&mut faults);
        faults.extend(circles(&self.needs()).into_iter().map(|issues| Fault::Circle { issues }));
        faults.extend(circles(&self.parents()).into_iter().map(|issues| Fault::ParentCircle { issues }));
        faults
    }

    /// Repairs what follows from the issue files: lists, ticks, ids. The rest needs a human.
    pub fn mend(&mut self) -> RepairReport {
        let mut mended = RepairReport::default();
        // A tick can complete an issue, which its parent's list must then show: at most one pass for each level.
        for _ in 0..=self.issues.len() {
            let (mendable, left): (Vec<Fault>, Vec<Fault>) =
                self.faults().into_iter().partition(Fault::can_be_mended);
            mended.left = left;
            if mendable.is_empty() {
                break;
            }
            for fault in mendable {
                self.mend_one(&fault);
                mended.mended.push(fault);
            }
        }
        mended
    }

    fn own_faults(&self, issue: &super::TrackerIssue, faults: &mut Vec<Fault>) {
        let id = issue.id();
        if issue.status().is_none() {
            let written = issue.value("status").map(str::to_string);
            faults.push(Fault::NoStatus { issue: id.clone(), written });
        }
        if let Some(says) = issue.value("id").filter(|says| *says != id.to_string()) {
            faults.push(Fault::OtherId { issue: id.clone(), says: says.to_string() });
        }
        for which in [Reference::Parent, Reference::DependsOn] {
            let invalid = issue.invalid_references(which).into_iter();
            let fault = |item: &str| Fault::NoReference { issue: id.clone(), written: item.to_string() };
            faults.extend(invalid.map(fault));
        }
        if let Some(parent) = issue.parent().filter(|parent| self.issue(parent).is_none()) {
            faults.push(Fault::UnknownParent { issue: id.clone(), parent });
        }
        let unknown = issue.depends_on().into_iter().filter(|on| self.issue(on).is_none());
        faults.extend(unknown.map(|on| Fault::UnknownDependency { issue: id.clone(), on }));
        let handed = self.handed_and_done(id).into_iter();
        faults.extend(handed.map(|criterion| Fault::Unticked { issue: id.clone(), criterion }));
        let criteria = issue.criteria();
        let all_met = !criteria.is_empty() && criteria.iter().all(|criterion| criterion.ticked);
        if all_met && issue.status() == Some(TrackerStatus::InProgress) {
            faults.push(Fault::NotDone { issue: id.clone() });
        }
    }

    /// Differences between an issue's list of sub-issues and the sub-issues.
    fn list_faults(&self, issue: &super::TrackerIssue, faults: &mut Vec<Fault>) {
        let list = Some(issue.id().clone());
        let entries = issue.sub_issues();
        self.entry_faults(&entries, &list, faults);
        let missing = self.children(issue.id()).map(|child| child.id().clone());
        let missing = missing.filter(|id| !entries.iter().any(|entry| entry.id == *id));
        faults.extend(missing.map(|issue| Fault::NotListed { list: list.clone(), issue }));
    }

    /// Compares the README. Issues with a parent are listed there, and may be listed in the README too.
    fn readme_faults(&self, faults: &mut Vec<Fault>) {
        let entries = self.readme().map(super::Readme::entries).unwrap_or_default();
        self.entry_faults(&entries, &None, faults);
        let of_first_level =
            self.issues().filter(|issue| issue.parent().is_none()).map(|issue| issue.id().clone());
        let missing = of_first_level.filter(|id| !entries.iter().any(|entry| entry.id == *id));
        faults.extend(missing.map(|issue| Fault::NotListed { list: None, issue }));
    }

    fn entry_faults(&self, entries: &[super::IssueEntry], list: &Option<IssueKey>, faults: &mut Vec<Fault>) {
        let prefixes: BTreeSet<&str> = self.issues().map(|issue| issue.id().prefix()).collect();
        for entry in entries {
            match self.issue(&entry.id) {
                None if prefixes.contains(entry.id.prefix()) => {
                    faults.push(Fault::UnknownEntry { list: list.clone(), issue: entry.id.clone() });
                }
                // The name of a standard or a version may look like an id.
                None => {}
                Some(issue) => {
                    let Some(is) = issue.status() else { continue };
                    let shown = entry.status.filter(|shown| !entry.agrees(*shown, is));
                    faults.extend(shown.map(|shown| Fault::OtherStatus {
                        list: list.clone(),
                        issue: entry.id.clone(),
                        shown,
                        is,
                    }));
                }
            }
        }
    }

    fn mend_one(&mut self, fault: &Fault) {
        let nobody = BTreeSet::new();
        match fault {
            Fault::NotListed { list, issue } => {
                let Some(entry) = self.entry_of(issue) else { return };
                match list {
                    None => self.readme.get_or_insert_with(super::Readme::empty).add(entry, OTHERS),
                    Some(list) => self.list_in_order(list, entry),
                }
            }
            Fault::OtherStatus { list, issue, is, .. } => match (list, &mut self.readme) {
                (None, Some(readme)) => readme.show_status(issue, *is, &nobody),
                (None, None) => {}
                (Some(list), _) => {
                    if let Some(list) = self.issues.get_mut(list) {
                        list.show_status(issue, *is, &nobody);
                    }
                }
            },
            Fault::Unticked { issue, criterion } => self.tick(issue, criterion),
            Fault::NotDone { issue } => self.set_status(issue, TrackerStatus::Done, &nobody),
            Fault::OtherId { issue, .. } => {
                if let Some(found) = self.issues.get_mut(issue) {
                    found.set("id", &issue.to_string());
                }
            }
            Fault::NoStatus { .. }
            | Fault::NoReference { .. }
            | Fault::UnknownParent { .. }
            | Fault::UnknownDependency { .. }
            | Fault::Circle { .. }
            | Fault::ParentCircle { .. }
            | Fault::UnknownEntry { .. } => {}
        }
    }

    /// Inserts an entry into a parent's list: before the first one that depends on it, else at the end.
    fn list_in_order(&mut self, parent: &IssueKey, entry: NewEntry) {
        let siblings: Vec<IssueKey> = self.children(parent).map(|child| child.id().clone()).collect();
        let needs =
            |id: &IssueKey| self.issue(id).is_some_and(|issue| issue.depends_on().contains(&entry.id));
        let listed = self.issue(parent).map(super::TrackerIssue::sub_issues).unwrap_or_default();
        let next = listed.into_iter().map(|entry| entry.id).find(needs);
        let Some(list) = self.issues.get_mut(parent) else { return };
        match next {
            Some(next) => list.list_before(&entry, &next, &siblings),
            None => list.add_sub_issues(vec![entry], &siblings),
        }
    }

    fn entry_of(&self, id: &IssueKey) -> Option<NewEntry> {
        let issue = self.issue(id)?;
        let status = issue.status().unwrap_or(TrackerStatus::Todo);
        Some(NewEntry { id: id.clone(), title: issue.title(), status, after: issue.depends_on() })
    }

    fn needs(&self) -> BTreeMap<IssueKey, Vec<IssueKey>> {
        self.issues().map(|issue| (issue.id().clone(), issue.references(Reference::DependsOn))).collect()
    }

    fn parents(&self) -> BTreeMap<IssueKey, Vec<IssueKey>> {
        self.issues().map(|issue| (issue.id().clone(), issue.parent().into_iter().collect())).collect()
    }
}

impl super::IssueEntry {
    /// A line with only a box shows Todo and In Progress alike.
    fn agrees(&self, shown: TrackerStatus, is: TrackerStatus) -> bool {
        shown == is || (!self.has_word() && (shown == TrackerStatus::Done) == (is == TrackerStatus::Done))
    }
}

/// Every cycle once, starting at its smallest id.
fn circles(edges: &BTreeMap<IssueKey, Vec<IssueKey>>) -> Vec<Vec<IssueKey>> {
    let mut found = BTreeSet::new();
    for start in edges.keys() {
        let mut open = vec![vec![start.clone()]];
        let mut seen = BTreeSet::new();
        while let Some(way) = open.pop() {
            let Some(last) = way.last() else { continue };
            for next in edges.get(last).into_iter().flatten() {
                if next == start {
                    // Other members of the cycle find it too, with another start.
                    if way.iter().all(|id| start <= id) {
                        found.insert(way.clone());
                    }
                } else if seen.insert(next.clone()) {
                    open.push(way.iter().chain([next]).cloned().collect());
                }
            }
        }
    }
    found.into_iter().collect()
}

impl Fault {
    pub fn can_be_mended(&self) -> bool {
        match self {
            Fault::NotListed { .. }
            | Fault::OtherStatus { .. }
            | Fault::Unticked { .. }
            | Fault::NotDone { .. }
            | Fault::OtherId { .. } => true,
            Fault::NoStatus { .. }
            | Fault::NoReference { .. }
            | Fault::UnknownParent { .. }
            | Fault::UnknownDependency { .. }
            | Fault::Circle { .. }
            | Fault::ParentCircle { .. }
            | Fault::UnknownEntry { .. } => false,
        }
    }

    /// The file to look at, in the tracker's folder.
    pub fn file(&self) -> String {
        match self {
            Fault::NoStatus { issue, .. }
            | Fault::OtherId { issue, .. }
            | Fault::NoReference { issue, .. }
            | Fault::UnknownParent { issue, .. }
            | Fault::UnknownDependency { issue, .. }
            | Fault::Unticked { issue, .. }
            | Fault::NotDone { issue } => issue.file(),
            Fault::Circle { issues } | Fault::ParentCircle { issues } => {
                issues.first().map_or_else(|| README.to_string(), IssueKey::file)
            }
            Fault::UnknownEntry { list, .. }
            | Fault::NotListed { list, .. }
            | Fault::OtherStatus { list, .. } => {
                list.as_ref().map_or_else(|| README.to_string(), IssueKey::file)
            }
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Fault::NoStatus { .. } => "write `status: Todo`, `In Progress` or `Done` into its front matter",
            Fault::NoReference { .. } => "write an issue id such as `ABC-12`, or remove the text",
            Fault::UnknownParent { .. } => "correct `parent`, or remove it",
            Fault::UnknownDependency { .. } => {
                "correct `depends-on`, or remove it; until then the issue cannot be run"
            }
            Fault::Circle { .. } => "remove one of them from the `depends-on` of another",
            Fault::ParentCircle { .. } => "give one of them another parent",
            Fault::UnknownEntry { .. } => "remove the line, or restore the issue's file",
            Fault::NotListed { .. }
            | Fault::OtherStatus { .. }
            | Fault::Unticked { .. }
            | Fault::NotDone { .. }
            | Fault::OtherId { .. } => "fix it with `remand issues check --repair`",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path =
            |issues: &[IssueKey]| issues.iter().map(IssueKey::to_string).collect::<Vec<_>>().join(" → ");
        match self {
            Fault::NoStatus { written: None, .. } => write!(f, "it has no status"),
            Fault::NoStatus { written: Some(written), .. } => write!(f, "`{written}` is not a status"),
            Fault::OtherId { says, .. } => write!(f, "its front matter has the id `{says}`"),
            Fault::NoReference { written, .. } => write!(f, "`{written}` is not an issue id"),
            Fault::UnknownParent { parent, .. } => write!(f, "its parent {parent} does not exist"),
            Fault::UnknownDependency { on, .. } => write!(f, "it depends on {on}, which does not exist"),
            Fault::Circle { issues } => write!(f, "dependency cycle: {}", path(issues)),
            Fault::ParentCircle { issues } => write!(f, "parent cycle: {}", path(issues)),
            Fault::UnknownEntry { issue, .. } => write!(f, "it lists {issue}, which does not exist"),
            Fault::NotListed { list: None, issue } => write!(f, "it does not list {issue}"),
            Fault::NotListed { list: Some(_), issue } => write!(f, "it does not list its sub-issue {issue}"),
            Fault::OtherStatus { issue, shown, is, .. } => {
                write!(f, "it shows {issue} as {shown}, but the status is {is}")
            }
            Fault::Unticked { criterion, .. } => {
                write!(f, "{criterion} is open, but the sub-issues that cover it are done")
            }
            Fault::NotDone { .. } => write!(f, "all its criteria are met, but its status is In Progress"),
        }
    }
}
