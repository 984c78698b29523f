//! The files that the kernel executes to start a program: the program, its interpreters and their loader.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The loaders of dynamically linked programs.
const LOADERS: &[&str] = &[
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-linux-riscv64-lp64d.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

/// Folders of programs that are useful only with a shell.
pub const FOLDERS: &[&str] = &["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// The maximum nesting of interpreters, as in the kernel: an interpreter may itself be a script.
const MAX_DEPTH: usize = 5;

/// Finds a program by its name in the folders of a `PATH`, or by its path.
pub fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    let is_program = |file: &Path| {
        file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|file| is_program(file));
    }
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_program(file))
}

/// The folder that a program is installed in: its `node_modules`, or the folder of its real file. The program may need
/// the files there even if they are in a home folder.
pub fn installation_folder(program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().ok()?;
    let modules = real.ancestors().filter(|folder| folder.ends_with("node_modules")).last();
    modules.or(real.parent()).map(Path::to_path_buf)
}

/// The real paths of the files that these programs need to start. A folder includes everything in it.
pub fn files_to_start(programs: &[PathBuf], path: &OsStr) -> Vec<PathBuf> {
    // A path that does not exist is not needed.
    let mut files: Vec<PathBuf> =
        LOADERS.iter().filter_map(|path| Path::new(path).canonicalize().ok()).collect();
    for program in programs {
        let mut next = vec![program.clone()];
        for _ in 0..MAX_DEPTH {
            let real: Vec<PathBuf> = next.iter().filter_map(|file| file.canonicalize().ok()).collect();
            next = real.iter().flat_map(|file| interpreters(file, path)).collect();
            files.extend(real);
        }
    }
    files.sort();
    files.dedup();
    files
}

/// The interpreter in the first line of a script, and the program that `env` would start; empty if the file cannot be
/// read.
fn interpreters(script: &Path, path: &OsStr) -> Vec<PathBuf> {
    let mut head = Vec::new();
    let read = std::fs::File::open(script).and_then(|file| file.take(256).read_to_end(&mut head));
    let Some(line) = read.ok().and_then(|_| head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next())
    else {
        return Vec::new();
    };
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split_whitespace();
    let first = words.next().map(PathBuf::from);
    let env_program = match &first {
        Some(first) if first.ends_with("env") => words.find(|word| !word.starts_with('-')),
        Some(_) | None => None,
    };
    first.into_iter().chain(env_program.and_then(|name| find(name, path))).collect()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn a_script_needs_its_interpreter() {
        let temp = tempfile::tempdir().expect("temp");
        let script = temp.path().canonicalize().expect("real").join("agent");
        std::fs::write(&script, "#!/bin/sh -e\necho\n").expect("file");
        let needed_by =
            |script: &PathBuf| files_to_start(std::slice::from_ref(script), OsStr::new("/usr/bin:/bin"));
        let shell = Path::new("/bin/sh").canonicalize().expect("a shell");
        assert!(needed_by(&script).contains(&script));
        assert!(needed_by(&script).contains(&shell));
        std::fs::write(&script, "#!/usr/bin/env sh\necho\n").expect("file");
        assert!(needed_by(&script).contains(&shell));
    }
}
