//! `look-back`: continues a design revision that was approved in an earlier run.
//!
//! The revision count identifies the findings. Findings and design come from the ledger. If the ledger lacks them, as
//! in another clone, they come from the ticket's documents. The tree of the last attempt is reused if the repository
//! still has it.

use super::Done;
use crate::dispatch::LEFT;
use crate::site::{Job, TREES, Trouble};
use crate::ticket::{InheritedRevision, TicketPaths, TicketRun};
use remand_contract::to_yaml;
use remand_git::TreeMerge;
use remand_kernel::change::Digest;
use remand_ledger::RunId;
use remand_ledger::fact::NoteKind;
use serde_json::json;
use std::path::Path;

const DESIGN: &str = "design";
const FINDINGS: &str = "findings";

/// A document of an earlier run: format and text.
type EarlierDocument = (&'static str, String);

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let ticket_run = TicketRun::of(&job.site)?.filter(|ticket_run| ticket_run.history.count > 0);
    let Some(TicketRun { paths, history, .. }) = ticket_run else { return Ok(Done::with_signal("fresh")) };
    let number = history.count;
    let inherited = InheritedRevision::find(&job.site.reader()?, &job.site.run, number)?;
    let found =
        match inherited.as_ref().map(|inherited| find_in_ledger(job, inherited)).transpose()?.flatten() {
            Some(found) => Some(found),
            None => find_in_documents(job, &paths, number)?,
        };
    let Some((design, findings)) = found else {
        let mut done = Done::with_signal("fresh");
        let what = format!(
            "the design was revised {number} times, but the findings for revision {number} were not found"
        );
        done.note(NoteKind::Warning, what);
        return Ok(done);
    };
    let mut done = Done::with_signal("revising");
    done.add_artifact(job, DESIGN, design.0, &design.1);
    done.add_artifact(job, FINDINGS, findings.0, &findings.1);
    done.note(
        NoteKind::Decision,
        format!("continues with revision {number} of the design, as its findings require"),
    );
    let (kind, what) = inherit_tree(job, inherited.as_ref())?;
    done.note(kind, what);
    Ok(done)
}

/// Keeps the earlier run's last tree for the first attempt of this run. Returns a note on where that attempt starts.
fn inherit_tree(job: &Job, inherited: Option<&InheritedRevision>) -> Result<(NoteKind, String), Trouble> {
    let from_base =
        |why: String| Ok((NoteKind::Warning, format!("{why}; the first attempt starts from the base")));
    let Some((run, _)) = inherited.and_then(|inherited| inherited.earlier_run.as_ref()) else {
        return from_base("the earlier work is unknown here".to_string());
    };
    let trees = &job.trees;
    let Some(kept) = last_tree(job, run)?.map(|digest| trees.kept_by(&run.0, digest)).transpose()?.flatten()
    else {
        return from_base(format!("the work of run {run} is no longer kept"));
    };
    let tree = if kept.base == *trees.base() {
        kept.tree
    } else {
        match trees.merge_trees(&kept.base, &trees.base_tree()?, &kept.tree)? {
            TreeMerge::Clean(tree) => tree,
            TreeMerge::Conflict { paths } => {
                let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                return from_base(format!(
                    "the work of run {run} conflicts with the base in {}",
                    paths.join(", ")
                ));
            }
        }
    };
    trees.remember(LEFT, &tree)?;
    Ok((NoteKind::Decision, format!("the first attempt starts from the work of run {run}")))
}

/// The last tree that a run wrote.
fn last_tree(job: &Job, run: &RunId) -> Result<Option<Digest>, Trouble> {
    let rows = job.site.reader()?.artifacts(run)?;
    let trees = rows.into_iter().filter(|row| TREES.contains(&row.name.as_str()) && row.part.is_empty());
    Ok(trees.max_by_key(|row| row.seq).map(|row| row.digest))
}

fn find_in_ledger(
    job: &Job,
    inherited: &InheritedRevision,
) -> Result<Option<(EarlierDocument, EarlierDocument)>, Trouble> {
    let reader = job.site.reader()?;
    let Some(design) = inherited.revision.before else { return Ok(None) };
    let text = |blob| crate::artifacts::content(&reader, blob);
    Ok(Some((("yaml", text(design)?), ("yaml", text(inherited.revision.findings)?))))
}

fn find_in_documents(
    job: &Job,
    paths: &TicketPaths,
    number: u16,
) -> Result<Option<(EarlierDocument, EarlierDocument)>, Trouble> {
    let tree = job.trees.base_tree()?;
    let text = |path: &Path| -> Result<Option<String>, Trouble> {
        let bytes = job.site.repository().read(&tree, path)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let existing = paths.existing_document(DESIGN).zip(paths.existing_findings(number));
    let Some((design, findings)) = existing else { return Ok(None) };
    let both = text(&design)?.zip(text(&findings)?);
    let typed = |markdown: String| to_yaml(&json!({ "payload": { "markdown": markdown } }));
    Ok(both.map(|(design, findings)| (("yaml", typed(design)), ("md", findings))))
}
