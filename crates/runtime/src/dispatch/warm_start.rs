//! The first attempt at a revised design begins where the last one ended, without what the findings throw away (DR-17).

use super::inputs::content;
use crate::contract::schema::failure::HintAction;
use crate::papers::{self, Case};
use crate::workshop::{Job, LaneTree, TREES, Trouble};
use remand_kernel::command::Dispatch;
use remand_ledger::Reader;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Puts files that are to be discarded back to what they are at the base.
pub fn begin(
    job: &Job,
    dispatch: &Dispatch,
    lane: LaneTree,
    case: &Case,
    reader: &Reader,
) -> Result<LaneTree, Trouble> {
    let discarded = discarded(job, dispatch, case, reader)?;
    if discarded.is_empty() {
        return Ok(lane);
    }
    let _main = job.site.hold_main();
    let base = job.site.trees.base_tree()?;
    let is_meant = |path: &Path| discarded.iter().any(|file| path == file || path.starts_with(file));
    let changed = lane.work.changed(&base, &lane.tree)?;
    let paths: BTreeSet<PathBuf> =
        changed.into_iter().map(|change| change.path).filter(|path| is_meant(path)).collect();
    if paths.is_empty() {
        return Ok(lane);
    }
    let tree = job.site.trees.with_paths(&lane.tree, &base, &paths)?;
    lane.work.restore(&tree)?;
    Ok(LaneTree { tree, ..lane })
}

/// What the findings of the last revision throw away, as long as nobody tried the revised design.
fn discarded(job: &Job, dispatch: &Dispatch, case: &Case, reader: &Reader) -> Result<Vec<PathBuf>, Trouble> {
    let writes_code = |id: &remand_kernel::ids::ArtifactId| job.program.artifacts[id.index()] == TREES[0];
    let implements = job.program.contract(dispatch.contract).changes.iter().any(writes_code);
    let history = &case.history;
    let tried = history.attempts.iter().any(|attempt| attempt.design > history.count);
    let Some(revision) = history.current().filter(|_| implements && !tried) else { return Ok(Vec::new()) };
    let Some(report) = papers::typed(&content(reader, revision.findings)?) else { return Ok(Vec::new()) };
    let hints = report.proposed_change.hints.into_iter().filter(|hint| hint.action == HintAction::Discard);
    Ok(hints.map(|hint| PathBuf::from(hint.file.0.trim().trim_end_matches('/'))).collect())
}
