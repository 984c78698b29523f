//! Finds processes of a trial by the paths in their command lines, without the engine's help.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a process that was killed may take to go.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(20);

/// A process that is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Living {
    pub pid: i32,
    pub words: String,
}

/// The processes that are still alive after some patience; each names the folder in its words, its environment or its
/// working directory.
pub fn left_behind(folder: &Path) -> Vec<Living> {
    let give_up = Instant::now() + PATIENCE;
    loop {
        let found = naming(folder);
        if found.is_empty() || Instant::now() >= give_up {
            return found;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Kills leftover processes, so that no trial disturbs the next one.
pub fn kill(found: &[Living]) {
    for living in found {
        if let Some(pid) = Pid::from_raw(living.pid) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn naming(folder: &Path) -> Vec<Living> {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let wanted = folder.as_os_str().as_bytes();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let read = |file: &str| fs::read(entry.path().join(file)).unwrap_or_default();
        let words = read("cmdline");
        let works_there = fs::read_link(entry.path().join("cwd")).is_ok_and(|path| path.starts_with(folder));
        let names = |bytes: &[u8]| mentions(bytes, wanted);
        // A zombie has neither words nor a working directory.
        if pid != own && (works_there || names(&words) || names(&read("environ"))) {
            let words = String::from_utf8_lossy(&words).replace('\0', " ").trim().to_string();
            found.push(Living { pid, words });
        }
    }
    found
}

/// Whether a string contains a path, and not only as the start of another name.
fn mentions(text: &[u8], path: &[u8]) -> bool {
    let ends = |at: usize| text.get(at).is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'-');
    let places = text.windows(path.len()).enumerate();
    places.filter(|(_, window)| *window == path).any(|(at, _)| ends(at + path.len()))
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_folder_is_not_mentioned_by_the_name_of_its_neighbour() {
        assert!(mentions(b"PWD=/t/escapes-proc\0", b"/t/escapes-proc"));
        assert!(mentions(b"/t/escapes-proc/checkout", b"/t/escapes-proc"));
        assert!(mentions(b"sh /t/escapes-proc", b"/t/escapes-proc"));
        assert!(!mentions(b"/t/escapes-processes/checkout", b"/t/escapes-proc"));
    }
}
