//! What a change can affect: the checks that are worth running for it.

use super::spec::{CheckSpec, Scope};
use remand_kernel::evidence::Tier;
use std::collections::BTreeMap;
use std::path::Path;

/// Text for people that no check reads, unless it lies in a project.
const PROSE: [&str; 3] = ["md", "rst", "adoc"];

/// How many folders a reason names.
const NAMED: usize = 3;

/// Checks that are left out, by name, each with the reason.
pub type LeftOut = BTreeMap<String, String>;

/// The checks that a change of these files cannot affect. A file that is in no project may matter to all of them, and
/// a change that affects no build and no test is verified by all of them.
pub fn left_out(specs: &[CheckSpec], changed: &[String]) -> LeftOut {
    let is_free = |file: &&String| !specs.iter().any(|spec| spec.scope.holds(file)) && !is_prose(file);
    if changed.iter().any(|file| is_free(&file)) {
        return LeftOut::new();
    }
    let mut left: LeftOut = specs
        .iter()
        .filter_map(|spec| match &spec.scope {
            Scope::Whole => None,
            Scope::Folders(_) if changed.iter().any(|file| spec.scope.holds(file)) => None,
            Scope::Folders(folders) => Some((spec.name.clone(), reason(folders))),
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
    if stays { left } else { LeftOut::new() }
}

impl Scope {
    /// Whether a file is in one of the folders of a project.
    fn holds(&self, file: &str) -> bool {
        match self {
            Scope::Whole => false,
            Scope::Folders(folders) => folders.iter().any(|folder| Path::new(file).starts_with(folder)),
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
