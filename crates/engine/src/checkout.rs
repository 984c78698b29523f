//! The state of the user's checkout when a run starts, recorded with the run.

use crate::site::{Site, Trouble};
use remand_git::{CommitId, GitError, Hygiene, Repository};
use remand_ledger::fact::{CheckoutFacts, CheckoutFinding, CheckoutFindingKind};

/// Inspects the checkout, and the commit that a run starts from.
pub fn inspect(repository: &Repository, base: &CommitId) -> Result<CheckoutFacts, GitError> {
    let branch = repository.head()?.branch;
    let finding = |found: &Hygiene| CheckoutFinding { kind: kind(found), text: found.to_string() };
    Ok(CheckoutFacts { branch, findings: repository.hygiene(base)?.iter().map(finding).collect() })
}

/// The checkout as it was when the run started.
pub fn facts_of(site: &Site) -> Result<CheckoutFacts, Trouble> {
    match &site.opened.checkout {
        Some(facts) => Ok(facts.clone()),
        // Journals of version 0.1.0 do not contain these facts, so the checkout is inspected now.
        None => Ok(inspect(site.repository(), site.trees.base())?),
    }
}

fn kind(found: &Hygiene) -> CheckoutFindingKind {
    match found {
        Hygiene::Dirty { .. } => CheckoutFindingKind::Dirty,
        Hygiene::DetachedHead => CheckoutFindingKind::DetachedHead,
        Hygiene::OnDefaultBranch { .. } => CheckoutFindingKind::OnDefaultBranch,
        Hygiene::InProgress { .. } => CheckoutFindingKind::InProgress,
        Hygiene::Submodules { .. } => CheckoutFindingKind::Submodules,
        Hygiene::Lfs { .. } => CheckoutFindingKind::Lfs,
        Hygiene::SparseCheckout => CheckoutFindingKind::SparseCheckout,
        Hygiene::ShallowClone => CheckoutFindingKind::ShallowClone,
    }
}
