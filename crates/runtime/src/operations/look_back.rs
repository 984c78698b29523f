//! `look-back`: a revision of the design that was approved in an earlier run is gone on with (DR-14).
//!
//! The count of revisions says which findings are meant. The ledger has them with the design that they are about; where
//! it does not, as in another clone, the papers of the ticket are what there is. What was built goes along, where the
//! repository still keeps it (DR-17).

use super::Done;
use super::tracker::keep;
use crate::contract::to_yaml;
use crate::dispatch::LEFT;
use crate::git::Merging;
use crate::papers::{Case, Shelf, TakenUp};
use crate::workshop::{Job, TREES, Trouble};
use remand_kernel::change::Digest;
use remand_ledger::RunId;
use remand_ledger::fact::NoteKind;
use serde_json::json;
use std::path::Path;

const DESIGN: &str = "design";
const FINDINGS: &str = "findings";

/// A document that was left, in the form that it is kept in.
type Left = (&'static str, String);

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let case = Case::of(&job.site)?.filter(|case| case.history.count > 0);
    let Some(Case { shelf, history, .. }) = case else { return Ok(Done::saying("fresh")) };
    let number = history.count;
    let taken = TakenUp::find(&job.site.reader()?, &job.site.run, number)?;
    let left = match taken.as_ref().map(|taken| in_ledger(job, taken)).transpose()?.flatten() {
        Some(left) => Some(left),
        None => in_papers(job, &shelf, number)?,
    };
    let Some((design, findings)) = left else {
        let mut done = Done::saying("fresh");
        let what = format!("the design was revised {number} times, and findings {number} are nowhere");
        done.note(NoteKind::Warning, what);
        return Ok(done);
    };
    let mut done = Done::saying("revising");
    keep(job, &mut done, DESIGN, design.0, &design.1);
    keep(job, &mut done, FINDINGS, findings.0, &findings.1);
    done.note(
        NoteKind::Decision,
        format!("goes on with revision {number} of the design, as findings {number} ask"),
    );
    let (kind, what) = bring_tree(job, taken.as_ref())?;
    done.note(kind, what);
    Ok(done)
}

/// Keeps what the last attempt left for the first one of this run, and says what that begins on.
fn bring_tree(job: &Job, taken: Option<&TakenUp>) -> Result<(NoteKind, String), Trouble> {
    let anew = |why: String| Ok((NoteKind::Warning, format!("{why}; the first attempt begins on the base")));
    let Some((run, _)) = taken.and_then(|taken| taken.tried.as_ref()) else {
        return anew("what was built before is not known here".to_string());
    };
    let trees = &job.trees;
    let Some(kept) = last_tree(job, run)?.map(|digest| trees.kept_by(&run.0, digest)).transpose()?.flatten()
    else {
        return anew(format!("what run {run} built is not kept any more"));
    };
    let tree = if kept.base == *trees.base() {
        kept.tree
    } else {
        match trees.merge_trees(&kept.base, &trees.base_tree()?, &kept.tree)? {
            Merging::Clean(tree) => tree,
            Merging::Conflict { paths } => {
                let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                return anew(format!("what run {run} built does not fit: {}", paths.join(", ")));
            }
        }
    };
    trees.remember(LEFT, &tree)?;
    Ok((NoteKind::Decision, format!("the first attempt begins on what run {run} built")))
}

/// The tree that a run wrote last.
fn last_tree(job: &Job, run: &RunId) -> Result<Option<Digest>, Trouble> {
    let rows = job.site.reader()?.artifacts(run)?;
    let trees = rows.into_iter().filter(|row| TREES.contains(&row.name.as_str()) && row.part.is_empty());
    Ok(trees.max_by_key(|row| row.seq).map(|row| row.digest))
}

fn in_ledger(job: &Job, taken: &TakenUp) -> Result<Option<(Left, Left)>, Trouble> {
    let reader = job.site.reader()?;
    let Some(design) = taken.revision.before else { return Ok(None) };
    let text = |blob| crate::dispatch::content(&reader, blob);
    Ok(Some((("yaml", text(design)?), ("yaml", text(taken.revision.findings)?))))
}

fn in_papers(job: &Job, shelf: &Shelf, number: u16) -> Result<Option<(Left, Left)>, Trouble> {
    let tree = job.trees.base_tree()?;
    let text = |path: &Path| -> Result<Option<String>, Trouble> {
        let bytes = job.site.repository().read(&tree, path)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let paths = shelf.kept_document(DESIGN).zip(shelf.kept_findings(number));
    let Some((design, findings)) = paths else { return Ok(None) };
    let both = text(&design)?.zip(text(&findings)?);
    let typed = |markdown: String| to_yaml(&json!({ "payload": { "markdown": markdown } }));
    Ok(both.map(|(design, findings)| (("yaml", typed(design)), ("md", findings))))
}
