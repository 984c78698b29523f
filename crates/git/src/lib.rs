//! Everything that the engine does with git: a run's work trees, snapshots, merges, and the commits on its branch.
//!
//! Uses only the git command line, and only its plumbing commands. The user's checkout is read but never written: no
//! file, no index, no HEAD, and no branch except `remand/<run>`. `run.rs` describes what a run owns.

mod bounds;
mod call;
mod error;
mod id;
mod invocation;
mod programs;
mod random;

mod diff;
mod hygiene;
mod identity;
mod listing;
mod names;
mod private_folder;
mod repository;

mod attach;
mod census;
mod differences;
mod index;
mod inventory;
mod oddity;
mod overlay;
mod remove;
mod restore;
mod side_repository;
mod snapshot;
mod submodules;
mod worktree;

mod branch;
mod branch_log;
mod chain;
mod commit;
mod create;
mod hand_over;
mod hooks;
mod inherit;
mod kept;
mod merge;
mod message;
mod open;
mod pool;
mod rollback;
mod run;
mod stale;
mod temporary_checkout;
mod undo;

pub use bounds::{ProgramBounds, ProgramWarnings};
pub use branch::FileContents;
pub use census::{Aftermath, Census, KeepIgnored, Reach};
pub use commit::FinalCommit;
pub use diff::{ChangeKind, ChangedPath, PathKind};
pub use error::{GitError, UserProgram};
pub use hand_over::HandOver;
pub use hooks::{HookFiles, SetUpHooks};
pub use hygiene::{Hygiene, LfsInstalled};
pub use id::{CommitId, TreeId};
pub use inherit::inherit;
pub use kept::{KeptTree, TreeMerge};
pub use listing::Branch;
pub use merge::TaskMerge;
pub use message::CommitMessage;
pub use oddity::{Oddity, OddityKind};
pub use pool::TaskStart;
pub use private_folder::private_folder;
pub use remove::{clear_way, is_reached, remove, remove_inside};
pub use repository::{CheckoutHead, Repository};
pub use rollback::{RollbackResult, RunCommits, has_committed, rollback};
pub use run::{CommitState, RunTrees};
pub use stale::{BranchFate, StaleRun, clean, stale};
pub use temporary_checkout::TemporaryCheckout;
pub use undo::UndoneTasks;
pub use worktree::WorkTree;

#[cfg(test)]
mod testbed;

#[cfg(test)]
mod census_tests;
#[cfg(test)]
mod commit_tests;
#[cfg(test)]
mod diff_tests;
#[cfg(test)]
mod differences_tests;
#[cfg(test)]
mod exact_tests;
#[cfg(test)]
mod inherit_tests;
#[cfg(test)]
mod kill_tests;
#[cfg(test)]
mod merge_tests;
#[cfg(test)]
mod programs_tests;
#[cfg(test)]
mod repository_tests;
#[cfg(test)]
mod run_tests;
#[cfg(test)]
mod snapshot_tests;
#[cfg(test)]
mod stale_tests;
#[cfg(test)]
mod submodules_tests;
