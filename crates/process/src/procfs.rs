//! Reads the processes of this machine from `/proc`; without `/proc` it finds none.

use rustix::process::{Pid, Signal};
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;

/// A process. Its start time distinguishes it from a later process with the same pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Process {
    pub pid: i32,
    start: u64,
}

/// A process with its parent, group and session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub process: Process,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    pub alive: bool,
}

/// Lists all visible processes.
pub(super) fn all() -> Vec<Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(stat).collect()
}

/// Reads one process; returns `None` if it is gone.
pub(super) fn stat(pid: i32) -> Option<Stat> {
    // One read is enough: the name is short, and the end of the line is not needed.
    let mut line = [0; 1024];
    let length = fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
    parse(pid, &String::from_utf8_lossy(&line[..length]))
}

/// Lists the visible descendants of a process.
pub(super) fn descendants(leader: i32) -> Vec<Stat> {
    let mut found = Vec::new();
    let mut pending = vec![leader];
    while let Some(parent) = pending.pop() {
        match children(parent) {
            Some(children) => {
                found.extend(children.iter().filter_map(|pid| stat(*pid)));
                pending.extend(children);
            }
            None => return descendants_among(leader, &all()),
        }
    }
    found
}

/// The children of all threads of a process; `None` if the kernel does not list children.
fn children(pid: i32) -> Option<Vec<i32>> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        // The process is gone, and so are its threads.
        return Some(Vec::new());
    };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(text) => found.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok())),
            Err(_) if thread.path().exists() => return None,
            Err(_) => {}
        }
    }
    Some(found)
}

fn descendants_among(leader: i32, all: &[Stat]) -> Vec<Stat> {
    let mut parents = BTreeSet::from([leader]);
    let mut found = Vec::new();
    loop {
        let before = parents.len();
        for stat in all.iter().filter(|stat| stat.process.pid != leader) {
            if parents.contains(&stat.parent) && parents.insert(stat.process.pid) {
                found.push(*stat);
            }
        }
        if parents.len() == before {
            return found;
        }
    }
}

fn parse(pid: i32, text: &str) -> Option<Stat> {
    // The name in parentheses may itself contain spaces and parentheses.
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Stat {
        process: Process { pid, start: fields.get(19)?.parse().ok()? },
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        alive: !matches!(*fields.first()?, "Z" | "X"),
    })
}

/// Whether a process is the first one of a process namespace below this one.
pub(super) fn is_init(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
    numbers.split_whitespace().skip(1).last() == Some("1")
}

/// Reads a variable from the environment that a process was started with.
pub(super) fn variable(pid: i32, name: &str) -> Option<Vec<u8>> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    variables.find_map(|variable| {
        let value = variable.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(value.to_vec())
    })
}

/// Returns whether a process has one of these pipes open.
pub(super) fn holds_pipe(pid: i32, pipes: &[u64]) -> bool {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let mut links = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links.any(|link| {
        let inode =
            link.to_str().and_then(|link| link.strip_prefix("pipe:[")?.strip_suffix(']')?.parse().ok());
        inode.is_some_and(|inode: u64| pipes.contains(&inode))
    })
}

impl Process {
    /// Kills exactly this process, never a later one with the same pid.
    pub fn kill(self) {
        self.signal(Signal::KILL);
    }

    /// Stops exactly this process.
    pub fn stop(self) {
        self.signal(Signal::STOP);
    }

    /// Bytes of memory that it uses, without files: its own and shared memory, also where another process shares it.
    /// Zero if the process is gone.
    pub fn memory(self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        sum_of(&text, &["RssAnon:", "RssShmem:", "VmSwap:"])
    }

    /// Bytes of memory that it uses, without files, divided among the processes that share it. This takes the kernel
    /// much longer. `None` if the kernel does not say so.
    pub fn share_of_memory(self) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).ok()?;
        text.contains("Pss_Shmem:").then(|| sum_of(&text, &["Pss_Anon:", "Pss_Shmem:", "SwapPss:"]))
    }

    /// Bytes of the files in its shared memory, if that is not the shared memory of this process.
    pub fn shared_files(self) -> u64 {
        const FOLDER: &str = "/dev/shm";
        let own = format!("/proc/{}/root{FOLDER}", self.pid);
        let device = |path: &str| fs::metadata(path).ok().map(|found| found.dev());
        match (device(&own), device(FOLDER)) {
            (Some(own), other) if Some(own) == other => 0,
            _ => rustix::fs::statvfs(own.as_str())
                .map_or(0, |found| found.f_blocks.saturating_sub(found.f_bfree) * found.f_frsize),
        }
    }

    #[cfg(target_os = "linux")]
    fn signal(self, signal: Signal) {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        let Some(pid) = Pid::from_raw(self.pid) else { return };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if stat(self.pid).is_some_and(|stat| stat.process == self) {
            // The signal fails if the process has just ended, which is what the caller wants.
            let _ = pidfd_send_signal(&handle, signal);
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn signal(self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            // The signal fails if the process has just ended, which is what the caller wants.
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// The sum of these lines of a file in `/proc`, in bytes.
fn sum_of(text: &str, names: &[&str]) -> u64 {
    let line = |line: &str| {
        let value = names.iter().find_map(|name| line.strip_prefix(name))?;
        value.split_whitespace().next()?.parse::<u64>().ok()
    };
    text.lines().filter_map(line).sum::<u64>().saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_listing_descendants_agree() {
        let mut child = std::process::Command::new("sh");
        let Ok(mut child) = child.args(["-c", "sleep 1000 & sleep 1000 & wait"]).spawn() else { return };
        let leader = i32::try_from(child.id()).unwrap_or(0);
        let pids = |found: Vec<Stat>| found.into_iter().map(|stat| stat.process.pid).collect::<BTreeSet<_>>();
        while pids(descendants(leader)).len() < 2 {
            std::thread::yield_now();
        }
        let (listed, searched) = (pids(descendants(leader)), pids(descendants_among(leader, &all())));
        for stat in descendants(leader) {
            stat.process.kill();
        }
        child.wait().ok();
        assert_eq!(listed, searched);
    }

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let rest = "S 7 42 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9876 0 0";
        let stat = parse(5, &format!("5 (a) b ( c) {rest}"))
            .map(|stat| (stat.parent, stat.group, stat.process.start));
        assert_eq!(stat, Some((7, 42, 9876)));
    }

    #[test]
    fn a_zombie_is_not_alive() {
        let stat = parse(5, "5 (x) Z 7 42 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9876 0 0");
        assert_eq!(stat.map(|stat| stat.alive), Some(false));
    }
}
