//! Checks: what the engine runs itself to know whether work holds (EP-15).
//!
//! Which checks there are is fixed before a run (`detect`, `specs`); `run` gives outcomes; `evidence.rs` turns them
//! into rows and `compare.rs` into findings. What an agent says about a check has no way in here.

mod spec;

mod affected;
mod detect;
mod members;
mod order;
mod project;
mod toolchain;

mod installed;
mod job;
mod run;
mod syntax;
mod tree_files;

mod readiness;
mod smoke;

mod outcome;
mod parsers;
mod place;
mod plant;
mod snippet;

mod cache;
mod recall;
mod tool_version;

mod asked;
mod compare;
mod deciding;
mod doubt;
mod evidence;
mod failure;
mod integrity;

#[cfg(test)]
mod detect_tests;
#[cfg(test)]
mod members_tests;
#[cfg(test)]
mod projects_tests;
#[cfg(test)]
mod run_tests;
#[cfg(test)]
mod smoke_tests;

pub use affected::{Change, LeftOut, left_out};
pub use cache::{Setting, installed};
pub use compare::{Before, compare, compare_but};
pub use detect::{Probe, detect};
pub use doubt::{Past, doubt};
pub use evidence::{Occasion, Recorded, checks, rows};
pub use failure::{FailureKind, failures, kind_of, may_be_silent};
pub use installed::{lend, link, link_for_hooks};
pub use integrity::{
    Announced, Edited, Ground, HadTests, Integrity, concerns, ends_with_name, integrity, is_about_tests,
};
pub use members::{Member, Members, Naming};
pub use order::{SpecError, specs};
pub use outcome::{CheckOutcome, End, Known, Listed, Steadiness, Taken};
pub use plant::{Plant, Planted, goes_by_file, plant};
pub use readiness::{Leak, readiness};
pub use recall::Recall;
pub use run::{Context, Files, Progress, Which, run};
pub use smoke::{hangs, has_runtime_signal, kept, loading, serving, smoke};
pub use snippet::telling;
pub use spec::{Action, BuiltIn, CheckSpec, Parser, Scope};
pub use tool_version::Tools;
