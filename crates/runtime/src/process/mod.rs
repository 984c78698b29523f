//! Supervised child processes: limits, captured output, and no process left behind.

mod cancel;
mod capture;
mod ended;
mod job;
mod lookup;
mod meter;
mod procfs;
mod run;
mod running;
mod stray;

pub use cancel::Cancel;
pub use capture::{Next, Stream, Watch};
pub use ended::{Captured, Ended, Exceeded, Exit};
pub use job::{Confined, Job, Leaves, Limits};
pub use lookup::{Looked, SpawnError};
pub use run::{run, run_watched};
#[cfg(target_os = "linux")]
pub(crate) use stray::kill_below;
pub use stray::{MARK, kill_marked};

#[cfg(test)]
mod process_tests;
