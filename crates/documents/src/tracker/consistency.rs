//! Finds inconsistencies in a tracker, and repairs those that do not need a human.

use super::{IssueKey, NewEntry, README, Reference, Tracker, TrackerStatus};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The category for top-level issues that the README does not list.
const OTHER_CATEGORY: &str = "Other";

/// One inconsistency.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The status is missing, or `written` is not a status.
    NoStatus {
        issue: IssueKey,
        written: Option<String>,
    },
    /// The id in the front matter differs from the file name.
    WrongId {
        issue: IssueKey,
        written: String,
    },
    /// A reference is not an issue id.
    InvalidReference {
        issue: IssueKey,
        written: String,
    },
    UnknownParent {
        issue: IssueKey,
        parent: IssueKey,
    },
    UnknownDependency {
        issue: IssueKey,
        dependency: IssueKey,
    },
    /// Each issue depends on the next, and the last on the first.
    DependencyCycle {
        issues: Vec<IssueKey>,
    },
    /// Each issue is the parent of the one before.
    ParentCycle {
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
    WrongStatus {
        list: Option<IssueKey>,
        issue: IssueKey,
        shown: TrackerStatus,
        actual: TrackerStatus,
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

/// The faults that were repaired, and those that need a human.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairReport {
    pub repaired: Vec<Fault>,
    pub left: Vec<Fault>,
}

impl Tracker {
    /// All inconsistencies. Cycles come last.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for issue in self.issues() {
            self.issue_faults(issue, &mut faults);
            self.list_faults(issue, &mut faults);
        }
        self.readme_faults(&mut faults);
        faults
            .extend(cycles(&self.dependencies()).into_iter().map(|issues| Fault::DependencyCycle { issues }));
        faults.extend(cycles(&self.parents()).into_iter().map(|issues| Fault::ParentCycle { issues }));
        faults
    }

    /// Repairs the faults for which the issue files show the right content: lists, ticks, ids. The others need a human.
    pub fn repair(&mut self) -> RepairReport {
        let mut report = RepairReport::default();
        // A tick can complete an issue, and then its parent's list is wrong: at most one pass for each level.
        for _ in 0..=self.issues.len() {
            let (repairable, left): (Vec<Fault>, Vec<Fault>) =
                self.faults().into_iter().partition(Fault::can_be_repaired);
            report.left = left;
            if repairable.is_empty() {
                break;
            }
            for fault in repairable {
                self.repair_one(&fault);
                report.repaired.push(fault);
            }
        }
        report
    }

    fn issue_faults(&self, issue: &super::TrackerIssue, faults: &mut Vec<Fault>) {
        let id = issue.id();
        if issue.status().is_none() {
            let written = issue.value("status").map(str::to_string);
            faults.push(Fault::NoStatus { issue: id.clone(), written });
        }
        if let Some(written) = issue.value("id").filter(|written| *written != id.to_string()) {
            faults.push(Fault::WrongId { issue: id.clone(), written: written.to_string() });
        }
        for which in [Reference::Parent, Reference::DependsOn] {
            let invalid = issue.invalid_references(which).into_iter();
            let fault = |item: &str| Fault::InvalidReference { issue: id.clone(), written: item.to_string() };
            faults.extend(invalid.map(fault));
        }
        if let Some(parent) = issue.parent().filter(|parent| self.issue(parent).is_none()) {
            faults.push(Fault::UnknownParent { issue: id.clone(), parent });
        }
        let dependencies = issue.depends_on().into_iter();
        let unknown = dependencies.filter(|dependency| self.issue(dependency).is_none());
        faults.extend(unknown.map(|dependency| Fault::UnknownDependency { issue: id.clone(), dependency }));
        let finished = self.finished_criteria(id).into_iter();
        faults.extend(finished.map(|criterion| Fault::Unticked { issue: id.clone(), criterion }));
        let criteria = issue.criteria();
        let all_met = !criteria.is_empty() && criteria.iter().all(|criterion| criterion.ticked);
        if all_met && issue.status() == Some(TrackerStatus::InProgress) {
            faults.push(Fault::NotDone { issue: id.clone() });
        }
    }

    /// Compares an issue's list of sub-issues with the sub-issues.
    fn list_faults(&self, issue: &super::TrackerIssue, faults: &mut Vec<Fault>) {
        let list = Some(issue.id().clone());
        let entries = issue.sub_issues();
        self.entry_faults(&entries, &list, faults);
        let missing = self.children(issue.id()).map(|child| child.id().clone());
        let missing = missing.filter(|id| !entries.iter().any(|entry| entry.id == *id));
        faults.extend(missing.map(|issue| Fault::NotListed { list: list.clone(), issue }));
    }

    /// Compares the README with the issues. An issue with a parent is in the parent's list, and may be in the README too.
    fn readme_faults(&self, faults: &mut Vec<Fault>) {
        let entries = self.readme().map(super::Readme::entries).unwrap_or_default();
        self.entry_faults(&entries, &None, faults);
        let top_level =
            self.issues().filter(|issue| issue.parent().is_none()).map(|issue| issue.id().clone());
        let missing = top_level.filter(|id| !entries.iter().any(|entry| entry.id == *id));
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
                    let Some(actual) = issue.status() else { continue };
                    let shown = entry.status.filter(|shown| !entry.agrees(*shown, actual));
                    faults.extend(shown.map(|shown| Fault::WrongStatus {
                        list: list.clone(),
                        issue: entry.id.clone(),
                        shown,
                        actual,
                    }));
                }
            }
        }
    }

    fn repair_one(&mut self, fault: &Fault) {
        let no_others = BTreeSet::new();
        match fault {
            Fault::NotListed { list, issue } => {
                let Some(entry) = self.entry_of(issue) else { return };
                match list {
                    None => self.readme.get_or_insert_with(super::Readme::empty).add(entry, OTHER_CATEGORY),
                    Some(list) => self.list_in_order(list, entry),
                }
            }
            Fault::WrongStatus { list, issue, actual, .. } => match (list, &mut self.readme) {
                (None, Some(readme)) => readme.show_status(issue, *actual, &no_others),
                (None, None) => {}
                (Some(list), _) => {
                    if let Some(list) = self.issues.get_mut(list) {
                        list.show_status(issue, *actual, &no_others);
                    }
                }
            },
            Fault::Unticked { issue, criterion } => self.tick(issue, criterion),
            Fault::NotDone { issue } => self.set_status(issue, TrackerStatus::Done, &no_others),
            Fault::WrongId { issue, .. } => {
                if let Some(found) = self.issues.get_mut(issue) {
                    found.set("id", &issue.to_string());
                }
            }
            Fault::NoStatus { .. }
            | Fault::InvalidReference { .. }
            | Fault::UnknownParent { .. }
            | Fault::UnknownDependency { .. }
            | Fault::DependencyCycle { .. }
            | Fault::ParentCycle { .. }
            | Fault::UnknownEntry { .. } => {}
        }
    }

    /// Inserts an entry into a parent's list: before the first one that depends on it, else at the end.
    fn list_in_order(&mut self, parent: &IssueKey, entry: NewEntry) {
        let siblings: Vec<IssueKey> = self.children(parent).map(|child| child.id().clone()).collect();
        let depends =
            |id: &IssueKey| self.issue(id).is_some_and(|issue| issue.depends_on().contains(&entry.id));
        let listed = self.issue(parent).map(super::TrackerIssue::sub_issues).unwrap_or_default();
        let next = listed.into_iter().map(|entry| entry.id).find(depends);
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

    fn dependencies(&self) -> BTreeMap<IssueKey, Vec<IssueKey>> {
        self.issues().map(|issue| (issue.id().clone(), issue.references(Reference::DependsOn))).collect()
    }

    fn parents(&self) -> BTreeMap<IssueKey, Vec<IssueKey>> {
        self.issues().map(|issue| (issue.id().clone(), issue.parent().into_iter().collect())).collect()
    }
}

impl super::IssueEntry {
    /// Whether the shown status is right. A line with only a box shows Todo and In Progress in the same way.
    fn agrees(&self, shown: TrackerStatus, actual: TrackerStatus) -> bool {
        let is_same_box = (shown == TrackerStatus::Done) == (actual == TrackerStatus::Done);
        shown == actual || (!self.has_word() && is_same_box)
    }
}

/// Every cycle once, starting at its smallest id.
fn cycles(edges: &BTreeMap<IssueKey, Vec<IssueKey>>) -> Vec<Vec<IssueKey>> {
    let mut found = BTreeSet::new();
    for start in edges.keys() {
        let mut pending = vec![vec![start.clone()]];
        let mut seen = BTreeSet::new();
        while let Some(path) = pending.pop() {
            let Some(last) = path.last() else { continue };
            for next in edges.get(last).into_iter().flatten() {
                if next == start {
                    // Other members of the cycle find it too, with another start.
                    if path.iter().all(|id| start <= id) {
                        found.insert(path.clone());
                    }
                } else if seen.insert(next.clone()) {
                    pending.push(path.iter().chain([next]).cloned().collect());
                }
            }
        }
    }
    found.into_iter().collect()
}

impl Fault {
    pub fn can_be_repaired(&self) -> bool {
        match self {
            Fault::NotListed { .. }
            | Fault::WrongStatus { .. }
            | Fault::Unticked { .. }
            | Fault::NotDone { .. }
            | Fault::WrongId { .. } => true,
            Fault::NoStatus { .. }
            | Fault::InvalidReference { .. }
            | Fault::UnknownParent { .. }
            | Fault::UnknownDependency { .. }
            | Fault::DependencyCycle { .. }
            | Fault::ParentCycle { .. }
            | Fault::UnknownEntry { .. } => false,
        }
    }

    /// The file to look at, in the tracker's folder.
    pub fn file(&self) -> String {
        match self {
            Fault::NoStatus { issue, .. }
            | Fault::WrongId { issue, .. }
            | Fault::InvalidReference { issue, .. }
            | Fault::UnknownParent { issue, .. }
            | Fault::UnknownDependency { issue, .. }
            | Fault::Unticked { issue, .. }
            | Fault::NotDone { issue } => issue.file(),
            Fault::DependencyCycle { issues } | Fault::ParentCycle { issues } => {
                issues.first().map_or_else(|| README.to_string(), IssueKey::file)
            }
            Fault::UnknownEntry { list, .. }
            | Fault::NotListed { list, .. }
            | Fault::WrongStatus { list, .. } => {
                list.as_ref().map_or_else(|| README.to_string(), IssueKey::file)
            }
        }
    }

    /// How a person repairs the fault.
    pub fn remedy(&self) -> &'static str {
        match self {
            Fault::NoStatus { .. } => "write `status: Todo`, `In Progress` or `Done` into its front matter",
            Fault::InvalidReference { .. } => "write an issue id such as `ABC-12`, or remove the text",
            Fault::UnknownParent { .. } => "correct `parent`, or remove it",
            Fault::UnknownDependency { .. } => {
                "correct `depends-on`, or remove it; until then the issue cannot be run"
            }
            Fault::DependencyCycle { .. } => "remove one of them from the `depends-on` of another",
            Fault::ParentCycle { .. } => "give one of them another parent",
            Fault::UnknownEntry { .. } => "remove the line, or restore the issue's file",
            Fault::NotListed { .. }
            | Fault::WrongStatus { .. }
            | Fault::Unticked { .. }
            | Fault::NotDone { .. }
            | Fault::WrongId { .. } => "fix it with `remand issues check --repair`",
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
            Fault::WrongId { written, .. } => write!(f, "its front matter has the id `{written}`"),
            Fault::InvalidReference { written, .. } => write!(f, "`{written}` is not an issue id"),
            Fault::UnknownParent { parent, .. } => write!(f, "its parent {parent} does not exist"),
            Fault::UnknownDependency { dependency, .. } => {
                write!(f, "it depends on {dependency}, which does not exist")
            }
            Fault::DependencyCycle { issues } => write!(f, "dependency cycle: {}", path(issues)),
            Fault::ParentCycle { issues } => write!(f, "parent cycle: {}", path(issues)),
            Fault::UnknownEntry { issue, .. } => write!(f, "it lists {issue}, which does not exist"),
            Fault::NotListed { list: None, issue } => write!(f, "it does not list {issue}"),
            Fault::NotListed { list: Some(_), issue } => write!(f, "it does not list its sub-issue {issue}"),
            Fault::WrongStatus { issue, shown, actual, .. } => {
                write!(f, "it shows {issue} as {shown}, but the status is {actual}")
            }
            Fault::Unticked { criterion, .. } => {
                write!(f, "{criterion} is open, but the sub-issues that cover it are done")
            }
            Fault::NotDone { .. } => write!(f, "all its criteria are met, but its status is In Progress"),
        }
    }
}
