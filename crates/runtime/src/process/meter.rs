//! Measures what the processes of a job use while they run.

use super::ended::Exceeded;
use super::job::Limits;
use super::run::News;
use super::stray::Family;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two looks at the processes.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// The least time between two looks at the disk, and how much longer than a look the pause is.
const DISK_PAUSE: Duration = Duration::from_millis(500);
const DISK_SHARE: u32 = 20;

/// Tells whether processes have to be looked at at all.
pub(super) fn is_asked(limits: &Limits) -> bool {
    limits.processes.is_some() || limits.memory_of_all.is_some()
}

/// Looks at the processes of a family, and says which limit they are beyond.
pub(super) fn look(family: &Family, limits: &Limits) -> Option<Exceeded> {
    let below = family.below();
    if let Some(most) = limits.processes.filter(|most| below.len() as u64 > *most) {
        return Some(Exceeded::Processes(most));
    }
    let most = limits.memory_of_all?;
    let used: u64 = below.iter().map(|stat| stat.process.memory()).sum();
    (used > most).then_some(Exceeded::Memory(most))
}

/// Watches how folders grow until it is dropped.
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
            // Nobody listens when the job is just over.
            let _ = news.send(News::Exceeded(Exceeded::Disk(most)));
            return;
        }
        pause = DISK_PAUSE.max(started.elapsed() * DISK_SHARE);
    }
}

/// Bytes on disk below these folders; links are not followed.
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
