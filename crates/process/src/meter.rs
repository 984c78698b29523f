//! Measures the resource use of a job's processes while they run.

use super::ended::ExceededLimit;
use super::job::ProcessLimits;
use super::message::JobMessage;
use super::procfs::Stat;
use super::stray::Family;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The interval between two checks of the processes.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// The minimum pause between two measurements of the disk.
const DISK_PAUSE: Duration = Duration::from_millis(500);
/// The minimum pause as a multiple of the time that the last measurement took, so that a test suite takes hardly longer.
const PAUSE_FACTOR: u32 = 50;
/// The maximum pause between two measurements if memory is limited: it fills up quickly.
const MAX_MEMORY_PAUSE: Duration = Duration::from_secs(1);

/// Returns whether the processes must be measured because of a limit.
pub(super) fn is_needed(limits: &ProcessLimits) -> bool {
    limits.processes.is_some() || limits.memory.is_some() || limits.memory_of_all.is_some()
}

/// The pause after a measurement that took this long.
pub(super) fn pause(measuring: Duration, limits: &ProcessLimits) -> Duration {
    let pause = measuring * PAUSE_FACTOR;
    let is_memory_limited = limits.memory.is_some() || limits.memory_of_all.is_some();
    if is_memory_limited { pause.min(MAX_MEMORY_PAUSE) } else { pause }
}

/// Measures the processes of a family, and returns the limit that they exceed.
pub(super) fn exceeded_limit(family: &Family, limits: &ProcessLimits) -> Option<ExceededLimit> {
    let descendants = family.descendants();
    if let Some(limit) = limits.processes.filter(|limit| descendants.len() as u64 > *limit) {
        return Some(ExceededLimit::Processes(limit));
    }
    let first = family.first();
    let exceeds = |limit: &u64| descendants.iter().chain(&first).any(|stat| stat.process.memory() > *limit);
    if let Some(limit) = limits.memory.filter(exceeds) {
        return Some(ExceededLimit::Memory(limit));
    }
    let limit = limits.memory_of_all?;
    (used_memory(&descendants, limit) > limit).then_some(ExceededLimit::Memory(limit))
}

/// The memory of processes: exact if it may exceed the limit, otherwise at least as much as they use.
fn used_memory(processes: &[Stat], limit: u64) -> u64 {
    let files = processes.first().map_or(0, |stat| stat.process.shared_files());
    let most: u64 = processes.iter().map(|stat| stat.process.memory()).sum();
    if files.saturating_add(most) <= limit {
        return most;
    }
    let exact = |stat: &Stat| stat.process.share_of_memory().unwrap_or_else(|| stat.process.memory());
    // Files that are mapped count twice otherwise.
    files.max(processes.iter().map(exact).sum())
}

/// Measures the growth of folders in a thread, until the meter is dropped.
pub(super) struct DiskMeter {
    _stop: Sender<()>,
}

impl DiskMeter {
    pub fn start(folders: Vec<PathBuf>, limit: u64, messages: Sender<JobMessage>) -> io::Result<DiskMeter> {
        let (stop, stopped) = channel();
        let watch = move || watch(&folders, limit, &messages, &stopped);
        thread::Builder::new().name("disk".to_owned()).spawn(watch)?;
        Ok(DiskMeter { _stop: stop })
    }
}

fn watch(folders: &[PathBuf], limit: u64, messages: &Sender<JobMessage>, stopped: &Receiver<()>) {
    let before = disk_usage(folders);
    let mut pause = DISK_PAUSE;
    while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let started = Instant::now();
        if disk_usage(folders).saturating_sub(before) > limit {
            // The send fails if the job is already over.
            let _ = messages.send(JobMessage::Exceeded(ExceededLimit::Disk(limit)));
            return;
        }
        pause = DISK_PAUSE.max(started.elapsed() * PAUSE_FACTOR);
    }
}

/// Bytes on disk in these folders, without following links. Unreadable and missing files count as zero.
fn disk_usage(folders: &[PathBuf]) -> u64 {
    let mut pending: Vec<PathBuf> = folders.to_vec();
    let mut bytes = 0;
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            bytes += metadata.blocks() * 512;
            if metadata.is_dir() {
                pending.push(entry.path());
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_is_short_if_memory_is_limited_however_long_a_measurement_takes() {
        let slow = Duration::from_millis(200);
        let limits =
            ProcessLimits { processes: Some(9), memory: None, memory_of_all: None, ..Default::default() };
        assert_eq!(pause(slow, &limits), Duration::from_secs(10));
        for limits in
            [ProcessLimits { memory: Some(9), ..limits }, ProcessLimits { memory_of_all: Some(9), ..limits }]
        {
            assert_eq!(pause(slow, &limits), Duration::from_secs(1));
            assert_eq!(pause(Duration::from_millis(2), &limits), Duration::from_millis(100));
        }
    }
}
