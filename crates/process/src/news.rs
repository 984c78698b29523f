//! What the threads around a job report to its supervisor.

use super::ended::ExceededLimit;
use super::watch::Stream;

/// A message from one of a job's threads to its supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    Exited,
    /// The program ended; its keeper waits until the remaining processes are killed.
    Stopped,
    Closed(Stream),
    Cancelled,
    Exceeded(ExceededLimit),
}
