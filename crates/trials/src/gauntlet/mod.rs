//! The gauntlet: misbehaving agents on small real projects, and the expected outcome of each case.
//!
//! A case is data (`gauntlet/cases/`). A trial runs it with this program as a child process in its own folder, and
//! judges it by the ledger, by its surroundings before and after, and by an oracle that trusts neither.

mod case;
mod catalogue;
mod family;
mod kind;
mod must;
mod project;

mod arena;
mod bait;
mod engine;
mod runners;
mod tool;

mod hunt;
mod oracle;
mod outcome;
mod records;
mod trial;
mod world;

mod compare;
mod comparison_record;
mod lineup;
mod report;

pub use catalogue::{ChosenCase, sample, select};
pub use compare::{GuardComparison, compare};
pub use comparison_record::ComparisonRecord;
pub use lineup::{Lineup, Watcher};
pub(crate) use project::ProjectName;
pub use report::GauntletReport;
pub use runners::{LeftOutCases, TestRunners};
pub use trial::TrialResult;
