//! The gauntlet: agents that misbehave, played on small real projects, and what must come of each.
//!
//! A case is data (`gauntlet/cases/`). A trial plays it with this same program as a child, in a folder of its own, and
//! judges it by the ledger, by a look at the world before and after, and by an oracle that trusts neither.

mod case;
mod catalogue;
mod family;
mod must;
mod project;

mod arena;
mod bait;
mod engine;
mod tool;

mod hunt;
mod oracle;
mod outcome;
mod records;
mod trial;
mod world;

mod lineup;
mod report;

pub use catalogue::{Choice, chosen};
pub use lineup::{Lineup, Watcher};
pub use report::Report;
pub use trial::Tried;
