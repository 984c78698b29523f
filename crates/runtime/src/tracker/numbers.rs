//! Numbers for new issues: above all that any reference of the repository has, and given out by the ledger.

use crate::clock;
use crate::git::Repository;
use crate::workshop::Trouble;
use remand_documents::tracker::{FOLDER, IssueId, Tracker};
use remand_ledger::{Ledger, Reserve};
use std::path::Path;

/// Numbers that are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'n> {
    pub prefix: &'n str,
    /// Who asks; asking again gives the same.
    pub holder: &'n str,
    pub count: usize,
}

/// Reserves ids that no work tree and no reference of the repository has.
pub fn numbers(
    repository: &Repository,
    ledger: &Path,
    here: &Tracker,
    asked: Numbers<'_>,
) -> Result<Vec<IssueId>, Trouble> {
    if asked.count == 0 {
        return Ok(Vec::new());
    }
    let elsewhere = repository.names_over_references(FOLDER)?;
    let elsewhere = elsewhere.iter().filter_map(|name| IssueId::of_file(name));
    let all = elsewhere.chain(here.issues().map(|issue| issue.id().clone()));
    let above = all.filter(|id| id.prefix() == asked.prefix).map(|id| id.number()).max().unwrap_or(0);
    let numbers = Ledger::open(ledger)?.reserve(Reserve {
        prefix: asked.prefix,
        holder: asked.holder,
        count: asked.count,
        above,
        at: clock::now(),
    })?;
    let unfit = || Trouble::denied(format!("`{}` cannot begin the id of an issue", asked.prefix));
    numbers.into_iter().map(|number| IssueId::new(asked.prefix, number).ok_or_else(unfit)).collect()
}
