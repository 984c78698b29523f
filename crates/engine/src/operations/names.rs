//! Finds the new names and links of a change that mislead a reader.

use crate::site::{Job, LaneContent, Trouble};
use remand_checks::{ChangedNames, misleading_names};
use remand_git::ChangeKind;
use remand_kernel::finding::Finding;
use std::path::PathBuf;

/// The misleading names that the lane has added since it started.
pub fn misleading(job: &Job, lane: &LaneContent) -> Result<Vec<Finding>, Trouble> {
    let repository = job.site.repository();
    let base = repository.tree_of(&lane.base)?;
    let is_new_name = |kind: ChangeKind| matches!(kind, ChangeKind::Added | ChangeKind::Symlink);
    let changed = repository.changed(&base, &lane.tree)?.into_iter();
    let changed: Vec<PathBuf> =
        changed.filter(|change| is_new_name(change.kind)).map(|change| change.path).collect();
    if changed.is_empty() {
        return Ok(Vec::new());
    }
    let (before, after) = (repository.files(&base)?, repository.files(&lane.tree)?);
    let links = repository.links(&lane.tree)?;
    let names = ChangedNames { changed: &changed, before: &before, after: &after, links: &links };
    Ok(misleading_names(&names))
}
