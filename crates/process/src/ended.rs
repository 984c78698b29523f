//! The end of a job, and its output.

use super::confine::Contacts;
use std::borrow::Cow;
use std::time::{Duration, SystemTime};

/// The end of a job. None of its processes is alive any more, except for permitted daemons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEnd {
    pub exit: Exit,
    pub stdout: CapturedOutput,
    pub stderr: CapturedOutput,
    pub started: SystemTime,
    pub duration: Duration,
    /// Number of other processes that were still alive when the first one ended, and were killed.
    pub strays: usize,
    /// The resource limit that the job was killed for.
    pub exceeded: Option<ExceededLimit>,
    /// The hosts that it asked for; `None` if its network was not watched.
    pub contacts: Option<Contacts>,
}

/// A resource limit that a job exceeded, with the value of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExceededLimit {
    /// Bytes of memory of all processes together.
    Memory(u64),
    Processes(u64),
    /// Bytes by which its folders may grow.
    Disk(u64),
    /// Bytes of a single file; zero if the limit is unknown, because the policy does not set it.
    FileSize(u64),
}

impl ExceededLimit {
    /// What happened, with the setting.
    pub fn explain(&self) -> String {
        let key = match self {
            ExceededLimit::Memory(_) => "memory",
            ExceededLimit::Processes(_) => "processes",
            ExceededLimit::Disk(_) => "disk",
            ExceededLimit::FileSize(_) => "file-size",
        };
        format!("it used {self} and was stopped; the limit is `sandbox.{key}`")
    }
}

impl std::fmt::Display for ExceededLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ExceededLimit::Memory(limit) => write!(f, "more than {limit} bytes of memory"),
            ExceededLimit::Processes(limit) => write!(f, "more than {limit} processes at once"),
            ExceededLimit::Disk(limit) => write!(f, "more than {limit} bytes of disk"),
            ExceededLimit::FileSize(0) => write!(f, "a file above the size limit"),
            ExceededLimit::FileSize(limit) => write!(f, "a file of more than {limit} bytes"),
        }
    }
}

/// Why the first process of a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// It was killed at its time limit.
    TimedOut,
    /// It was killed after writing nothing for longer than its silence limit.
    Silent,
    /// It was killed because it kept running after its last line.
    Lingered,
    Cancelled,
}

impl Exit {
    /// Returns whether the process exited with code 0. That does not prove that there is a result.
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
            Exit::Silent => write!(f, "killed after it wrote nothing for too long"),
            Exit::Lingered => write!(f, "killed because it kept running after its last line"),
            Exit::Cancelled => write!(f, "cancelled"),
        }
    }
}

/// One stream's output: all of it, or its head and tail with a note in between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    pub bytes: Vec<u8>,
    pub truncated: bool,
    /// Number of bytes written, whether kept or not.
    pub total: u64,
}

impl CapturedOutput {
    /// Returns the output as text; invalid UTF-8 is replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}
