//! The resource usage of this process, as the operating system reports it.

use super::workload::bug;
use remand_terminal::CommandFailure;
use std::fs;
use std::time::Duration;

/// The time that this thread has spent on a processor.
pub fn processor_time() -> Result<Duration, CommandFailure> {
    let path = "/proc/thread-self/schedstat";
    let nanos = |text: &str| text.split(' ').next()?.parse().ok().map(Duration::from_nanos);
    read_number(path, nanos)
}

/// The resident memory of this process, in bytes.
pub fn resident() -> Result<u64, CommandFailure> {
    let bytes = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    };
    read_number("/proc/self/status", bytes)
}

fn read_number<T>(path: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<T, CommandFailure> {
    let text = fs::read_to_string(path).unwrap_or_default();
    read(&text).ok_or_else(|| bug(format!("{path} does not contain the expected number")))
}
