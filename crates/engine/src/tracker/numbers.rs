//! Numbers for new issues: higher than any number in a reference of the repository, and reserved in the ledger.

use crate::clock;
use crate::site::Trouble;
use crate::store::Store;
use remand_documents::tracker::{FOLDER, IssueKey, Tracker};
use remand_git::Repository;
use remand_ledger::Reserve;

/// A request for numbers.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'n> {
    pub prefix: &'n str,
    /// Identifies the request; a repeated request returns the same numbers.
    pub holder: &'n str,
    pub count: usize,
}

/// Reserves ids that no work tree and no reference of the repository uses.
pub fn numbers(
    repository: &Repository,
    store: &dyn Store,
    here: &Tracker,
    asked: Numbers<'_>,
) -> Result<Vec<IssueKey>, Trouble> {
    if asked.count == 0 {
        return Ok(Vec::new());
    }
    let elsewhere = repository.names_over_references(FOLDER)?;
    let elsewhere = elsewhere.iter().filter_map(|name| IssueKey::of_file(name));
    let all = elsewhere.chain(here.issues().map(|issue| issue.id().clone()));
    let above = all.filter(|id| id.prefix() == asked.prefix).map(|id| id.number()).max().unwrap_or(0);
    let numbers = store.reserve(Reserve {
        prefix: asked.prefix,
        holder: asked.holder,
        count: asked.count,
        above,
        at: clock::now(),
    })?;
    let invalid = || Trouble::denied(format!("`{}` is not a valid prefix of issue ids", asked.prefix));
    numbers.into_iter().map(|number| IssueKey::new(asked.prefix, number).ok_or_else(invalid)).collect()
}
