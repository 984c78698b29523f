//! The first attempt at a revised design begins where the last one ended, without what the findings throw away (DR-17).
//! The last one may have been made in an earlier run: `look-back` has brought it along.

use super::inputs::content;
use crate::contract::schema::failure::{Hint, HintAction};
use crate::papers::{self, Case, Revision};
use crate::workshop::{Job, LaneTree, TREES, Trouble};
use remand_kernel::command::Dispatch;
use remand_kernel::ids::ArtifactId;
use remand_ledger::Reader;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The name of the tree that an earlier run left.
pub const LEFT: &str = "left";

/// Brings the tree to what the last attempt left, and puts files that are to be discarded back to what they are at the
/// base.
pub fn begin(
    job: &Job,
    dispatch: &Dispatch,
    lane: LaneTree,
    case: &Case,
    reader: &Reader,
) -> Result<LaneTree, Trouble> {
    let Some(revision) = untried(job, dispatch, case) else {
        return Ok(lane);
    };
    let discarded = discarded(revision, reader)?;
    let _main = job.site.hold_main();
    let trees = &job.trees;
    let base = trees.base_tree()?;
    let mut tree = lane.tree.clone();
    if tree == base
        && let Some(left) = trees.remembered(LEFT)?
    {
        tree = left;
    }
    let changed = lane.work.changed(&base, &tree)?;
    let paths: BTreeSet<PathBuf> =
        changed.into_iter().map(|change| change.path).filter(|path| discarded.is_meant(path)).collect();
    if !paths.is_empty() {
        tree = trees.with_paths(&tree, &base, &paths)?;
    }
    if tree != lane.tree {
        lane.work.restore(&tree)?;
    }
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

/// The last revision, if this is the first attempt at the revised design.
fn untried<'c>(job: &Job, dispatch: &Dispatch, case: &'c Case) -> Option<&'c Revision> {
    let writes_code = |id: &ArtifactId| job.program.artifacts[id.index()] == TREES[0];
    let implements = job.program.contract(dispatch.contract).changes.iter().any(writes_code);
    let history = &case.history;
    let tried = history.attempts.iter().any(|attempt| attempt.design > history.count);
    history.current().filter(|_| implements && !tried)
}

/// What the findings of a revision throw away.
fn discarded(revision: &Revision, reader: &Reader) -> Result<Discarded, Trouble> {
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
