//! Runs a program at the user's terminal, with the user's own rights.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Runs a command line of the user's shell until it ends. `$1` and so on are the arguments. It has the terminal and the
/// environment of this process.
pub fn run_at_terminal(script: &str, arguments: &[&OsStr], directory: &Path) -> io::Result<ExitStatus> {
    Command::new("/bin/sh").arg("-c").arg(script).arg("sh").args(arguments).current_dir(directory).status()
}
