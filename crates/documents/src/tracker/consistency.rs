//! What does not fit together in a tracker, and what of it can be mended without a human.

use super::{IssueId, NewEntry, README, Reference, Status, Tracker};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Where issues of the first level go that no category lists.
const OTHERS: &str = "Other";

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// With what is written instead, if anything.
    NoStatus {
        issue: IssueId,
        written: Option<String>,
    },
    /// The front matter says another id than the file's name.
    OtherId {
        issue: IssueId,
        says: String,
    },
    /// Ids that are none.
    NoReference {
        issue: IssueId,
        written: String,
    },
    UnknownParent {
        issue: IssueId,
        parent: IssueId,
    },
    UnknownDependency {
        issue: IssueId,
        on: IssueId,
    },
    /// Each depends on the next, and the last on the first.
    Circle {
        issues: Vec<IssueId>,
    },
    /// Each is the parent of the one before.
    ParentCircle {
        issues: Vec<IssueId>,
    },
    /// A list names what is not there.
    UnknownEntry {
        list: Option<IssueId>,
        issue: IssueId,
    },
    /// A list does not name what belongs there.
    NotListed {
        list: Option<IssueId>,
        issue: IssueId,
    },
    /// A list shows another status than the issue has.
    OtherStatus {
        list: Option<IssueId>,
        issue: IssueId,
        shown: Status,
        is: Status,
    },
    /// A criterion is open, and the sub-issues that were handed it are done.
    Unticked {
        issue: IssueId,
        criterion: String,
    },
    /// All criteria are met, and the issue is not done.
    NotDone {
        issue: IssueId,
    },
}

/// What was mended, and what a human has to see to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    pub mended: Vec<Fault>,
    pub left: Vec<Fault>,
}

impl Tracker {
    /// Everything that does not fit, by file.
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

    /// Mends what follows from the files of the issues: lists, ticks, ids. The rest is left to a human.
    pub fn mend(&mut self) -> Mended {
        let mut mended = Mended::default();
        // A tick can make an issue done, which its parent's list then has to show: once for each level at most.
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

    fn own_faults(&self, issue: &super::Issue, faults: &mut Vec<Fault>) {
        let id = issue.id();
        if issue.status().is_none() {
            let written = issue.value("status").map(str::to_string);
            faults.push(Fault::NoStatus { issue: id.clone(), written });
        }
        if let Some(says) = issue.value("id").filter(|says| *says != id.to_string()) {
            faults.push(Fault::OtherId { issue: id.clone(), says: says.to_string() });
        }
        for which in [Reference::Parent, Reference::DependsOn] {
            let unread = issue.unread_references(which).into_iter();
            let fault = |item: &str| Fault::NoReference { issue: id.clone(), written: item.to_string() };
            faults.extend(unread.map(fault));
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
        if all_met && issue.status() == Some(Status::InProgress) {
            faults.push(Fault::NotDone { issue: id.clone() });
        }
    }

    /// What the list of an issue's sub-issues says otherwise than they do.
    fn list_faults(&self, issue: &super::Issue, faults: &mut Vec<Fault>) {
        let list = Some(issue.id().clone());
        let entries = issue.sub_issues();
        self.entry_faults(&entries, &list, faults);
        let missing = self.children(issue.id()).map(|child| child.id().clone());
        let missing = missing.filter(|id| !entries.iter().any(|entry| entry.id == *id));
        faults.extend(missing.map(|issue| Fault::NotListed { list: list.clone(), issue }));
    }

    /// Issues with a parent are listed there, and may be listed here.
    fn readme_faults(&self, faults: &mut Vec<Fault>) {
        let entries = self.readme().map(super::Readme::entries).unwrap_or_default();
        self.entry_faults(&entries, &None, faults);
        let of_first_level =
            self.issues().filter(|issue| issue.parent().is_none()).map(|issue| issue.id().clone());
        let missing = of_first_level.filter(|id| !entries.iter().any(|entry| entry.id == *id));
        faults.extend(missing.map(|issue| Fault::NotListed { list: None, issue }));
    }

    fn entry_faults(&self, entries: &[super::Entry], list: &Option<IssueId>, faults: &mut Vec<Fault>) {
        let prefixes: BTreeSet<&str> = self.issues().map(|issue| issue.id().prefix()).collect();
        for entry in entries {
            match self.issue(&entry.id) {
                None if prefixes.contains(entry.id.prefix()) => {
                    faults.push(Fault::UnknownEntry { list: list.clone(), issue: entry.id.clone() });
                }
                // A standard or a version may look like an id.
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
            Fault::NotDone { issue } => self.set_status(issue, Status::Done, &nobody),
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

    /// Puts an entry into a parent's list: before the first one that needs it, else at the end.
    fn list_in_order(&mut self, parent: &IssueId, entry: NewEntry) {
        let siblings: Vec<IssueId> = self.children(parent).map(|child| child.id().clone()).collect();
        let needs = |id: &IssueId| self.issue(id).is_some_and(|issue| issue.depends_on().contains(&entry.id));
        let listed = self.issue(parent).map(super::Issue::sub_issues).unwrap_or_default();
        let next = listed.into_iter().map(|entry| entry.id).find(needs);
        let Some(list) = self.issues.get_mut(parent) else { return };
        match next {
            Some(next) => list.list_before(&entry, &next, &siblings),
            None => list.add_sub_issues(vec![entry], &siblings),
        }
    }

    fn entry_of(&self, id: &IssueId) -> Option<NewEntry> {
        let issue = self.issue(id)?;
        let status = issue.status().unwrap_or(Status::Todo);
        Some(NewEntry { id: id.clone(), title: issue.title(), status, after: issue.depends_on() })
    }

    fn needs(&self) -> BTreeMap<IssueId, Vec<IssueId>> {
        self.issues().map(|issue| (issue.id().clone(), issue.references(Reference::DependsOn))).collect()
    }

    fn parents(&self) -> BTreeMap<IssueId, Vec<IssueId>> {
        self.issues().map(|issue| (issue.id().clone(), issue.parent().into_iter().collect())).collect()
    }
}

impl super::Entry {
    /// A line with a box alone cannot tell what is in progress from what is to do.
    fn agrees(&self, shown: Status, is: Status) -> bool {
        shown == is || (!self.has_word() && (shown == Status::Done) == (is == Status::Done))
    }
}

/// Every circle once, from its smallest id on.
fn circles(edges: &BTreeMap<IssueId, Vec<IssueId>>) -> Vec<Vec<IssueId>> {
    let mut found = BTreeSet::new();
    for start in edges.keys() {
        let mut open = vec![vec![start.clone()]];
        let mut seen = BTreeSet::new();
        while let Some(way) = open.pop() {
            let Some(last) = way.last() else { continue };
            for next in edges.get(last).into_iter().flatten() {
                if next == start {
                    // Others of the circle find it too, and start it elsewhere.
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

    /// The file that has to be looked at, in the tracker's folder.
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
                issues.first().map_or_else(|| README.to_string(), IssueId::file)
            }
            Fault::UnknownEntry { list, .. }
            | Fault::NotListed { list, .. }
            | Fault::OtherStatus { list, .. } => {
                list.as_ref().map_or_else(|| README.to_string(), IssueId::file)
            }
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Fault::NoStatus { .. } => "write `status: Todo`, `In Progress` or `Done` into its front matter",
            Fault::NoReference { .. } => "write the id of an issue, such as `ABC-12`, or take it out",
            Fault::UnknownParent { .. } => "correct `parent`, or take it out",
            Fault::UnknownDependency { .. } => {
                "correct `depends-on`, or take it out: nothing can be run before"
            }
            Fault::Circle { .. } => "take one of them out of the `depends-on` of the other",
            Fault::ParentCircle { .. } => "give one of them another parent",
            Fault::UnknownEntry { .. } => "take the line out, or bring the file of the issue back",
            Fault::NotListed { .. }
            | Fault::OtherStatus { .. }
            | Fault::Unticked { .. }
            | Fault::NotDone { .. }
            | Fault::OtherId { .. } => "`remand issues check --repair` does it",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = |issues: &[IssueId]| issues.iter().map(IssueId::to_string).collect::<Vec<_>>().join(" → ");
        match self {
            Fault::NoStatus { written: None, .. } => write!(f, "it has no status"),
            Fault::NoStatus { written: Some(written), .. } => write!(f, "`{written}` is no status"),
            Fault::OtherId { says, .. } => write!(f, "it calls itself `{says}`"),
            Fault::NoReference { written, .. } => write!(f, "`{written}` is no id of an issue"),
            Fault::UnknownParent { parent, .. } => write!(f, "its parent {parent} does not exist"),
            Fault::UnknownDependency { on, .. } => write!(f, "it depends on {on}, which does not exist"),
            Fault::Circle { issues } => write!(f, "a circle of dependencies: {}", way(issues)),
            Fault::ParentCircle { issues } => write!(f, "a circle of parents: {}", way(issues)),
            Fault::UnknownEntry { issue, .. } => write!(f, "it lists {issue}, which does not exist"),
            Fault::NotListed { list: None, issue } => write!(f, "it does not list {issue}"),
            Fault::NotListed { list: Some(_), issue } => write!(f, "it does not list its sub-issue {issue}"),
            Fault::OtherStatus { issue, shown, is, .. } => {
                write!(f, "it shows {issue} as {shown}, which is {is}")
            }
            Fault::Unticked { criterion, .. } => {
                write!(f, "{criterion} is open, and the sub-issues that were handed it are done")
            }
            Fault::NotDone { .. } => write!(f, "all its criteria are met, and it is in progress"),
        }
    }
}
