//! Kills the processes that a job left behind: descendants of its first process, its group, and all with its marker.

use super::procfs::{self, Process, Stat};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

/// The environment variable that carries the marker in every process of a job.
pub const MARKER_VARIABLE: &str = "REMAND_MARK";

/// The suffix of the marker of a job that may leave daemons.
pub(super) const MAY_STAY: &str = "/may-stay";

/// How long killed processes may take to disappear.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The pause between two checks for remaining processes.
const PAUSE: Duration = Duration::from_millis(5);

/// Kills every process with this marker or one that extends it, and counts them.
///
/// `run-7` also matches `run-7/implement/1`, but not `run-70`. An engine uses this to find the processes of one that
/// died. It spares itself, its ancestors, and daemons that may stay.
pub fn kill_marked(marker: &str) -> usize {
    if marker.is_empty() {
        return 0;
    }
    let mut family = Family::new(marker);
    family.spared = own_ancestry();
    family.daemons = Daemons::MayStay;
    family.sweep()
}

/// Kills every descendant of this process.
#[cfg(target_os = "linux")]
pub(crate) fn kill_below(leader: Pid) {
    let mut family = Family { leader: Some(leader.as_raw_nonzero().get()), ..Family::default() };
    family.spared = own_ancestry();
    family.sweep();
}

/// The processes that belong to one job.
#[derive(Default)]
pub(super) struct Family {
    marker: Option<String>,
    group: Option<i32>,
    /// All its descendants belong to the family.
    leader: Option<i32>,
    known: BTreeSet<Process>,
    spared: BTreeSet<i32>,
    keeper: Keeper,
    daemons: Daemons,
}

/// Whether permitted daemons are killed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Daemons {
    #[default]
    Go,
    MayStay,
}

/// Whether the first process of a job is a keeper. A keeper must outlive its descendants.
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

    /// Adds a job's first process with its group and descendants; it does not count as a stray itself.
    pub fn led_by(mut self, leader: i32, keeper: Keeper) -> Family {
        self.keeper = keeper;
        self.group = Some(leader);
        self.leader = Some(leader);
        self.spared.insert(leader);
        self
    }

    /// Remembers the current descendants, since they are no longer recognizable once their parent ends.
    pub fn remember_descendants(&mut self) {
        self.known.extend(self.descendants().into_iter().map(|stat| stat.process));
    }

    /// The visible descendants of the leader.
    pub fn descendants(&self) -> Vec<Stat> {
        self.leader.map(procfs::descendants).unwrap_or_default()
    }

    /// Kills until no process is left, and counts the killed ones. The leader must not be reaped before this.
    pub fn sweep(&self) -> usize {
        let give_up = Instant::now() + PATIENCE;
        let mut killed = BTreeSet::new();
        loop {
            let left: Vec<Process> = self.living();
            if left.is_empty() || Instant::now() > give_up {
                return killed.len();
            }
            if let Some(group) = self.group.and_then(Pid::from_raw).filter(|_| self.keeper == Keeper::None) {
                // Signals the whole group in one call, so that none of them can fork meanwhile. It fails if the group
                // is already gone.
                let _ = kill_process_group(group, Signal::KILL);
            }
            // Stops them first, so that none can fork while the list is processed.
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

    /// Waits until no process is left, or until the deadline.
    pub fn wait_until_gone(&self, until: Instant) {
        while Instant::now() < until && !self.living().is_empty() {
            thread::sleep(PAUSE);
        }
    }

    fn living(&self) -> Vec<Process> {
        let descendants = self.descendants();
        // A keeper adopts every orphan, and without a marker or a group there is nothing else to search for.
        if self.keeper == Keeper::Leader || (self.marker.is_none() && self.group.is_none()) {
            let alive =
                descendants.into_iter().filter(|stat| stat.alive && !self.spared.contains(&stat.process.pid));
            return alive.map(|stat| stat.process).collect();
        }
        let descendants: BTreeSet<Process> = descendants.into_iter().map(|stat| stat.process).collect();
        let candidates = procfs::all().into_iter().filter(|stat| stat.alive);
        candidates.filter(|stat| self.has(stat, &descendants)).map(|stat| stat.process).collect()
    }

    fn has(&self, stat: &Stat, descendants: &BTreeSet<Process>) -> bool {
        let pid = stat.process.pid;
        !self.spared.contains(&pid)
            && (self.group == Some(stat.group)
                || descendants.contains(&stat.process)
                || self.known.contains(&stat.process)
                || procfs::variable(pid, MARKER_VARIABLE)
                    .is_some_and(|value| self.is_marked(&value) && !self.may_stay(stat, &value)))
    }

    /// A daemon has started its own session.
    fn may_stay(&self, stat: &Stat, marker: &[u8]) -> bool {
        self.daemons == Daemons::MayStay
            && stat.session == stat.process.pid
            && marker.ends_with(MAY_STAY.as_bytes())
    }

    /// Spares processes that belong to the job by their marker only.
    pub fn spare_daemons(&mut self) {
        self.marker = None;
    }

    /// Searches all processes from now on, because the keeper ended before its descendants.
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

/// Kills the processes that keep one of these pipes open but are not recognizable as part of the job otherwise.
///
/// A process counts only if it holds the pipe in two successive checks: a child that another thread of the engine has
/// just forked holds copies of all pipes for a moment.
pub(super) fn kill_holders(pipes: &[u64]) -> usize {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let holders = || -> BTreeSet<Process> {
        let others = procfs::all().into_iter().filter(|stat| stat.alive && stat.process.pid != own);
        others.filter(|stat| procfs::holds_pipe(stat.process.pid, pipes)).map(|stat| stat.process).collect()
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

/// Lists this process and its ancestors.
fn own_ancestry() -> BTreeSet<i32> {
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
    fn a_marker_matches_whole_parts_only() {
        let family = Family::new("run-7");
        assert!(family.is_marked(b"run-7"));
        assert!(family.is_marked(b"run-7/implement/1"));
        assert!(!family.is_marked(b"run-70"));
        assert!(!family.is_marked(b"run"));
    }

    #[test]
    fn the_own_ancestry_includes_the_process_itself() {
        assert!(own_ancestry().contains(&i32::try_from(std::process::id()).unwrap_or(0)));
    }
}
