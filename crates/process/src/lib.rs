//! Supervised child processes: limits, captured output, and no process left behind.

pub mod confine;

mod cancel;
mod capture;
mod detached;
mod ended;
mod foreground;
mod job;
mod lookup;
mod message;
mod meter;
mod procfs;
mod run;
mod running;
mod stray;
mod watch;

pub use cancel::Cancel;
pub use detached::DetachedProcess;
pub use ended::{CapturedOutput, ExceededLimit, Exit, JobEnd};
pub use foreground::run_at_terminal;
pub use job::{Confinement, ProcessJob, ProcessLimits, Survivors};
pub use lookup::{ProgramSearch, SpawnError};
pub use run::{run, run_watched};
#[cfg(target_os = "linux")]
pub(crate) use stray::kill_descendants;
pub use stray::{MARKER_VARIABLE, kill_marked};
pub use watch::{AfterLine, LineWatch, Stream};

#[cfg(any(test, feature = "testing"))]
pub mod testing;

#[cfg(test)]
mod process_tests;
