//! Starts a process that outlives this one, whatever happens to it.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The starter exits at once, so the process has no parent that is tracked down with its children, and its group gets no
/// signal of a terminal.
const STARTER: &str = r#"out=$1 err=$2 exit=$3; shift 3
("$@" </dev/null >"$out" 2>"$err"; echo $? >"$exit.draft"; mv "$exit.draft" "$exit") </dev/null >/dev/null 2>&1 &"#;

/// The same, for a process whose output nobody reads.
const SILENT_STARTER: &str = r#""$@" </dev/null >/dev/null 2>&1 &"#;

/// A process that was started and left alone, with files for its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetachedProcess {
    pub stdout: PathBuf,
    pub stderr: PathBuf,
    /// Exists once the process has ended.
    exit: PathBuf,
}

impl DetachedProcess {
    /// Starts a program whose output goes to new files in a folder. It inherits the environment.
    pub fn start(argv: &[OsString], directory: &Path, folder: &Path) -> io::Result<DetachedProcess> {
        let process = DetachedProcess::in_folder(folder);
        let files = [&process.stdout, &process.stderr, &process.exit].map(OsString::from);
        finish(&mut starter(STARTER, &[&files[..], argv].concat(), directory))?;
        Ok(process)
    }

    /// The process whose output goes to this folder.
    pub fn in_folder(folder: &Path) -> DetachedProcess {
        DetachedProcess {
            stdout: folder.join("stdout"),
            stderr: folder.join("stderr"),
            exit: folder.join("exit"),
        }
    }

    /// Starts a program whose output is discarded.
    pub fn start_silent(argv: &[OsString], directory: &Path) -> io::Result<()> {
        finish(&mut starter(SILENT_STARTER, argv, directory))
    }

    /// The exit status, once the process has ended.
    pub fn exit(&self) -> Option<i32> {
        std::fs::read_to_string(&self.exit).ok()?.trim().parse().ok()
    }
}

fn starter(script: &str, argv: &[OsString], directory: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script).arg("sh").args(argv).current_dir(directory).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn finish(starter: &mut Command) -> io::Result<()> {
    let status = starter.status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("/bin/sh ended with {status}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    // BY-10
    #[test]
    fn a_detached_process_is_nobodys_child_and_leaves_its_output_and_exit_status() {
        let folder = tempfile::tempdir().unwrap();
        let gate = folder.path().join("gate");
        let script = format!(
            "cut -d' ' -f4 /proc/$$/stat; echo trouble >&2; until test -e {}; do :; done; exit 7",
            gate.display()
        );
        let process =
            DetachedProcess::start(&argv(&["sh", "-c", &script]), folder.path(), folder.path()).unwrap();
        assert_eq!(process.exit(), None);
        std::fs::write(&gate, "").unwrap();
        let status = std::iter::repeat_with(|| process.exit()).find_map(|exit| exit);
        assert_eq!(status, Some(7));
        let parent: u32 = std::fs::read_to_string(&process.stdout).unwrap().trim().parse().unwrap();
        assert_ne!(parent, std::process::id());
        assert_eq!(std::fs::read_to_string(&process.stderr).unwrap(), "trouble\n");
    }
}
