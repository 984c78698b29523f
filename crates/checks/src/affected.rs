//! Which checks a change can affect, and so which are worth running.

use super::action::CheckAction;
use super::spec::{CheckScope, CheckSpec};
use remand_kernel::evidence::Tier;
use std::collections::BTreeMap;
use std::path::Path;

/// Endings of prose, which no check reads unless it is inside a project.
const PROSE: [&str; 3] = ["md", "rst", "adoc"];

/// Maximum number of folders that a reason names.
const NAMED: usize = 3;

/// The files that a task is checked for.
#[derive(Clone, Copy, Debug)]
pub struct TaskChange<'c> {
    /// Files that the task changed.
    pub own: &'c [String],
    /// Files that differ from the tree in which the checks were detected.
    pub all: &'c [String],
}

/// What does not run because the change cannot affect it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Checks by name, each with the reason.
    checks: BTreeMap<String, String>,
    /// Checks by name that run for some members of a workspace, each with its command for them.
    narrowed: BTreeMap<String, CheckAction>,
}

impl LeftOut {
    /// Leaves nothing out.
    pub fn new() -> LeftOut {
        LeftOut::default()
    }

    /// Why a check is left out; none if it runs.
    pub fn get(&self, check: &str) -> Option<&String> {
        self.checks.get(check)
    }

    /// The checks that are left out.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.checks.keys().map(String::as_str)
    }

    /// The check for the members that the change can affect; none if it runs as a whole.
    pub fn narrowed(&self, spec: &CheckSpec) -> Option<CheckSpec> {
        let action = self.narrowed.get(&spec.name)?.clone();
        Some(CheckSpec { action, members: None, ..spec.clone() })
    }
}

/// Finds the checks and the members of workspaces that a change cannot affect.
pub fn left_out(specs: &[CheckSpec], change: TaskChange<'_>) -> LeftOut {
    let checks = unaffected(specs, change.own);
    let narrowed = specs
        .iter()
        .filter(|spec| !checks.contains_key(&spec.name))
        .filter_map(|spec| Some((spec.name.clone(), narrowed(specs, spec, change)?)))
        .collect();
    LeftOut { checks, narrowed }
}

/// A file outside every project may affect all checks. A change that affects no build and no test is verified by all of
/// them.
fn unaffected(specs: &[CheckSpec], changed: &[String]) -> BTreeMap<String, String> {
    let is_free = |file: &&String| !specs.iter().any(|spec| spec.scope.holds(file)) && !is_prose(file);
    if changed.iter().any(|file| is_free(&file)) {
        return BTreeMap::new();
    }
    let mut left: BTreeMap<String, String> = specs
        .iter()
        .filter_map(|spec| match &spec.scope {
            CheckScope::Whole => None,
            CheckScope::Folders(_) if changed.iter().any(|file| spec.scope.holds(file)) => None,
            CheckScope::Folders(folders) => Some((spec.name.clone(), reason(folders))),
        })
        .collect();
    for spec in specs.iter().rev() {
        if !left.contains_key(&spec.name) {
            spec.needs.iter().for_each(|need| {
                left.remove(need);
            });
        }
    }
    let proves = |spec: &&CheckSpec| spec.tier > Tier::One;
    let stays = specs.iter().filter(proves).any(|spec| !left.contains_key(&spec.name));
    if stays { left } else { BTreeMap::new() }
}

/// The command of a check for the members that a change can affect. The manifests say who is a member, so none of them
/// may have changed.
fn narrowed(specs: &[CheckSpec], spec: &CheckSpec, change: TaskChange<'_>) -> Option<CheckAction> {
    let members = spec.members.as_ref()?;
    if change.all.iter().any(|file| members.is_manifest(file)) {
        return None;
    }
    let is_elsewhere = |file: &str| match spec.scope {
        CheckScope::Whole => false,
        CheckScope::Folders(_) => specs.iter().any(|other| other.scope.holds(file)),
    };
    members.narrowed(change.own, |file| spec.scope.holds(file) || !(is_prose(file) || is_elsewhere(file)))
}

impl CheckScope {
    /// Whether a file is in one of the folders of a project.
    fn holds(&self, file: &str) -> bool {
        match self {
            CheckScope::Whole => false,
            CheckScope::Folders(folders) => folders.iter().any(|folder| Path::new(file).starts_with(folder)),
        }
    }
}

fn is_prose(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|ending| PROSE.iter().any(|prose| ending == *prose))
}

fn reason(folders: &[String]) -> String {
    let named: Vec<String> = folders.iter().take(NAMED).map(|folder| format!("`{folder}`")).collect();
    let more = folders.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("not affected: the change touches nothing in {}{more}", named.join(", "))
}
