//! One call of git by the engine: its paths, and which of the user's programs it may start.

use super::GitError;
use super::invocation::{CallMode, CallOutput, GitPaths, Invocation, Running, line, path};
use super::programs::{Programs, StartablePrograms, Writes};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The paths of a call, and the user's programs that it may start.
#[derive(Clone, Debug)]
pub(super) struct GitContext {
    paths: GitPaths,
    /// Set if agents may have written the files: then programs run in the sandbox or not at all.
    programs: Option<(Programs, Writes)>,
}

impl From<GitPaths> for GitContext {
    fn from(paths: GitPaths) -> GitContext {
        GitContext { paths, programs: None }
    }
}

impl GitContext {
    /// A folder of the user, from which git finds the repository.
    pub(super) fn discover_from(directory: &Path) -> GitContext {
        GitPaths::discover_from(directory).into()
    }

    /// The objects and references of a repository, without a work tree.
    pub(super) fn objects(common_dir: &Path) -> GitContext {
        GitPaths::objects(common_dir).into()
    }

    /// A work tree of a run. Any call can start a filter there: even a call that only writes an index compares the content
    /// of recently changed files.
    pub(super) fn work_tree(git_dir: &Path, work_tree: &Path, programs: &Programs) -> GitContext {
        GitContext::from(GitPaths::work_tree(git_dir, work_tree)).starting(programs, Writes::Nothing)
    }

    /// The same context without the work tree that the repository's settings may name. Git fails if that tree is missing.
    pub(super) fn without_work_tree(self) -> GitContext {
        GitContext { paths: self.paths.without_work_tree(), ..self }
    }

    /// The same context, for calls that may start these programs.
    pub(super) fn starting(self, programs: &Programs, writes: Writes) -> GitContext {
        GitContext { programs: Some((programs.clone(), writes)), ..self }
    }

    /// The same context with another index file.
    pub(super) fn with_index(self, index: &Path) -> GitContext {
        GitContext { paths: self.paths.with_index(index), ..self }
    }

    /// The same context, for calls that need no sync: their objects become durable with the first reference to them, and
    /// only the engine reads their index.
    pub(super) fn without_sync(self) -> GitContext {
        GitContext { paths: self.paths.without_sync(), ..self }
    }

    /// The user's programs that a call may start, if there are any.
    fn startable(&self) -> Result<Option<StartablePrograms>, GitError> {
        let GitPaths { directory, git_dir, work_tree, .. } = &self.paths;
        let Some((programs, writes)) = &self.programs else { return Ok(None) };
        programs.startable(git_dir.as_deref().unwrap_or(directory), work_tree.as_deref(), *writes)
    }
}

/// A call that has not started yet.
#[derive(Debug)]
pub(super) struct Call {
    invocation: Invocation,
    context: GitContext,
}

/// A call that waits for its input.
#[derive(Debug)]
pub(super) enum PendingCall {
    Running(Running),
    /// A call that may start programs is started only when its input is complete.
    Waiting(Box<Call>),
}

/// Creates an internal call.
pub(super) fn git<I, S>(context: &GitContext, arguments: I) -> Call
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    Call::new(context, CallMode::Internal, arguments)
}

impl Call {
    pub(super) fn new<I, S>(context: &GitContext, mode: CallMode, arguments: I) -> Call
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        Call { invocation: Invocation::new(&context.paths, mode, arguments), context: context.clone() }
    }

    /// Sets the bytes for standard input.
    pub(super) fn input(self, input: Vec<u8>) -> Call {
        Call { invocation: self.invocation.input(input), ..self }
    }

    /// Adds an argument.
    pub(super) fn arg(self, argument: &str) -> Call {
        Call { invocation: self.invocation.arg(argument), ..self }
    }

    /// Sets an environment variable.
    pub(super) fn env(self, name: &str, value: impl AsRef<OsStr>) -> Call {
        Call { invocation: self.invocation.env(name, value), ..self }
    }

    /// Makes git read attributes from a tree instead of files that may be about to change. Git before 2.41 ignores this.
    pub(super) fn with_attributes_of(self, tree: &str) -> Call {
        self.env("GIT_ATTR_SOURCE", tree)
    }

    /// The command line, for messages.
    pub(super) fn command_line(&self) -> &str {
        self.invocation.command_line()
    }

    /// The bare invocation, for callers that confine its programs themselves.
    pub(super) fn invocation(self) -> Invocation {
        self.invocation
    }

    /// Runs the call; any exit code is valid.
    pub(super) fn run_unchecked(self) -> Result<CallOutput, GitError> {
        match self.context.startable()? {
            Some(programs) => programs.run(self.invocation),
            None => self.invocation.run_unchecked(),
        }
    }

    /// Starts the call before its input is known, so git can do its setup in the meantime.
    pub(super) fn start(self) -> Result<PendingCall, GitError> {
        match self.context.startable()? {
            Some(_) => Ok(PendingCall::Waiting(Box::new(self))),
            None => self.invocation.start().map(PendingCall::Running),
        }
    }

    /// Runs the call, which must succeed, and returns its output.
    pub(super) fn run(self) -> Result<Vec<u8>, GitError> {
        let command = self.command_line().to_string();
        let directory = self.invocation.directory().to_path_buf();
        self.run_unchecked()?.into_stdout(command, &directory)
    }

    /// Runs the call, which must succeed, and returns its single line of output.
    pub(super) fn line(self) -> Result<String, GitError> {
        let command = self.command_line().to_string();
        line(self.run()?, command)
    }

    /// Runs the call, which must succeed, and returns the path that it prints.
    pub(super) fn path(self) -> Result<PathBuf, GitError> {
        let stdout = self.run()?;
        Ok(path(stdout.strip_suffix(b"\n").unwrap_or(&stdout)))
    }
}

impl PendingCall {
    /// Sends the input and returns the output; the call must succeed.
    pub(super) fn run(self, input: Vec<u8>) -> Result<Vec<u8>, GitError> {
        match self {
            PendingCall::Running(running) => running.run(input),
            PendingCall::Waiting(call) => call.input(input).run(),
        }
    }

    /// Sends no input and returns the single line of output; the call must succeed.
    pub(super) fn line(self) -> Result<String, GitError> {
        let command = match &self {
            PendingCall::Running(running) => running.command_line().to_string(),
            PendingCall::Waiting(call) => call.command_line().to_string(),
        };
        line(self.run(Vec::new())?, command)
    }
}
