//! The first attempt at a revised design begins where the last one ended, without what the findings throw away (DR-17).

use super::inputs::content;
use crate::contract::schema::failure::{Hint, HintAction};
use crate::papers::{self, Case};
use crate::workshop::{Job, LaneTree, TREES, Trouble};
use remand_kernel::command::Dispatch;
use remand_ledger::Reader;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Puts files that are to be discarded back to what they are at the base.
pub fn begin(
    job: &Job,
    dispatch: &Dispatch,
    lane: LaneTree,
    case: &Case,
    reader: &Reader,
) -> Result<LaneTree, Trouble> {
    let discarded = discarded(job, dispatch, case, reader)?;
    if discarded.files.is_empty() {
        return Ok(lane);
    }
    let _main = job.site.hold_main();
    let base = job.site.trees.base_tree()?;
    let changed = lane.work.changed(&base, &lane.tree)?;
    let paths: BTreeSet<PathBuf> =
        changed.into_iter().map(|change| change.path).filter(|path| discarded.is_meant(path)).collect();
    if paths.is_empty() {
        return Ok(lane);
    }
    let tree = job.site.trees.with_paths(&lane.tree, &base, &paths)?;
    lane.work.restore(&tree)?;
    Ok(LaneTree { tree, ..lane })
}

/// What findings throw away of an attempt.
#[derive(Debug, Default)]
struct Discarded {
    files: Vec<PathBuf>,
    /// Stays, though what it is in is thrown away.
    kept: Vec<PathBuf>,
}

impl Discarded {
    fn is_meant(&self, path: &Path) -> bool {
        let is_below = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        is_below(&self.files) && !is_below(&self.kept)
    }
}

/// What the findings of the last revision throw away, as long as nobody tried the revised design.
fn discarded(job: &Job, dispatch: &Dispatch, case: &Case, reader: &Reader) -> Result<Discarded, Trouble> {
    let writes_code = |id: &remand_kernel::ids::ArtifactId| job.program.artifacts[id.index()] == TREES[0];
    let implements = job.program.contract(dispatch.contract).changes.iter().any(writes_code);
    let history = &case.history;
    let tried = history.attempts.iter().any(|attempt| attempt.design > history.count);
    let Some(revision) = history.current().filter(|_| implements && !tried) else {
        return Ok(Discarded::default());
    };
    let Some(report) = papers::typed(&content(reader, revision.findings)?) else {
        return Ok(Discarded::default());
    };
    let (thrown, kept): (Vec<_>, Vec<_>) =
        report.proposed_change.hints.into_iter().partition(|hint| hint.action == HintAction::Discard);
    let paths =
        |hints: Vec<Hint>| -> Vec<PathBuf> { hints.iter().filter_map(|hint| inside(&hint.file.0)).collect() };
    Ok(Discarded { files: paths(thrown), kept: paths(kept) })
}

/// The path as the tree knows it; none for what is outside of it, or all of it.
fn inside(named: &str) -> Option<PathBuf> {
    let mut inside = PathBuf::new();
    for part in Path::new(named.trim()).components() {
        match part {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(inside).filter(|inside| !inside.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    // DR-17
    #[test]
    fn what_is_kept_by_name_is_kept_in_a_discarded_folder_and_nothing_outside_is_meant() {
        let discarded = Discarded {
            files: ["./src/", "/", "..", "docs/a.md"].iter().filter_map(|named| inside(named)).collect(),
            kept: vec!["src/keep.rs".into()],
        };
        let is_meant = |path: &str| discarded.is_meant(Path::new(path));
        assert_eq!(
            ["src/lib.rs", "src/keep.rs", "docs/a.md", "README.md"].map(is_meant),
            [true, false, true, false]
        );
    }
}
