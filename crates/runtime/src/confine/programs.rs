//! Which files the kernel has to execute for one program to start: itself, its interpreters, their loader.

use std::io::Read;
use std::path::{Path, PathBuf};

/// What loads programs that are linked dynamically.
const LOADERS: &[&str] = &[
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-linux-riscv64-lp64d.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

/// Folders whose programs nobody without a shell has a use for.
pub const FOLDERS: &[&str] = &["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// An interpreter may itself be a script; this deep, and no deeper, as the kernel has it.
const DEPTH: usize = 5;

/// The files that starting these programs takes, by their real paths.
pub fn needed(programs: &[PathBuf]) -> Vec<PathBuf> {
    let mut needed: Vec<PathBuf> =
        LOADERS.iter().filter_map(|path| Path::new(path).canonicalize().ok()).collect();
    for program in programs {
        let mut next = Some(program.clone());
        for _ in 0..DEPTH {
            let Some(path) = next.and_then(|path| path.canonicalize().ok()) else { break };
            next = interpreter(&path);
            needed.push(path);
        }
    }
    needed.sort();
    needed.dedup();
    needed
}

/// The program that the first line of a script names.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut head = Vec::new();
    std::fs::File::open(script).ok()?.take(256).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = String::from_utf8_lossy(line).split_whitespace().next()?.to_string();
    Some(PathBuf::from(word))
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn a_script_needs_its_interpreter_and_that_one_its_loader() {
        let temp = tempfile::tempdir().expect("temp");
        let script = temp.path().canonicalize().expect("real").join("agent");
        std::fs::write(&script, "#!/bin/sh -e\necho\n").expect("file");
        let needed = needed(std::slice::from_ref(&script));
        assert!(needed.contains(&script));
        assert!(needed.contains(&Path::new("/bin/sh").canonicalize().expect("a shell")));
    }
}
