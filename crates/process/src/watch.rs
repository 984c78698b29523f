//! Lets the caller watch a job's output line by line while it runs.

use std::sync::Arc;

/// Which of its two streams a job wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// Called for each line when it arrives, without its line ending, from one thread per stream. Returns what may follow.
pub type LineWatch = Arc<dyn Fn(Stream, &[u8]) -> AfterLine + Send + Sync>;

/// What may follow a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterLine {
    /// More output, before the job's silence limit.
    Output,
    /// Silence of any length: a tool is running that writes nothing.
    Silence,
    /// Nothing; the job should end now.
    End,
}
