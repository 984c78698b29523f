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
    /// Set where agents may have written files, so that programs must not run as the user.
    programs: Option<(Programs, Writes)>,
}

impl From<GitPaths> for GitContext {
    fn from(paths: GitPaths) -> GitContext {
        GitContext { paths, programs: None }
    }
}

impl GitContext {
    /// One of the user's folders; git finds the repository itself.
    pub(super) fn found_from(directory: &Path) -> GitContext {
        GitPaths::found_from(directory).into()
    }

    /// The objects and references of a repository, without a work tree.
    pub(super) fn objects(common_dir: &Path) -> GitContext {
        GitPaths::objects(common_dir).into()
    }

    /// A work tree of a run. Any call can start a filter there: git compares the content of recently changed files even
    /// if it only writes an index.
    pub(super) fn work_tree(git_dir: &Path, work_tree: &Path, programs: &Programs) -> GitContext {
        GitContext::from(GitPaths::work_tree(git_dir, work_tree)).starting(programs, Writes::Nothing)
    }

    /// The same context without the work tree that the repository's settings may name, since git fails if it is missing.
    pub(super) fn without_work_tree(self) -> GitContext {
        GitContext { paths: self.paths.without_work_tree(), ..self }
    }

    /// The same context, for calls that may start these programs.
    pub(super) fn starting(self, programs: &Programs, writes: Writes) -> GitContext {
        GitContext { programs: Some((programs.clone(), writes)), ..self }
    }

    /// The same context with our own index.
    pub(super) fn with_index(self, index: &Path) -> GitContext {
        GitContext { paths: self.paths.with_index(index), ..self }
    }

    /// The same context, for calls whose objects need to be durable only once a reference to them is written, and whose
    /// index only the engine reads.
    pub(super) fn in_passing(self) -> GitContext {
        GitContext { paths: self.paths.in_passing(), ..self }
    }

    /// The user's programs that a call may start, if there are any.
    fn startable(&self) -> Result<Option<StartablePrograms>, GitError> {
        let GitPaths { directory, git_dir, work_tree, .. } = &self.paths;
        let Some((programs, writes)) = &self.programs else { return Ok(None) };
        programs.startable(git_dir.as_deref().unwrap_or(directory), work_tree.as_deref(), *writes)
    }
}

/// A call that is being put together.
#[derive(Debug)]
pub(super) struct Call {
    invocation: Invocation,
    context: GitContext,
}

/// A call that is waiting for its input.
#[derive(Debug)]
pub(super) enum PendingCall {
    Running(Running),
    /// A call that may start programs runs only once its input is complete.
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
    pub(super) fn new<I, S>(context: &GitContext, manner: CallMode, arguments: I) -> Call
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        Call { invocation: Invocation::new(&context.paths, manner, arguments), context: context.clone() }
    }

    /// Gives bytes to standard input.
    pub(super) fn input(self, input: Vec<u8>) -> Call {
        Call { invocation: self.invocation.input(input), ..self }
    }

    /// Adds an argument.
    pub(super) fn and(self, argument: &str) -> Call {
        Call { invocation: self.invocation.and(argument), ..self }
    }

    /// Sets an environment variable.
    pub(super) fn with(self, name: &str, value: impl AsRef<OsStr>) -> Call {
        Call { invocation: self.invocation.with(name, value), ..self }
    }

    /// Makes git read attributes from a tree instead of files that may be about to change. Git before 2.41 ignores this.
    pub(super) fn with_attributes_of(self, tree: &str) -> Call {
        self.with("GIT_ATTR_SOURCE", tree)
    }

    /// The command line, for messages.
    pub(super) fn words(&self) -> &str {
        self.invocation.words()
    }

    /// The plain invocation, for code that confines its programs itself.
    pub(super) fn invocation(self) -> Invocation {
        self.invocation
    }

    /// Runs the call; any exit code is valid.
    pub(super) fn answer(self) -> Result<CallOutput, GitError> {
        match self.context.startable()? {
            Some(programs) => programs.run(self.invocation),
            None => self.invocation.answer(),
        }
    }

    /// Starts the call before its input is known, so that git has finished its setup by then.
    pub(super) fn begin(self) -> Result<PendingCall, GitError> {
        match self.context.startable()? {
            Some(_) => Ok(PendingCall::Waiting(Box::new(self))),
            None => self.invocation.begin().map(PendingCall::Running),
        }
    }

    /// Runs the call, which must succeed, and returns its output.
    pub(super) fn run(self) -> Result<Vec<u8>, GitError> {
        let (words, directory) = (self.words().to_string(), self.invocation.directory().to_path_buf());
        self.answer()?.output(words, &directory)
    }

    /// Runs the call, which must succeed, and returns its single line of output.
    pub(super) fn line(self) -> Result<String, GitError> {
        let words = self.words().to_string();
        line(self.run()?, words)
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
        let words = match &self {
            PendingCall::Running(running) => running.words().to_string(),
            PendingCall::Waiting(call) => call.words().to_string(),
        };
        line(self.run(Vec::new())?, words)
    }
}
