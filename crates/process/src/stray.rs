//! Kills the processes that a job left behind: the descendants and the group of its first process, and all processes
//! with its marker.

use super::procfs::{self, Process, Stat};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

/// The environment variable that carries the marker in every process of a job.
pub const MARKER_VARIABLE: &str = "REMAND_MARK";

/// The suffix of the marker of a job that may leave daemons.
pub(super) const DAEMONS_MAY_STAY: &str = "/may-stay";

/// How long killed processes may take to disappear.
pub(super) const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// The pause between two checks for remaining processes.
const PAUSE: Duration = Duration::from_millis(5);

/// Kills and counts every process with this marker, or with a marker that extends it.
///
/// `run-7` also matches `run-7/implement/1`, but not `run-70`. An engine uses this to kill the processes of an
/// engine that died. It spares itself, its ancestors, and daemons that may stay.
pub fn kill_marked(marker: &str) -> usize {
    if marker.is_empty() {
        return 0;
    }
    let mut family = Family::new(marker);
    family.spared = self_and_ancestors();
    family.daemons = Daemons::Spare;
    family.sweep()
}

/// Kills every descendant of a process.
#[cfg(target_os = "linux")]
pub(crate) fn kill_descendants(leader: Pid) {
    let mut family = Family { leader: Some(leader.as_raw_nonzero().get()), ..Family::default() };
    family.spared = self_and_ancestors();
    family.sweep();
}

/// The processes that belong to one job.
#[derive(Default)]
pub(super) struct Family {
    marker: Option<String>,
    group: Option<i32>,
    /// All descendants of this process belong to the family.
    leader: Option<i32>,
    /// Descendants that may have lost their parent.
    remembered: BTreeSet<Process>,
    spared: BTreeSet<i32>,
    leader_kind: LeaderKind,
    daemons: Daemons,
}

/// What happens to permitted daemons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Daemons {
    #[default]
    Kill,
    Spare,
}

/// The kind of a job's first process. A supervisor must outlive its descendants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LeaderKind {
    #[default]
    Program,
    Supervisor,
}

impl Family {
    pub fn new(marker: &str) -> Family {
        Family { marker: Some(marker.to_owned()), ..Family::default() }
    }

    /// Adds a job's first process with its group and descendants; it does not count as a stray itself.
    pub fn with_leader(mut self, leader: i32, leader_kind: LeaderKind) -> Family {
        self.leader_kind = leader_kind;
        self.group = Some(leader);
        self.leader = Some(leader);
        self.spared.insert(leader);
        self
    }

    /// Remembers the current descendants, because they cannot be recognized after their parent has ended.
    pub fn remember_descendants(&mut self) {
        self.remembered.extend(self.descendants().into_iter().map(|stat| stat.process));
    }

    /// The visible descendants of the leader, without an init: that belongs to the sandbox.
    pub fn descendants(&self) -> Vec<Stat> {
        self.with_init().0
    }

    /// The first process, unless it is a supervisor, which belongs to the sandbox.
    pub fn first(&self) -> Option<Stat> {
        self.leader.filter(|_| self.leader_kind == LeaderKind::Program).and_then(procfs::stat)
    }

    /// The visible descendants of the leader, and its init.
    fn with_init(&self) -> (Vec<Stat>, Option<Process>) {
        let mut descendants = self.leader.map(procfs::descendants).unwrap_or_default();
        if self.leader_kind == LeaderKind::Program {
            return (descendants, None);
        }
        let is_init = |stat: &Stat| Some(stat.parent) == self.leader && procfs::is_init(stat.process.pid);
        let init = descendants.iter().position(is_init).map(|at| descendants.swap_remove(at));
        (descendants, init.filter(|stat| stat.alive).map(|stat| stat.process))
    }

    /// Kills until no process is left, and counts the killed ones. The leader must not be reaped before the sweep.
    pub fn sweep(&self) -> usize {
        let deadline = Instant::now() + KILL_TIMEOUT;
        let mut killed = BTreeSet::new();
        loop {
            let (remaining, init) = (self.living(), self.with_init().1);
            if remaining.is_empty() && init.is_none() || Instant::now() > deadline {
                return killed.len();
            }
            if let Some(init) = init {
                // The kernel kills whatever else is in the namespace.
                killed.extend(remaining);
                init.kill();
                thread::sleep(PAUSE);
                continue;
            }
            if let Some(group) =
                self.group.and_then(Pid::from_raw).filter(|_| self.leader_kind == LeaderKind::Program)
            {
                // This signals the whole group in one call, so that no process can fork meanwhile. It fails if the
                // group is already gone.
                let _ = kill_process_group(group, Signal::KILL);
            }
            // All processes are stopped first, so that none can fork while the list is processed.
            for process in &remaining {
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
    pub fn wait_until_gone(&self, deadline: Instant) {
        while Instant::now() < deadline && !self.living().is_empty() {
            thread::sleep(PAUSE);
        }
    }

    fn living(&self) -> Vec<Process> {
        let descendants = self.descendants();
        // A supervisor adopts every orphan, and without a marker or a group there is nothing else to search for.
        if self.leader_kind == LeaderKind::Supervisor || (self.marker.is_none() && self.group.is_none()) {
            let alive =
                descendants.into_iter().filter(|stat| stat.alive && !self.spared.contains(&stat.process.pid));
            return alive.map(|stat| stat.process).collect();
        }
        let descendants: BTreeSet<Process> = descendants.into_iter().map(|stat| stat.process).collect();
        let candidates = procfs::all().into_iter().filter(|stat| stat.alive);
        candidates.filter(|stat| self.includes(stat, &descendants)).map(|stat| stat.process).collect()
    }

    fn includes(&self, stat: &Stat, descendants: &BTreeSet<Process>) -> bool {
        let pid = stat.process.pid;
        !self.spared.contains(&pid)
            && (self.group == Some(stat.group)
                || descendants.contains(&stat.process)
                || self.remembered.contains(&stat.process)
                || procfs::variable(pid, MARKER_VARIABLE)
                    .is_some_and(|value| self.is_marked(&value) && !self.may_stay(stat, &value)))
    }

    /// Whether a process is a permitted daemon: it has started its own session.
    fn may_stay(&self, stat: &Stat, marker: &[u8]) -> bool {
        self.daemons == Daemons::Spare
            && stat.session == stat.process.pid
            && marker.ends_with(DAEMONS_MAY_STAY.as_bytes())
    }

    /// From now on, spares processes that belong to the job only by their marker.
    pub fn spare_daemons(&mut self) {
        self.marker = None;
    }

    /// Searches all processes from now on, because the supervisor ended before its descendants.
    pub fn lose_supervisor(&mut self) {
        self.leader_kind = LeaderKind::Program;
    }

    fn is_marked(&self, value: &[u8]) -> bool {
        let marker = self.marker.as_ref();
        marker
            .and_then(|marker| value.strip_prefix(marker.as_bytes()))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

/// Kills the processes that keep one of these pipes open. Nothing else shows that they belong to the job.
///
/// A process counts only if it holds the pipe in two successive checks: a child that another thread of the engine has
/// just forked holds copies of all pipes for a moment.
pub(super) fn kill_pipe_holders(pipes: &[u64]) -> usize {
    let own_pid = i32::try_from(std::process::id()).unwrap_or(0);
    let holders = || -> BTreeSet<Process> {
        let others = procfs::all().into_iter().filter(|stat| stat.alive && stat.process.pid != own_pid);
        others.filter(|stat| procfs::holds_pipe(stat.process.pid, pipes)).map(|stat| stat.process).collect()
    };
    let first = holders();
    if first.is_empty() {
        return 0;
    }
    thread::sleep(PAUSE * 20);
    let confirmed: Vec<Process> = holders().intersection(&first).copied().collect();
    for process in &confirmed {
        process.kill();
    }
    confirmed.len()
}

/// Lists this process and its ancestors.
fn self_and_ancestors() -> BTreeSet<i32> {
    let mut pids = BTreeSet::new();
    let mut pid = i32::try_from(std::process::id()).unwrap_or(0);
    while pid > 0 && pids.insert(pid) {
        pid = procfs::stat(pid).map_or(0, |stat| stat.parent);
    }
    pids
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
    fn self_and_ancestors_include_this_process() {
        assert!(self_and_ancestors().contains(&i32::try_from(std::process::id()).unwrap_or(0)));
    }
}
