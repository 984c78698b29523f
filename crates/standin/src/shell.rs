//! Actions as shell commands that are safe for any bytes.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::path::Path;

/// Writes a file and creates its folders.
pub fn write(path: &Path, bytes: &[u8]) -> String {
    let folder =
        path.parent().map(|folder| format!("mkdir -p {} && ", quoted_path(folder))).unwrap_or_default();
    format!("{folder}{} > {}", print_bytes(bytes), quoted_path(path))
}

/// Appends to a file.
pub fn append(path: &Path, bytes: &[u8]) -> String {
    format!("{} >> {}", print_bytes(bytes), quoted_path(path))
}

/// Replaces a string in a file. A file without the string stays unchanged; a file that cannot be read is an error of the
/// shell.
///
/// The command contains the new content, because no common tool replaces across lines.
pub fn replace(path: &Path, find: &str, replace: &str) -> String {
    match std::fs::read_to_string(path) {
        Ok(content) => write(path, content.replacen(find, replace, 1).as_bytes()),
        Err(_) => format!("cat -- {} > /dev/null", quoted_path(path)),
    }
}

pub fn delete(path: &Path) -> String {
    format!("rm -r -- {}", quoted_path(path))
}

pub fn mkdir(path: &Path) -> String {
    format!("mkdir -p -- {}", quoted_path(path))
}

pub fn symlink(path: &Path, target: &str) -> String {
    format!("ln -sfn -- {} {}", quoted(target), quoted_path(path))
}

pub fn chmod(path: &Path, mode: u32) -> String {
    format!("chmod {mode:o} {}", quoted_path(path))
}

/// Starts a command that outlives the shell.
pub fn spawn(command: &str) -> String {
    format!("setsid sh -c {} </dev/null >/dev/null 2>&1 &", quoted(command))
}

/// Opens a TCP connection to `host:port`.
pub fn connect(address: &str) -> String {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, "80"));
    format!("bash -c {}", quoted(&format!("exec 3<>/dev/tcp/{host}/{port}")))
}

pub fn read(path: &Path) -> String {
    let path = quoted_path(path);
    format!("if [ -d {path} ]; then ls -A -- {path}; else cat -- {path}; fi")
}

fn print_bytes(bytes: &[u8]) -> String {
    format!("printf %s {} | base64 -d", quoted(&BASE64_STANDARD.encode(bytes)))
}

fn quoted_path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
