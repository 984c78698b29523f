//! Messages from the threads of a job to the thread that runs it.

use super::ended::ExceededLimit;
use super::watch::Stream;

/// A message from one of a job's threads to the thread that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobMessage {
    /// The first process has exited.
    Exited,
    /// The program ended; its supervisor waits until the remaining processes are killed.
    Stopped,
    Closed(Stream),
    Cancelled,
    Exceeded(ExceededLimit),
}
