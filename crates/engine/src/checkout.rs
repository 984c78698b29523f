//! The user's checkout: looked at on the user's machine when a run begins, and recorded with the run.

use crate::site::{Site, Trouble};
use remand_git::{CommitId, GitError, Hygiene, Repository};
use remand_ledger::fact::{CheckoutFacts, CheckoutFinding, CheckoutFindingKind};

/// Looks at the checkout, and at the commit that a run starts from.
pub fn look_at(repository: &Repository, base: &CommitId) -> Result<CheckoutFacts, GitError> {
    let branch = repository.head()?.branch;
    let finding = |found: &Hygiene| CheckoutFinding { kind: kind(found), text: found.to_string() };
    Ok(CheckoutFacts { branch, findings: repository.hygiene(base)?.iter().map(finding).collect() })
}

/// The checkout as it was when the run began.
pub fn facts_of(site: &Site) -> Result<CheckoutFacts, Trouble> {
    match &site.opened.checkout {
        Some(facts) => Ok(facts.clone()),
        // Journals of version 0.1.0 do not hold these facts: those runs look when they need them.
        None => Ok(look_at(site.repository(), site.trees.base())?),
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
