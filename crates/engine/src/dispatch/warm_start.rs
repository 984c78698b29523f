//! The warm start: the first attempt at a revised design starts with the tree of the last attempt, without the files that
//! the findings discard. The last attempt may be from an earlier run; the operation `look-back` has fetched its tree.

use crate::artifacts::content;
use crate::site::{Job, LaneTree, TREES, Trouble};
use crate::ticket::{self, Revision, TicketRun};
use remand_contract::schema::failure::{Hint, HintAction};
use remand_kernel::command::Dispatch;
use remand_kernel::ids::ArtifactId;
use remand_ledger::Reader;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The name under which the tree of an earlier run is stored.
pub const LEFT: &str = "left";

/// Sets the tree to the state of the last attempt, with discarded files reverted to the base.
pub fn begin(
    job: &Job,
    dispatch: &Dispatch,
    lane: LaneTree,
    ticket_run: &TicketRun,
    reader: &Reader,
) -> Result<LaneTree, Trouble> {
    let Some(revision) = untried_revision(job, dispatch, ticket_run) else {
        return Ok(lane);
    };
    let discarded = discarded(revision, reader)?;
    let _main = job.site.hold_main();
    let trees = &job.trees;
    let base = trees.base_tree()?;
    let mut tree = lane.tree.clone();
    if tree == base
        && let Some(earlier) = trees.remembered(LEFT)?
    {
        tree = earlier;
    }
    let changed = lane.work.changed(&base, &tree)?;
    let paths: BTreeSet<PathBuf> =
        changed.into_iter().map(|change| change.path).filter(|path| discarded.includes(path)).collect();
    if !paths.is_empty() {
        tree = trees.with_paths(&tree, &base, &paths)?;
    }
    if tree != lane.tree {
        lane.work.restore(&tree)?;
    }
    Ok(LaneTree { tree, ..lane })
}

/// The files of an attempt that findings discard.
#[derive(Debug, Default)]
struct Discarded {
    files: Vec<PathBuf>,
    /// Files to keep, even inside a discarded folder.
    kept: Vec<PathBuf>,
}

impl Discarded {
    fn includes(&self, path: &Path) -> bool {
        let is_below = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        is_below(&self.files) && !is_below(&self.kept)
    }
}

/// The current revision, if this is the first attempt at its design.
fn untried_revision<'c>(job: &Job, dispatch: &Dispatch, ticket_run: &'c TicketRun) -> Option<&'c Revision> {
    let writes_code = |id: &ArtifactId| job.program.artifacts[id.index()] == TREES[0];
    let implements = job.program.contract(dispatch.contract).changes.iter().any(writes_code);
    let history = &ticket_run.history;
    let tried = history.attempts.iter().any(|attempt| attempt.design > history.count);
    history.current().filter(|_| implements && !tried)
}

/// The files that the findings of a revision discard.
fn discarded(revision: &Revision, reader: &Reader) -> Result<Discarded, Trouble> {
    let Some(report) = ticket::report(&content(reader, revision.findings)?) else {
        return Ok(Discarded::default());
    };
    let (discarded, kept): (Vec<_>, Vec<_>) =
        report.proposed_change.hints.into_iter().partition(|hint| hint.action == HintAction::Discard);
    let paths = |hints: Vec<Hint>| -> Vec<PathBuf> {
        hints.iter().filter_map(|hint| relative_path(&hint.file.0)).collect()
    };
    Ok(Discarded { files: paths(discarded), kept: paths(kept) })
}

/// A path relative to the tree; `None` for a path outside the tree and for the tree itself.
fn relative_path(path: &str) -> Option<PathBuf> {
    let mut relative = PathBuf::new();
    for part in Path::new(path.trim()).components() {
        match part {
            Component::Normal(name) => relative.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(relative).filter(|relative| !relative.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    // DR-17
    #[test]
    fn a_kept_file_survives_in_a_discarded_folder_and_nothing_outside_the_tree_is_discarded() {
        let discarded = Discarded {
            files: ["./src/", "/", "..", "docs/a.md"].iter().filter_map(|path| relative_path(path)).collect(),
            kept: vec!["src/keep.rs".into()],
        };
        let is_discarded = |path: &str| discarded.includes(Path::new(path));
        assert_eq!(
            ["src/lib.rs", "src/keep.rs", "docs/a.md", "README.md"].map(is_discarded),
            [true, false, true, false]
        );
    }
}
