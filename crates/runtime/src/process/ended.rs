//! How a job ended, and what it said.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

/// What is known of a job after its last process is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub exit: Exit,
    pub stdout: Captured,
    pub stderr: Captured,
    pub started: SystemTime,
    pub duration: Duration,
    /// Counts processes beside the first one that were alive at its end and had to be killed.
    pub strays: usize,
    /// The limit on resources that it was killed at.
    pub exceeded: Option<Exceeded>,
}

/// A limit on what the processes of a job use together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// Bytes.
    Memory(u64),
    Processes(u64),
    /// Bytes that its folders grew by.
    Disk(u64),
    /// Bytes of a single file; zero where the system alone knows the limit.
    FileSize(u64),
}

impl std::fmt::Display for Exceeded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exceeded::Memory(limit) => write!(f, "more than {limit} bytes of memory"),
            Exceeded::Processes(limit) => write!(f, "more than {limit} processes at once"),
            Exceeded::Disk(limit) => write!(f, "more than {limit} bytes of disk"),
            Exceeded::FileSize(limit) => write!(f, "a file of more than {limit} bytes"),
        }
    }
}

/// Why the first process of a job is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// It took longer than its time limit and was killed.
    TimedOut,
    /// It wrote nothing for longer than its silence limit and was killed.
    Silent,
    /// It said its last, did not end for a while after, and was killed.
    Lingered,
    Cancelled,
}

impl Exit {
    /// Tells whether the process ended by itself with code 0, which is no proof of a result.
    pub fn succeeded(self) -> bool {
        self == Exit::Code(0)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
            Exit::TimedOut => write!(f, "killed at its time limit"),
            Exit::Silent => write!(f, "killed after a silence"),
            Exit::Lingered => write!(f, "killed after its last word"),
            Exit::Cancelled => write!(f, "cancelled"),
        }
    }
}

/// One stream's output: all of it, or its head and tail with a note between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    pub bytes: Vec<u8>,
    pub truncated: bool,
    /// Counts the bytes that were written, kept or not.
    pub total: u64,
}

impl Captured {
    /// Shows the output as text; what is not UTF-8 is replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}
