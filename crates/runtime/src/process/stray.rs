//! Kills what a job left behind: all below its first process, its group, and whoever carries its marker.

use super::procfs::{self, Process, Stat};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

/// The environment variable that marks every process of a job.
pub const MARK: &str = "REMAND_MARK";

/// Behind the marker of a job that may leave daemons.
pub(super) const MAY_STAY: &str = "/may-stay";

/// How long processes may take to be gone after they were killed.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The pause between two looks at the processes that are left.
const PAUSE: Duration = Duration::from_millis(5);

/// Kills every process that carries the marker or one below it, and counts them.
///
/// `run-7` also finds `run-7/implement/1`, but not `run-70`. This is how the processes of an engine that died are
/// found by the next one; the engine itself, the processes that it was started by and daemons that may stay are left
/// alone.
pub fn kill_marked(marker: &str) -> usize {
    if marker.is_empty() {
        return 0;
    }
    let mut family = Family::new(marker);
    family.spared = own_line();
    family.daemons = Daemons::MayStay;
    family.sweep()
}

/// Kills every process below this one.
#[cfg(target_os = "linux")]
pub(crate) fn kill_below(leader: Pid) {
    let mut family = Family { leader: Some(leader.as_raw_nonzero().get()), ..Family::default() };
    family.spared = own_line();
    family.sweep();
}

/// The processes that belong to one job.
#[derive(Default)]
pub(super) struct Family {
    marker: Option<String>,
    group: Option<i32>,
    /// All below it belong to the family.
    leader: Option<i32>,
    known: BTreeSet<Process>,
    spared: BTreeSet<i32>,
    keeper: Keeper,
    daemons: Daemons,
}

/// Whether those that a job may leave are left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Daemons {
    #[default]
    Go,
    MayStay,
}

/// Whether the first process of a job only keeps those below it together. It must not go before they do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Keeper {
    #[default]
    None,
    Leader,
}

impl Family {
    pub fn new(marker: &str) -> Family {
        Family { marker: Some(marker.to_owned()), ..Family::default() }
    }

    /// Adds a job's first process, which is not counted as a stray itself, with its group and all below it.
    pub fn led_by(mut self, leader: i32, keeper: Keeper) -> Family {
        self.keeper = keeper;
        self.group = Some(leader);
        self.leader = Some(leader);
        self.spared.insert(leader);
        self
    }

    /// Remembers the descendants that can still be seen as such: when a parent ends, they cannot any more.
    pub fn remember_descendants(&mut self) {
        self.known.extend(self.below().into_iter().map(|stat| stat.process));
    }

    /// Those that can be seen to descend from the leader.
    pub fn below(&self) -> Vec<Stat> {
        self.leader.map(procfs::below).unwrap_or_default()
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
            if let Some(group) = self.group.and_then(Pid::from_raw).filter(|_| self.keeper == Keeper::None) {
                // All at once, so that none of them can start another meanwhile.
                let _ = kill_process_group(group, Signal::KILL);
            }
            // Stopped first, so that none of them can start another while the list is gone through.
            for process in &left {
                process.stop();
                killed.insert(*process);
            }
            for process in self.living() {
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
        let below = self.below();
        // Below a keeper nobody gets lost, and without a marker and a group there is nobody else to look for.
        if self.keeper == Keeper::Leader || (self.marker.is_none() && self.group.is_none()) {
            let alive =
                below.into_iter().filter(|stat| stat.alive && !self.spared.contains(&stat.process.pid));
            return alive.map(|stat| stat.process).collect();
        }
        let below: BTreeSet<Process> = below.into_iter().map(|stat| stat.process).collect();
        let candidates = procfs::all().into_iter().filter(|stat| stat.alive);
        candidates.filter(|stat| self.has(stat, &below)).map(|stat| stat.process).collect()
    }

    fn has(&self, stat: &Stat, below: &BTreeSet<Process>) -> bool {
        let pid = stat.process.pid;
        !self.spared.contains(&pid)
            && (self.group == Some(stat.group)
                || below.contains(&stat.process)
                || self.known.contains(&stat.process)
                || procfs::variable(pid, MARK)
                    .is_some_and(|value| self.is_marked(&value) && !self.may_stay(stat, &value)))
    }

    /// A daemon has begun a session of its own.
    fn may_stay(&self, stat: &Stat, marker: &[u8]) -> bool {
        self.daemons == Daemons::MayStay
            && stat.session == stat.process.pid
            && marker.ends_with(MAY_STAY.as_bytes())
    }

    /// Leaves those alone that carry the marker and nothing else of the job.
    pub fn spare_daemons(&mut self) {
        self.marker = None;
    }

    /// Looks everywhere from now on: the keeper is gone before those below it.
    pub fn lose_keeper(&mut self) {
        self.keeper = Keeper::None;
    }

    fn is_marked(&self, value: &[u8]) -> bool {
        let marker = self.marker.as_ref();
        marker
            .and_then(|marker| value.strip_prefix(marker.as_bytes()))
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
