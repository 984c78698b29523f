//! One call of the git command line: a clean environment, pinned settings, captured output.

use super::GitError;
use super::programs::{Programs, Started, Writes};
use crate::process::Job;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

/// Settings under which every call runs, whatever the user has configured.
const PINNED: &[&str] = &[
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

/// Settings for calls of which the user's hooks and keys know nothing.
const INTERNAL: &[&str] = &[
    "core.hooksPath=/dev/null",
    "commit.gpgSign=false",
    "core.fsync=committed",
    "submodule.recurse=false",
    // Work trees with the same content keep it by the same reference, and the one that holds it may wait for the disk.
    "core.filesRefLockTimeout=10000",
];

/// So many bytes go into an empty pipe at once, whether anybody reads them or not.
const AT_ONCE: usize = 4096;

/// Variables of git that say where its settings and programs are; all others are taken out.
const KEPT: &[&str] = &[
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

/// Under whose rules a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// No hooks, no signing, an identity of the engine's own.
    Internal,
    /// Hooks, signing and identity as the user has configured them.
    AsUser,
}

/// Where a call works.
#[derive(Clone, Debug)]
pub(super) struct Place {
    directory: PathBuf,
    git_dir: Option<PathBuf>,
    work_tree: Option<PathBuf>,
    index: Option<PathBuf>,
    writing: Writing,
    /// For a place at which agents have written, or whatever else is not to be run as the user.
    programs: Option<(Programs, Writes)>,
}

/// How new objects and an index get to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    /// Objects with one sync at the end of the call.
    Final,
    /// Objects written out, and as safe as their names are: the file system keeps the order in which names were given, so
    /// the next sync of a younger name, such as that of a reference to them, covers these. Git's own way for many
    /// objects (`core.fsyncMethod=batch`) builds on the same. The index without a checksum, which git does not look at.
    Passing,
}

impl Writing {
    fn settings(self) -> &'static [&'static str] {
        match self {
            Writing::Final => &["core.fsyncMethod=batch"],
            Writing::Passing => &["core.fsyncMethod=writeout-only", "index.skipHash=true"],
        }
    }
}

impl Place {
    /// A folder of the user's; git finds the repository by itself.
    pub(super) fn found_from(directory: &Path) -> Place {
        Place {
            directory: directory.to_path_buf(),
            git_dir: None,
            work_tree: None,
            index: None,
            writing: Writing::Final,
            programs: None,
        }
    }

    /// The objects and references of a repository, without any work tree.
    pub(super) fn objects(common_dir: &Path) -> Place {
        Place { git_dir: Some(common_dir.to_path_buf()), ..Place::found_from(common_dir) }
    }

    /// The same place, whatever work tree its settings name: git does not put up with one that is not there.
    pub(super) fn without_work_tree(self) -> Place {
        Place { work_tree: self.git_dir.clone(), ..self }
    }

    /// A work tree of a run, whose own `.git` file is not relied on. Any call can start a filter there: git compares the
    /// content of young files even where it only writes an index.
    pub(super) fn work_tree(git_dir: &Path, work_tree: &Path, programs: &Programs) -> Place {
        Place {
            git_dir: Some(git_dir.to_path_buf()),
            work_tree: Some(work_tree.to_path_buf()),
            ..Place::found_from(work_tree)
        }
        .starting(programs, Writes::Nothing)
    }

    /// The same place, for calls that have programs started in this way.
    pub(super) fn starting(self, programs: &Programs, writes: Writes) -> Place {
        Place { programs: Some((programs.clone(), writes)), ..self }
    }

    /// The same place with an index of our own.
    pub(super) fn with_index(self, index: &Path) -> Place {
        Place { index: Some(index.to_path_buf()), ..self }
    }

    /// The same place, for calls whose objects are safe no sooner than a reference to them is written, and whose index
    /// nobody reads but the engine.
    pub(super) fn in_passing(self) -> Place {
        Place { writing: Writing::Passing, ..self }
    }
}

/// A call that ended.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// A call that is being put together.
#[derive(Debug)]
pub(super) struct Call {
    command: Command,
    words: String,
    place: Place,
    input: Option<Vec<u8>>,
}

/// A call that waits for its input.
#[derive(Debug)]
pub(super) enum Begun {
    Running(Running),
    /// One with programs to start begins when it has all that it needs.
    Waiting(Box<Call>),
}

/// A call that is under way. Dropped, it ends without input.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    words: String,
    place: PathBuf,
}

/// An internal call.
pub(super) fn git<I, S>(place: &Place, arguments: I) -> Call
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    Call::new(place, Manner::Internal, arguments)
}

impl Call {
    pub(super) fn new<I, S>(place: &Place, manner: Manner, arguments: I) -> Call
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let mut command = Command::new("git");
        command.current_dir(&place.directory).process_group(0);
        clean_environment(&mut command, manner);
        let (internal, writing) = match manner {
            Manner::Internal => (INTERNAL, place.writing.settings()),
            Manner::AsUser => (&[][..], &[][..]),
        };
        for setting in PINNED.iter().chain(internal).chain(writing) {
            command.arg("-c").arg(setting);
        }
        command.arg("--no-pager");
        let places = [
            ("GIT_DIR", &place.git_dir),
            ("GIT_WORK_TREE", &place.work_tree),
            ("GIT_INDEX_FILE", &place.index),
        ];
        for (name, value) in places {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        let arguments: Vec<S> = arguments.into_iter().collect();
        command.args(&arguments);
        Call { command, words: words(&arguments), place: place.clone(), input: None }
    }

    /// Gives bytes to standard input.
    pub(super) fn input(mut self, input: Vec<u8>) -> Call {
        self.input = Some(input);
        self
    }

    /// Adds an argument.
    pub(super) fn and(mut self, argument: &str) -> Call {
        self.command.arg(argument);
        self
    }

    /// Sets a variable of git.
    pub(super) fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Call {
        self.command.env(name, value);
        self
    }

    /// Has attributes read from a tree, not from files that may be about to change. Git before 2.41 does not know this.
    pub(super) fn with_attributes_of(mut self, tree: &str) -> Call {
        self.command.env("GIT_ATTR_SOURCE", tree);
        self
    }

    /// The words that it was called with.
    pub(super) fn words(&self) -> &str {
        &self.words
    }

    /// Runs the call; any exit code is an answer.
    pub(super) fn answer(self) -> Result<Answer, GitError> {
        match self.programs()? {
            Some(programs) => programs.run(self),
            None => self.answer_itself(),
        }
    }

    /// Runs the call, whatever it starts.
    pub(super) fn answer_itself(mut self) -> Result<Answer, GitError> {
        let input = self.input.take();
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        self.spawn(stdin)?.answer(input)
    }

    /// Starts the call before its input is known: what git does to get ready is done by then.
    pub(super) fn begin(self) -> Result<Begun, GitError> {
        match self.programs()? {
            Some(_) => Ok(Begun::Waiting(Box::new(self))),
            None => self.spawn(Stdio::piped()).map(Begun::Running),
        }
    }

    /// What the call may start, if it is anything.
    fn programs(&self) -> Result<Option<Started>, GitError> {
        let Place { directory, git_dir, work_tree, programs, .. } = &self.place;
        let Some((programs, writes)) = programs else { return Ok(None) };
        programs.started(git_dir.as_deref().unwrap_or(directory), work_tree.as_deref(), *writes)
    }

    fn spawn(mut self, stdin: Stdio) -> Result<Running, GitError> {
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.command.spawn().map_err(|source| self.not_started(source))?;
        Ok(Running { child, words: self.words, place: self.place.directory })
    }

    /// The call as a job, for a call that starts programs of the user's. It has the variables of git, and no others.
    pub(super) fn job(self) -> Job {
        self.job_with(|name| name.as_bytes().starts_with(b"GIT_"))
    }

    /// The call as a job that has the user's environment.
    pub(super) fn job_of_user(self) -> Job {
        self.job_with(|_| true)
    }

    fn job_with(self, is_kept: impl Fn(&OsStr) -> bool) -> Job {
        let argv = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        let mut job = Job::apart(argv.map(OsString::from), &self.place.directory, "git");
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

    /// Runs the call, which must succeed, and gives its output.
    pub(super) fn run(self) -> Result<Vec<u8>, GitError> {
        let (words, place) = (self.words.clone(), self.place.directory.clone());
        self.answer()?.output(words, &place)
    }

    /// Runs the call, which must succeed, and gives its one line.
    pub(super) fn line(self) -> Result<String, GitError> {
        let words = self.words.clone();
        line(self.run()?, words)
    }

    /// Runs the call, which must succeed, and gives the path that it prints.
    pub(super) fn path(self) -> Result<PathBuf, GitError> {
        let stdout = self.run()?;
        Ok(path(stdout.strip_suffix(b"\n").unwrap_or(&stdout)))
    }

    fn not_started(&self, source: std::io::Error) -> GitError {
        let path = &self.place.directory;
        if path.is_dir() {
            GitError::NoGit { source }
        } else {
            GitError::File { action: "enter", path: path.clone(), source }
        }
    }
}

impl Begun {
    /// Gives the call its input; it must succeed, and gives its output.
    pub(super) fn run(self, input: Vec<u8>) -> Result<Vec<u8>, GitError> {
        match self {
            Begun::Running(running) => running.run(input),
            Begun::Waiting(call) => call.input(input).run(),
        }
    }

    /// Gives the call no input; it must succeed, and gives its one line.
    pub(super) fn line(self) -> Result<String, GitError> {
        let words = match &self {
            Begun::Running(running) => running.words.clone(),
            Begun::Waiting(call) => call.words.clone(),
        };
        line(self.run(Vec::new())?, words)
    }
}

impl Running {
    fn run(mut self, input: Vec<u8>) -> Result<Vec<u8>, GitError> {
        let (words, place) = (mem::take(&mut self.words), mem::take(&mut self.place));
        self.answer(Some(input))?.output(words, &place)
    }

    fn answer(mut self, input: Option<Vec<u8>>) -> Result<Answer, GitError> {
        let child = &mut self.child;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (stdout, stderr) = thread::scope(|scope| {
            if input.as_ref().is_none_or(|input| input.len() <= AT_ONCE) {
                feed(stdin, input);
            } else {
                scope.spawn(move || feed(stdin, input));
            }
            let errors = scope.spawn(move || read_all(stderr));
            (read_all(stdout), errors.join().unwrap_or_default())
        });
        let status = child.wait().map_err(|source| GitError::NoGit { source })?;
        Ok(Answer { code: status.code().unwrap_or(-1), stdout, stderr })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A git that is still at work holds its locks, so its end is waited for; without input it comes at once.
        drop((self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take()));
        let _ = self.child.wait();
    }
}

impl Answer {
    pub(super) fn output(self, words: String, place: &Path) -> Result<Vec<u8>, GitError> {
        match self.code {
            0 => Ok(self.stdout),
            code => Err(GitError::of_call(words, code, &self.stderr, place)),
        }
    }
}

/// The one line of an output.
pub(super) fn line(stdout: Vec<u8>, words: String) -> Result<String, GitError> {
    let line = stdout.strip_suffix(b"\n").unwrap_or(&stdout);
    String::from_utf8(line.to_vec())
        .map_err(|_| GitError::Unreadable { command: words, detail: "not UTF-8".to_string() })
}

/// A call as people write it.
pub(super) fn words<S: AsRef<OsStr>>(arguments: &[S]) -> String {
    let words = arguments.iter().map(|word| word.as_ref().to_string_lossy());
    std::iter::once("git".into()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The fields of an output that separates by NUL.
pub(super) fn fields(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|field| !field.is_empty())
}

/// A path as git gives it, byte by byte.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Paths as git reads them from standard input with `-z`.
pub(super) fn listed<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path.as_os_str().as_bytes());
        bytes.push(0);
    }
    bytes
}

fn clean_environment(command: &mut Command, manner: Manner) {
    for (name, _) in std::env::vars_os() {
        if is_taken_out(&name, manner) {
            command.env_remove(name);
        }
    }
    // A part of the path that is empty or relative would find programs among the files of an agent.
    if let Some(path) = std::env::var_os("PATH") {
        let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        command.env("PATH", std::env::join_paths(folders).unwrap_or_default());
    }
    command
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_LFS_SKIP_SMUDGE", "1")
        .env("GIT_ADVICE", "0")
        .env("GIT_EDITOR", "true")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("LANGUAGE");
    if manner == Manner::Internal {
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "Remand")
                .env(format!("GIT_{who}_EMAIL"), "remand@localhost");
        }
    }
    #[cfg(test)]
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
}

fn is_taken_out(name: &OsString, manner: Manner) -> bool {
    let name = name.as_bytes();
    let kept = KEPT.iter().any(|kept| name.starts_with(kept.as_bytes()));
    let identity = name.starts_with(b"GIT_AUTHOR_") || name.starts_with(b"GIT_COMMITTER_");
    name.starts_with(b"GIT_") && !kept && !(identity && manner == Manner::AsUser && !cfg!(test))
}

fn feed(pipe: Option<ChildStdin>, input: Option<Vec<u8>>) {
    if let (Some(mut pipe), Some(bytes)) = (pipe, input) {
        // A git that ends early does not read all; its exit code says so better than a broken pipe.
        let _ = pipe.write_all(&bytes);
    }
}

fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What was read before a failing pipe is still worth having.
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}
