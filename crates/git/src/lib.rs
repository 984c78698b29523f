//! Everything that the engine does with git: a run's work trees, snapshots, merges, and the commits on its branch.
//!
//! It calls the git program, mostly plumbing commands. It reads the user's checkout but never writes to it: no file, no
//! index, no HEAD, and no branch except `remand/<run>`. Only `fast_forward` moves a branch of the user, when the user asks
//! for it. `run.rs` describes what a run owns.

mod call;
mod error;
mod id;
mod invocation;
mod program_limits;
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
mod differences;
mod excess;
mod index;
mod inventory;
mod leftover;
mod outline;
mod overlay;
mod remove;
mod restore;
mod scan;
mod side_repository;
mod snapshot;
mod submodules;
mod tree_limits;
mod worktree;

mod branch;
mod branch_log;
mod chain;
mod commit;
mod create;
mod given;
mod hand_over;
mod hooks;
mod inherit;
mod kept;
mod main_line;
mod merge;
mod message;
mod open;
mod pool;
mod rollback;
mod run;
mod stale;
mod temporary_checkout;
mod undo;

pub use branch::FileContents;
pub use commit::FinalCommit;
pub use diff::{ChangeKind, ChangedPath, PathKind};
pub use error::{GitError, UserProgram};
pub use given::{CommitMerge, FastForward};
pub use hand_over::HandOver;
pub use hooks::{HookFiles, SetUpHooks};
pub use hygiene::{Hygiene, LfsInstalled};
pub use id::{CommitId, TreeId};
pub use inherit::inherit;
pub use inventory::{Aftermath, Inventory, KeepIgnored, Reach};
pub use kept::{KeptTree, TreeMerge};
pub use leftover::{Leftover, LeftoverKind};
pub use listing::Branch;
pub use main_line::MainLineState;
pub use merge::TaskMerge;
pub use message::CommitMessage;
pub use pool::TaskStart;
pub use private_folder::private_folder;
pub use program_limits::{GitProgramLimits, ProgramWarnings};
pub use remove::{create_parents, has_real_parents, remove, remove_inside};
pub use repository::{CheckoutHead, Repository};
pub use rollback::{RollbackResult, RunCommits, has_committed, rollback};
pub use run::{CommitState, RunTrees};
pub use stale::{BranchFate, StaleRun, clean, is_cleaned, stale_runs};
pub use temporary_checkout::TemporaryCheckout;
pub use tree_limits::{Excess, ExcessKind, TreeLimits};
pub use undo::UndoneTasks;
pub use worktree::WorkTree;

#[cfg(test)]
mod testbed;

#[cfg(test)]
mod commit_tests;
#[cfg(test)]
mod diff_tests;
#[cfg(test)]
mod differences_tests;
#[cfg(test)]
mod exact_tests;
#[cfg(test)]
mod excess_tests;
#[cfg(test)]
mod given_tests;
#[cfg(test)]
mod inherit_tests;
#[cfg(test)]
mod inventory_tests;
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
