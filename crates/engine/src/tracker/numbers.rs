//! Ids for new issues. Their numbers are higher than any in use on a branch or tag, and are reserved in the ledger.

use crate::clock;
use crate::site::Trouble;
use crate::store::Store;
use remand_documents::tracker::{FOLDER, IssueKey, Tracker};
use remand_git::Repository;
use remand_ledger::Reserve;

/// A request for issue ids.
#[derive(Clone, Copy, Debug)]
pub struct IdRequest<'n> {
    pub prefix: &'n str,
    /// Identifies the request. A repeated request gets the same ids.
    pub holder: &'n str,
    pub count: usize,
}

/// Reserves ids that neither the given tracker nor any git reference of the repository uses.
pub fn reserve_ids(
    repository: &Repository,
    store: &dyn Store,
    here: &Tracker,
    request: IdRequest<'_>,
) -> Result<Vec<IssueKey>, Trouble> {
    if request.count == 0 {
        return Ok(Vec::new());
    }
    let used = repository.names_over_references(FOLDER)?;
    let used = used.iter().filter_map(|name| IssueKey::of_file(name));
    let all = used.chain(here.issues().map(|issue| issue.id().clone()));
    let above = all.filter(|id| id.prefix() == request.prefix).map(|id| id.number()).max().unwrap_or(0);
    let numbers = store.reserve(Reserve {
        prefix: request.prefix,
        holder: request.holder,
        count: request.count,
        above,
        at: clock::now(),
    })?;
    let invalid = || Trouble::denied(format!("`{}` is not a valid prefix for issue ids", request.prefix));
    numbers.into_iter().map(|number| IssueKey::new(request.prefix, number).ok_or_else(invalid)).collect()
}
