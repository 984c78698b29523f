//! What the operating system says about this process.

use super::workload::defect;
use crate::exit::Failure;
use std::fs;
use std::time::Duration;

/// Time that this thread has spent on a processor.
pub fn processor_time() -> Result<Duration, Failure> {
    let path = "/proc/thread-self/schedstat";
    let nanos = |text: &str| text.split(' ').next()?.parse().ok().map(Duration::from_nanos);
    said(path, nanos)
}

/// Bytes of memory that this process holds.
pub fn resident() -> Result<u64, Failure> {
    let bytes = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    };
    said("/proc/self/status", bytes)
}

fn said<T>(path: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<T, Failure> {
    let text = fs::read_to_string(path).unwrap_or_default();
    read(&text).ok_or_else(|| defect(format!("{path} does not say what a process uses")))
}
