//! Finds processes of a trial by the path of its folder, without the engine's help.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a killed process may take to disappear.
const TIMEOUT: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(20);

/// A process that is still alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftProcess {
    pub pid: i32,
    pub command_line: String,
}

/// The processes that are still alive after the timeout and have the folder in their command line, environment or working
/// directory.
pub fn left_behind(folder: &Path) -> Vec<LeftProcess> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let found = processes_in(folder);
        if found.is_empty() || Instant::now() >= deadline {
            return found;
        }
        std::thread::sleep(POLL);
    }
}

/// Kills leftover processes, so that no trial disturbs the next one.
pub fn kill(found: &[LeftProcess]) {
    for process in found {
        if let Some(pid) = Pid::from_raw(process.pid) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn processes_in(folder: &Path) -> Vec<LeftProcess> {
    let this_process = i32::try_from(std::process::id()).unwrap_or(0);
    let path = folder.as_os_str().as_bytes();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let read = |file: &str| fs::read(entry.path().join(file)).unwrap_or_default();
        let command_line = read("cmdline");
        let works_there = fs::read_link(entry.path().join("cwd")).is_ok_and(|path| path.starts_with(folder));
        let has_path = |bytes: &[u8]| mentions(bytes, path);
        // A zombie has neither a command line nor a working directory.
        if pid != this_process && (works_there || has_path(&command_line) || has_path(&read("environ"))) {
            let command_line = String::from_utf8_lossy(&command_line).replace('\0', " ").trim().to_string();
            found.push(LeftProcess { pid, command_line });
        }
    }
    found
}

/// Whether a string contains a path, not only as the start of a longer name.
fn mentions(text: &[u8], path: &[u8]) -> bool {
    let ends = |at: usize| text.get(at).is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'-');
    let windows = text.windows(path.len()).enumerate();
    windows.filter(|(_, window)| *window == path).any(|(at, _)| ends(at + path.len()))
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_longer_folder_name_is_not_a_mention() {
        assert!(mentions(b"PWD=/t/escapes-proc\0", b"/t/escapes-proc"));
        assert!(mentions(b"/t/escapes-proc/checkout", b"/t/escapes-proc"));
        assert!(mentions(b"sh /t/escapes-proc", b"/t/escapes-proc"));
        assert!(!mentions(b"/t/escapes-processes/checkout", b"/t/escapes-proc"));
    }
}
