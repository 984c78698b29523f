//! Finds the checks that a change can affect; only these are worth running.

use super::action::CheckAction;
use super::spec::{CheckScope, CheckSpec};
use remand_kernel::evidence::Tier;
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum number of folders that a reason names.
const MAX_NAMED: usize = 3;

/// The changed files of a task.
#[derive(Clone, Copy, Debug)]
pub struct TaskChange<'c> {
    /// Files that the task itself changed.
    pub by_task: &'c [String],
    /// Files that differ from the tree in which the checks were detected.
    pub since_detection: &'c [String],
}

/// Checks and workspace members that do not run because the change cannot affect them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Checks by name, each with the reason.
    checks: BTreeMap<String, String>,
    /// Commands of checks that run only for some members of a workspace, by the name of the check.
    narrowed: BTreeMap<String, CheckAction>,
}

impl LeftOut {
    /// Leaves nothing out.
    pub fn new() -> LeftOut {
        LeftOut::default()
    }

    /// Why a check is left out; `None` if it runs.
    pub fn get(&self, check: &str) -> Option<&String> {
        self.checks.get(check)
    }

    /// The checks that are left out.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.checks.keys().map(String::as_str)
    }

    /// The check, restricted to the members that the change can affect; `None` if it runs for all members.
    pub fn narrowed(&self, spec: &CheckSpec) -> Option<CheckSpec> {
        let action = self.narrowed.get(&spec.name)?.clone();
        Some(CheckSpec { action, members: None, ..spec.clone() })
    }
}

/// Finds the checks and the members of workspaces that a change cannot affect.
pub fn left_out(specs: &[CheckSpec], change: TaskChange<'_>) -> LeftOut {
    let checks = unaffected(specs, change.by_task);
    let narrowed = specs
        .iter()
        .filter(|spec| !checks.contains_key(&spec.name))
        .filter_map(|spec| Some((spec.name.clone(), narrowed(specs, spec, change)?)))
        .collect();
    LeftOut { checks, narrowed }
}

/// The checks that a change cannot affect, each with the reason. All checks run, so the result is empty, if a changed file
/// is outside every project, or if the change affects no build and no test.
fn unaffected(specs: &[CheckSpec], changed: &[String]) -> BTreeMap<String, String> {
    let is_outside = |file: &&String| !specs.iter().any(|spec| spec.scope.contains(file)) && !is_prose(file);
    if changed.iter().any(|file| is_outside(&file)) {
        return BTreeMap::new();
    }
    let mut unaffected: BTreeMap<String, String> = specs
        .iter()
        .filter_map(|spec| match &spec.scope {
            CheckScope::Whole => None,
            CheckScope::Folders(_) if changed.iter().any(|file| spec.scope.contains(file)) => None,
            CheckScope::Folders(folders) => Some((spec.name.clone(), reason(folders))),
        })
        .collect();
    for spec in specs.iter().rev() {
        if !unaffected.contains_key(&spec.name) {
            spec.needs.iter().for_each(|need| {
                unaffected.remove(need);
            });
        }
    }
    let is_build_or_test = |spec: &&CheckSpec| spec.tier > Tier::One;
    let some_run = specs.iter().filter(is_build_or_test).any(|spec| !unaffected.contains_key(&spec.name));
    if some_run { unaffected } else { BTreeMap::new() }
}

/// The command of a check for the members that a change can affect; `None` if a manifest changed, since it lists the
/// members.
fn narrowed(specs: &[CheckSpec], spec: &CheckSpec, change: TaskChange<'_>) -> Option<CheckAction> {
    let members = spec.members.as_ref()?;
    if change.since_detection.iter().any(|file| members.is_manifest(file)) {
        return None;
    }
    let is_elsewhere = |file: &str| match spec.scope {
        CheckScope::Whole => false,
        CheckScope::Folders(_) => specs.iter().any(|other| other.scope.contains(file)),
    };
    members
        .narrowed(change.by_task, |file| spec.scope.contains(file) || !(is_prose(file) || is_elsewhere(file)))
}

impl CheckScope {
    /// Whether a file is in one of the folders; false for `Whole`.
    fn contains(&self, file: &str) -> bool {
        match self {
            CheckScope::Whole => false,
            CheckScope::Folders(folders) => folders.iter().any(|folder| Path::new(file).starts_with(folder)),
        }
    }
}

/// Prose outside all projects affects nothing, because no check reads it.
fn is_prose(file: &str) -> bool {
    remand_source::is_prose(Path::new(file))
}

fn reason(folders: &[String]) -> String {
    let named: Vec<String> = folders.iter().take(MAX_NAMED).map(|folder| format!("`{folder}`")).collect();
    let more = folders.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("not affected: the change touches nothing in {}{more}", named.join(", "))
}
