//! One invocation of git, with a clean environment, fixed settings and captured output.

use super::GitError;
use remand_process::ProcessJob;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

/// Settings for every call, which override the user's configuration.
const FIXED_SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "index.sparse=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.safecrlf=false",
    "core.pager=cat",
    "color.ui=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "worktree.useRelativePaths=false",
    "trailer.separators=:",
];

/// Settings for calls without the user's hooks and keys.
const INTERNAL_SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "commit.gpgSign=false",
    "core.fsync=committed",
    "submodule.recurse=false",
    // A large checkout uses every processor; a small one is faster without more processes.
    "checkout.workers=0",
    "checkout.thresholdForParallelism=500",
    // Work trees with the same content share a reference, and the call that holds its lock may be waiting for the disk.
    "core.filesRefLockTimeout=10000",
];

/// The number of bytes that an empty pipe accepts without blocking, even if nothing reads them.
const PIPE_CAPACITY: usize = 4096;

/// Prefixes of the `GIT_` variables for settings and programs. Calls as the user also keep the identity; all other `GIT_`
/// variables are removed.
const KEPT_VARIABLES: &[&str] = &[
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
    "GIT_EXEC_PATH",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_SSH",
    "GIT_SSL_",
];

/// Whose hooks, keys and identity a call uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallMode {
    /// No hooks, no signing, and the engine's identity.
    Internal,
    /// The hooks, signing and identity that the user has configured.
    AsUser,
}

/// The folders and the index of an invocation.
#[derive(Clone, Debug)]
pub(super) struct GitPaths {
    pub(super) directory: PathBuf,
    pub(super) git_dir: Option<PathBuf>,
    pub(super) work_tree: Option<PathBuf>,
    index: Option<PathBuf>,
    writing: Writing,
}

/// How new objects and an index are written to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    /// Syncs all objects once, at the end of the call.
    Synced,
    /// Writes objects without a sync. File systems keep the order in which files get their names. So the next sync of a
    /// later file, such as a reference to the objects, covers the objects too; git's `core.fsyncMethod=batch` relies on
    /// this as well. Writes the index without its checksum, which git does not need.
    Unsynced,
}

impl Writing {
    fn settings(self) -> &'static [&'static str] {
        match self {
            Writing::Synced => &["core.fsyncMethod=batch"],
            Writing::Unsynced => &["core.fsyncMethod=writeout-only", "index.skipHash=true"],
        }
    }
}

impl GitPaths {
    /// A folder of the user, from which git finds the repository.
    pub(super) fn discover_from(directory: &Path) -> GitPaths {
        GitPaths {
            directory: directory.to_path_buf(),
            git_dir: None,
            work_tree: None,
            index: None,
            writing: Writing::Synced,
        }
    }

    /// The objects and references of a repository, without a work tree.
    pub(super) fn objects(common_dir: &Path) -> GitPaths {
        GitPaths { git_dir: Some(common_dir.to_path_buf()), ..GitPaths::discover_from(common_dir) }
    }

    /// A work tree, without relying on its `.git` file.
    pub(super) fn work_tree(git_dir: &Path, work_tree: &Path) -> GitPaths {
        GitPaths {
            git_dir: Some(git_dir.to_path_buf()),
            work_tree: Some(work_tree.to_path_buf()),
            ..GitPaths::discover_from(work_tree)
        }
    }

    /// The same paths without the work tree that the repository's settings may name. Git fails if that tree is missing.
    pub(super) fn without_work_tree(self) -> GitPaths {
        GitPaths { work_tree: self.git_dir.clone(), ..self }
    }

    /// The same paths with another index file.
    pub(super) fn with_index(self, index: &Path) -> GitPaths {
        GitPaths { index: Some(index.to_path_buf()), ..self }
    }

    /// The same paths, for calls that need no sync: their objects become durable with the first reference to them, and only
    /// the engine reads their index.
    pub(super) fn without_sync(self) -> GitPaths {
        GitPaths { writing: Writing::Unsynced, ..self }
    }
}

/// The result of an invocation.
#[derive(Debug)]
pub(super) struct CallOutput {
    pub(super) code: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// An invocation that has not started yet.
#[derive(Debug)]
pub(super) struct Invocation {
    command: Command,
    command_line: String,
    directory: PathBuf,
    input: Option<Vec<u8>>,
}

/// A running git process. Dropping it closes its input and waits for its end.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    command_line: String,
    directory: PathBuf,
}

impl Invocation {
    pub(super) fn new<I, S>(paths: &GitPaths, mode: CallMode, arguments: I) -> Invocation
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        // With an empty or relative entry, git could find programs among an agent's files.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> =
            std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
        let mut command = Command::new(git_program(&folders));
        command.current_dir(&paths.directory).process_group(0);
        clean_environment(&mut command, mode);
        command.env("PATH", std::env::join_paths(folders).unwrap_or_default());
        let (internal, writing) = match mode {
            CallMode::Internal => (INTERNAL_SETTINGS, paths.writing.settings()),
            CallMode::AsUser => (&[][..], &[][..]),
        };
        for setting in FIXED_SETTINGS.iter().chain(internal).chain(writing) {
            command.arg("-c").arg(setting);
        }
        command.arg("--no-pager");
        let variables = [
            ("GIT_DIR", &paths.git_dir),
            ("GIT_WORK_TREE", &paths.work_tree),
            ("GIT_INDEX_FILE", &paths.index),
        ];
        for (name, value) in variables {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        let arguments: Vec<S> = arguments.into_iter().collect();
        command.args(&arguments);
        let command_line = command_line(&arguments);
        Invocation { command, command_line, directory: paths.directory.clone(), input: None }
    }

    /// Sets the bytes for standard input.
    pub(super) fn input(mut self, input: Vec<u8>) -> Invocation {
        self.input = Some(input);
        self
    }

    /// Adds an argument.
    pub(super) fn arg(mut self, argument: &str) -> Invocation {
        self.command.arg(argument);
        self
    }

    /// Sets an environment variable.
    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Invocation {
        self.command.env(name, value);
        self
    }

    /// The command line, for messages.
    pub(super) fn command_line(&self) -> &str {
        &self.command_line
    }

    /// The working folder.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Runs git and puts no limits on the programs that it starts. Any exit code is valid.
    pub(super) fn run_unchecked(mut self) -> Result<CallOutput, GitError> {
        let input = self.input.take();
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        self.spawn(stdin)?.finish(input)
    }

    /// Starts git before its input is known, so it can do its setup in the meantime.
    pub(super) fn start(self) -> Result<Running, GitError> {
        self.spawn(Stdio::piped())
    }

    fn spawn(mut self, stdin: Stdio) -> Result<Running, GitError> {
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.command.spawn().map_err(|source| self.not_started(source))?;
        Ok(Running { child, command_line: self.command_line, directory: self.directory })
    }

    /// Converts the invocation into a job whose environment has only git's variables, for a call that starts the user's
    /// programs.
    pub(super) fn job(self) -> ProcessJob {
        self.job_with(|name| name.as_bytes().starts_with(b"GIT_"))
    }

    /// Converts the invocation into a job with the user's environment.
    pub(super) fn user_job(self) -> ProcessJob {
        self.job_with(|_| true)
    }

    fn job_with(self, is_kept: impl Fn(&OsStr) -> bool) -> ProcessJob {
        let argv = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        let mut job = ProcessJob::standalone(argv.map(OsString::from), &self.directory, "git");
        job.environment = std::env::vars_os().filter(|(name, _)| is_kept(name)).collect();
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => job.environment.insert(name.into(), value.into()),
                None => job.environment.remove(name),
            };
        }
        job.stdin = self.input.unwrap_or_default();
        job
    }

    fn not_started(&self, source: std::io::Error) -> GitError {
        if self.directory.is_dir() {
            GitError::NoGit { source }
        } else {
            GitError::File { action: "enter", path: self.directory.clone(), source }
        }
    }
}

impl Running {
    /// Sends the input and returns the output; git must succeed.
    pub(super) fn run(mut self, input: Vec<u8>) -> Result<Vec<u8>, GitError> {
        let (command, directory) = (mem::take(&mut self.command_line), mem::take(&mut self.directory));
        self.finish(Some(input))?.into_stdout(command, &directory)
    }

    pub(super) fn command_line(&self) -> &str {
        &self.command_line
    }

    /// Sends the input and waits for the end; any exit code is valid.
    fn finish(mut self, input: Option<Vec<u8>>) -> Result<CallOutput, GitError> {
        let child = &mut self.child;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (stdout, stderr) = thread::scope(|scope| {
            if input.as_ref().is_none_or(|input| input.len() <= PIPE_CAPACITY) {
                write_all(stdin, input);
            } else {
                scope.spawn(move || write_all(stdin, input));
            }
            let errors = scope.spawn(move || read_all(stderr));
            (read_all(stdout), errors.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let status = child.wait().map_err(|source| GitError::NoGit { source })?;
        Ok(CallOutput { code: status.code().unwrap_or(-1), stdout, stderr })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A running git may hold locks. It ends when its input is closed. The wait fails only for a child that was already
        // reaped.
        drop((self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take()));
        let _ = self.child.wait();
    }
}

impl CallOutput {
    /// Returns standard output, or an error if git failed. `folder` is the working folder of the call.
    pub(super) fn into_stdout(self, command: String, folder: &Path) -> Result<Vec<u8>, GitError> {
        match self.code {
            0 => Ok(self.stdout),
            code => Err(GitError::from_call(command, code, &self.stderr, folder)),
        }
    }
}

/// Returns the single line of an output.
pub(super) fn line(stdout: Vec<u8>, command: String) -> Result<String, GitError> {
    let line = stdout.strip_suffix(b"\n").unwrap_or(&stdout);
    String::from_utf8(line.to_vec())
        .map_err(|_| GitError::Unreadable { command, detail: "not UTF-8".to_string() })
}

/// Returns the command line as a user would type it.
pub(super) fn command_line<S: AsRef<OsStr>>(arguments: &[S]) -> String {
    let words = arguments.iter().map(|word| word.as_ref().to_string_lossy());
    std::iter::once("git".into()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Splits output at NUL bytes.
pub(super) fn fields(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|field| !field.is_empty())
}

/// Converts a path in git's output, which need not be UTF-8.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Formats paths as git reads them from standard input with `-z`.
pub(super) fn nul_terminated<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path.as_os_str().as_bytes());
        bytes.push(0);
    }
    bytes
}

/// The path of git. With only a name and a changed `PATH`, the standard library forks instead of spawning, and a fork copies
/// the page tables of the whole engine.
fn git_program(folders: &[PathBuf]) -> PathBuf {
    let is_executable =
        |file: &PathBuf| file.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0);
    folders.iter().map(|folder| folder.join("git")).find(is_executable).unwrap_or_else(|| "git".into())
}

fn clean_environment(command: &mut Command, mode: CallMode) {
    for (name, _) in std::env::vars_os() {
        if is_removed(&name, mode) {
            command.env_remove(name);
        }
    }
    command
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_LFS_SKIP_SMUDGE", "1")
        .env("GIT_ADVICE", "0")
        .env("GIT_EDITOR", "true")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("LANGUAGE");
    if mode == CallMode::Internal {
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "Remand")
                .env(format!("GIT_{who}_EMAIL"), "remand@localhost");
        }
    }
    #[cfg(test)]
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
}

fn is_removed(name: &OsString, mode: CallMode) -> bool {
    let name = name.as_bytes();
    let is_kept = KEPT_VARIABLES.iter().any(|kept| name.starts_with(kept.as_bytes()));
    let is_identity = name.starts_with(b"GIT_AUTHOR_") || name.starts_with(b"GIT_COMMITTER_");
    name.starts_with(b"GIT_") && !is_kept && !(is_identity && mode == CallMode::AsUser && !cfg!(test))
}

fn write_all(pipe: Option<ChildStdin>, input: Option<Vec<u8>>) {
    if let (Some(mut pipe), Some(bytes)) = (pipe, input) {
        // Git may exit without reading everything. Then its exit code says more than the broken pipe.
        let _ = pipe.write_all(&bytes);
    }
}

fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // If the pipe fails, the bytes read so far are kept; the exit code decides whether the call succeeded.
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}
