//! `look-back`: a revision of the design that was approved in an earlier run is gone on with (DR-14).
//!
//! The count of revisions says which findings are meant. The ledger has them with the design that they are about; where
//! it does not, as in another clone, the papers of the ticket are what there is.

use super::Done;
use super::tracker::keep;
use crate::contract::to_yaml;
use crate::papers::{Case, Shelf, TakenUp};
use crate::workshop::{Job, Trouble};
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
    let left = match in_ledger(job, number)? {
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
    Ok(done)
}

fn in_ledger(job: &Job, number: u16) -> Result<Option<(Left, Left)>, Trouble> {
    let reader = job.site.reader()?;
    let Some(taken) = TakenUp::find(&reader, &job.site.run, number)? else { return Ok(None) };
    let Some(design) = taken.revision.before else { return Ok(None) };
    let text = |blob| crate::dispatch::content(&reader, blob);
    Ok(Some((("yaml", text(design)?), ("yaml", text(taken.revision.findings)?))))
}

fn in_papers(job: &Job, shelf: &Shelf, number: u16) -> Result<Option<(Left, Left)>, Trouble> {
    let tree = job.site.trees.base_tree()?;
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
