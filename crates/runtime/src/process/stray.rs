//! Kills what a job left behind: its group, its descendants, and whoever carries its marker.

use super::procfs::{self, Process, Stat};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

/// The environment variable that marks every process of a job.
pub const MARK: &str = "REMAND_MARK";

/// How long processes may take to be gone after they were killed.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The pause between two looks at the processes that are left.
const PAUSE: Duration = Duration::from_millis(5);

/// Kills every process that carries the marker or one below it, and counts them.
///
/// `run-7` also finds `run-7/implement/1`, but not `run-70`. This is how the processes of an engine that died are
/// found by the next one; the engine itself and the processes that it was started by are left alone.
pub fn kill_marked(marker: &str) -> usize {
    if marker.is_empty() {
        return 0;
    }
    let mut family = Family::new(marker);
    family.spared = own_line();
    family.sweep()
}

/// The processes that belong to one job.
pub(super) struct Family {
    marker: String,
    group: Option<i32>,
    known: BTreeSet<Process>,
    spared: BTreeSet<i32>,
}

impl Family {
    pub fn new(marker: &str) -> Family {
        Family { marker: marker.to_owned(), group: None, known: BTreeSet::new(), spared: BTreeSet::new() }
    }

    /// Adds the group of a job's first process, which is not counted as a stray itself.
    pub fn led_by(mut self, leader: i32) -> Family {
        self.group = Some(leader);
        self.spared.insert(leader);
        self
    }

    /// Remembers the descendants that can still be seen as such: when a parent ends, they cannot any more.
    pub fn remember_descendants(&mut self) {
        let Some(leader) = self.group else { return };
        let all = procfs::all();
        let mut parents = BTreeSet::from([leader]);
        loop {
            let before = parents.len();
            for stat in all.iter().filter(|stat| stat.process.pid != leader) {
                if parents.contains(&stat.parent) && parents.insert(stat.process.pid) {
                    self.known.insert(stat.process);
                }
            }
            if parents.len() == before {
                return;
            }
        }
    }

    /// Kills until nobody is left, and counts whom it killed; the leader must not be reaped before.
    pub fn sweep(&self) -> usize {
        let give_up = Instant::now() + PATIENCE;
        let mut killed = BTreeSet::new();
        loop {
            let left: Vec<Process> = self.living();
            if left.is_empty() || Instant::now() > give_up {
                return killed.len();
            }
            if let Some(group) = self.group.and_then(Pid::from_raw) {
                // All at once, so that none of them can start another meanwhile.
                let _ = kill_process_group(group, Signal::KILL);
            }
            for process in left {
                process.kill();
                killed.insert(process);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Waits until nobody is left, or until then.
    pub fn wait_until_gone(&self, until: Instant) {
        while Instant::now() < until && !self.living().is_empty() {
            thread::sleep(PAUSE);
        }
    }

    fn living(&self) -> Vec<Process> {
        let candidates = procfs::all().into_iter().filter(|stat| stat.alive);
        candidates.filter(|stat| self.has(stat)).map(|stat| stat.process).collect()
    }

    fn has(&self, stat: &Stat) -> bool {
        let pid = stat.process.pid;
        !self.spared.contains(&pid)
            && (self.group == Some(stat.group)
                || self.known.contains(&stat.process)
                || procfs::variable(pid, MARK).is_some_and(|value| self.is_marked(&value)))
    }

    fn is_marked(&self, value: &[u8]) -> bool {
        value
            .strip_prefix(self.marker.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

/// Kills the processes that keep one of these pipes open although they shed every other sign of their job.
///
/// A process counts only when it holds the pipe in two looks: one that is just being started by another thread of
/// the engine holds copies of all pipes for a moment.
pub(super) fn kill_holders(pipes: &[u64]) -> usize {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let holders = || -> BTreeSet<Process> {
        let others = procfs::all().into_iter().filter(|stat| stat.alive && stat.process.pid != own);
        others.filter(|stat| procfs::holds(stat.process.pid, pipes)).map(|stat| stat.process).collect()
    };
    let first = holders();
    if first.is_empty() {
        return 0;
    }
    thread::sleep(PAUSE * 20);
    let still: Vec<Process> = holders().intersection(&first).copied().collect();
    for process in &still {
        process.kill();
    }
    still.len()
}

/// Lists this process and those it descends from.
fn own_line() -> BTreeSet<i32> {
    let mut line = BTreeSet::new();
    let mut pid = i32::try_from(std::process::id()).unwrap_or(0);
    while pid > 0 && line.insert(pid) {
        pid = procfs::stat(pid).map_or(0, |stat| stat.parent);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_ends_where_its_part_ends() {
        let family = Family::new("run-7");
        assert!(family.is_marked(b"run-7"));
        assert!(family.is_marked(b"run-7/implement/1"));
        assert!(!family.is_marked(b"run-70"));
        assert!(!family.is_marked(b"run"));
    }

    #[test]
    fn the_own_process_is_in_its_own_line() {
        assert!(own_line().contains(&i32::try_from(std::process::id()).unwrap_or(0)));
    }
}
