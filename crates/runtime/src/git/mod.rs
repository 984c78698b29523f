//! All that the engine does with git: work trees of a run, snapshots, merges, the commits on its branch.
//!
//! Only the git command line is used, and plumbing of it. The user's checkout is read and never written:
//! no file, no index, no HEAD, no branch but `remand/<run>`. Read on in `run.rs` for what a run owns.

mod bounds;
mod call;
mod error;
mod id;
mod programs;

mod diff;
mod hygiene;
mod identity;
mod listing;
mod repository;

mod aside;
mod attach;
mod census;
mod index;
mod look;
mod oddity;
mod overlay;
mod remove;
mod restore;
mod snapshot;
mod stock;
mod submodules;
mod worktree;

mod branch;
mod chain;
mod commit;
mod copy;
mod create;
mod hand_over;
mod hooks;
mod inherit;
mod kept;
mod merge;
mod pool;
mod rollback;
mod run;
mod stale;
mod take_back;

pub use bounds::{Bounds, Remarks};
pub use branch::Files;
pub use census::{Aftermath, Census, Keep, Reach};
pub use commit::{CommitMessage, FinalCommit};
pub use copy::Copy;
pub use diff::{ChangeKind, Changed, Form};
pub use error::GitError;
pub use hand_over::HandOver;
pub use hooks::{Fit, Fittings};
pub use hygiene::{Hygiene, LfsInstalled};
pub use id::{CommitId, TreeId};
pub use inherit::inherit;
pub use kept::{Kept, Merging};
pub use listing::Branch;
pub use merge::Merge;
pub use oddity::{Oddity, Strange};
pub use pool::At;
pub(crate) use remove::{clear_way, is_reached, remove, remove_inside};
pub use repository::{Head, Repository};
pub use rollback::{Committed, Rollback, has_committed, rollback};
pub use run::{BranchFate, RunTrees, State};
pub use stale::{Stale, clean, stale};
pub use take_back::TakenBack;
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
mod exact_tests;
#[cfg(test)]
mod inherit_tests;
#[cfg(test)]
mod kill_tests;
#[cfg(test)]
mod look_tests;
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
