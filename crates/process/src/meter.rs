//! Measures the resource use of a job's processes while they run.

use super::ended::ExceededLimit;
use super::job::ProcessLimits;
use super::news::News;
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

/// The shortest interval between two measurements of the disk, and the pause as a multiple of the measuring time.
const DISK_PAUSE: Duration = Duration::from_millis(500);
const DISK_SHARE: u32 = 20;

/// Returns whether any limit needs the processes to be measured.
pub(super) fn is_needed(limits: &ProcessLimits) -> bool {
    limits.processes.is_some() || limits.memory_of_all.is_some()
}

/// Measures the processes of a family, and returns the limit that they exceed.
pub(super) fn exceeded(family: &Family, limits: &ProcessLimits) -> Option<ExceededLimit> {
    let below = family.below();
    if let Some(most) = limits.processes.filter(|most| below.len() as u64 > *most) {
        return Some(ExceededLimit::Processes(most));
    }
    let most = limits.memory_of_all?;
    let used: u64 = below.iter().map(|stat| stat.process.memory()).sum();
    (used > most).then_some(ExceededLimit::Memory(most))
}

/// Measures the growth of folders until it is dropped.
pub(super) struct DiskMeter {
    _stop: Sender<()>,
}

impl DiskMeter {
    pub fn start(folders: Vec<PathBuf>, most: u64, news: Sender<News>) -> io::Result<DiskMeter> {
        let (stop, stopped) = channel();
        let watch = move || watch(&folders, most, &news, &stopped);
        thread::Builder::new().name("disk".to_owned()).spawn(watch)?;
        Ok(DiskMeter { _stop: stop })
    }
}

fn watch(folders: &[PathBuf], most: u64, news: &Sender<News>, stopped: &Receiver<()>) {
    let before = used(folders);
    let mut pause = DISK_PAUSE;
    while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let started = Instant::now();
        if used(folders).saturating_sub(before) > most {
            // The send fails if the job is already over.
            let _ = news.send(News::Exceeded(ExceededLimit::Disk(most)));
            return;
        }
        pause = DISK_PAUSE.max(started.elapsed() * DISK_SHARE);
    }
}

/// Bytes on disk below these folders, without following links. What cannot be read or is gone counts as zero.
fn used(folders: &[PathBuf]) -> u64 {
    let mut open: Vec<PathBuf> = folders.to_vec();
    let mut bytes = 0;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            bytes += found.blocks() * 512;
            if found.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}
