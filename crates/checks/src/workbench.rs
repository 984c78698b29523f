//! A work tree set up for checks. It runs a plan, and keeps checks from affecting each other.

use super::context::{BaseFiles, CheckContext, CheckSandbox, FileScope};
use super::copied::remove_old;
use super::installed::link;
use super::plan::{CheckPlan, CheckRun};
use super::result::{CheckEnd, CheckResult};
use super::run::{TestWatch, run_check};
use super::spec::CheckSpec;
use remand_git::{
    ChangeKind, GitError, KeepIgnored, Reach, Repository, TreeId, WorkTree, private_folder, remove,
    remove_inside,
};
use remand_process::Cancel;
use remand_source::{Language, is_test_file};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder in which Python caches compiled code. Python loads that code even if the source has changed since.
const PYTHON_CACHE: &str = "__pycache__";

/// How much more a check may add to its tree than a dispatch.
const MORE_THAN_A_DISPATCH: u64 = 10;

/// The inputs of a workbench.
#[derive(Clone)]
pub struct BenchSetup<'b> {
    /// The user's repository; packages that are installed in its checkout are linked into the tree.
    pub repository: &'b Repository,
    /// The checks whose packages are linked.
    pub installed_for: &'b [CheckSpec],
    /// The content that is checked.
    pub content: &'b TreeId,
    /// The tree that changed files are compared with.
    pub base: &'b TreeId,
    pub files: FileScope<'b>,
    pub environment: &'b BTreeMap<OsString, OsString>,
    /// A folder outside the tree; it is emptied first and deleted at the end.
    pub scratch: PathBuf,
    /// The workbench adds the paths that depend on the tree.
    pub sandbox: CheckSandbox,
    pub cancel: &'b Cancel,
    pub on_check: CheckWatch,
}

/// Called before each check and when tests of it have ended, for people who watch.
#[derive(Clone)]
pub struct CheckWatch(Arc<dyn Fn(&CheckProgress) + Send + Sync>);

impl CheckWatch {
    pub fn new(watch: impl Fn(&CheckProgress) + Send + Sync + 'static) -> CheckWatch {
        CheckWatch(Arc::new(watch))
    }

    /// Reports to nobody.
    pub fn nobody() -> CheckWatch {
        CheckWatch::new(|_| {})
    }

    /// Reports a check that starts, and returns what counts its tests.
    fn start(&self, progress: CheckProgress) -> TestWatch {
        (self.0)(&progress);
        let watch = Arc::clone(&self.0);
        Arc::new(move |ended| watch(&CheckProgress { tests: progress.tests + ended, ..progress.clone() }))
    }
}

/// A check that runs, and what ran before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckProgress {
    pub name: String,
    /// The number of the check, from 1, out of those that must run. A check that runs again keeps its number.
    pub number: usize,
    pub of: usize,
    /// Tests that have ended, of this check and those before it.
    pub tests: u64,
}

/// Why a workbench cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A work tree in which checks run.
pub struct Workbench<'b> {
    setup: BenchSetup<'b>,
    tree: WorkTree,
    environment: BTreeMap<OsString, OsString>,
    sandbox: CheckSandbox,
    /// Folders that may hold compiled code of the content.
    compiled: BTreeSet<PathBuf>,
    /// Checks that have run since the tree was last cleaned.
    ran: BTreeSet<String>,
}

impl<'b> Workbench<'b> {
    /// Prepares a tree that holds the content.
    pub fn set_up(tree: WorkTree, setup: BenchSetup<'b>) -> Result<Workbench<'b>, BenchError> {
        let mut environment = setup.environment.clone();
        environment.insert("TMPDIR".into(), setup.scratch.clone().into_os_string());
        let sandbox = setup.sandbox.clone();
        let (compiled, ran) = (BTreeSet::new(), BTreeSet::new());
        // What a check adds is not part of the change, so it may be more.
        let tree = tree.with_more_generous_limits(MORE_THAN_A_DISPATCH);
        let mut bench = Workbench { setup, tree, environment, sandbox, compiled, ran };
        bench.clear(KeepIgnored::BuildOutput)?;
        let sources = bench.setup.repository.files(bench.setup.content)?;
        let sources =
            sources.iter().filter(|file| file.extension().is_some_and(|extension| extension == "py"));
        bench.compiled = sources.map(|file| file.with_file_name(PYTHON_CACHE)).collect();
        Ok(bench)
    }

    /// Runs the checks that the plan requires, and returns one result for each check of the plan.
    pub fn run(&mut self, plan: &CheckPlan) -> Result<Vec<CheckResult>, BenchError> {
        let results = self.run_once(plan)?;
        if !plan.needs_clean_run(&results) {
            return Ok(results);
        }
        self.tree.restore(self.setup.content)?;
        self.clear(KeepIgnored::Nothing)?;
        self.ran.clear();
        self.run_once(plan)
    }

    /// Restores the content, since the files that checks leave are not part of the change, and returns the tree.
    pub fn leave(self) -> Result<WorkTree, BenchError> {
        // The folder is emptied before its next use, so a failure to delete it does no harm.
        let _ = remove(&self.setup.scratch);
        let _ = self.sandbox.policy.contacts.as_deref().map(remove);
        self.tree.restore(self.setup.content)?;
        Ok(self.tree)
    }

    fn run_once(&mut self, plan: &CheckPlan) -> Result<Vec<CheckResult>, BenchError> {
        let mut run = CheckRun::new(plan);
        let (mut begun, mut tests) = (Vec::new(), 0);
        while let Some(spec) = run.next_check() {
            let number = begun.iter().position(|name| *name == spec.name).unwrap_or_else(|| {
                begun.push(spec.name.clone());
                begun.len() - 1
            });
            let on_tests = self.setup.on_check.start(CheckProgress {
                name: spec.name.clone(),
                number: number + 1,
                of: plan.to_run().max(number + 1),
                tests,
            });
            if !self.ran.insert(spec.name.clone()) {
                self.tree.restore(self.setup.content)?;
                self.clear(KeepIgnored::BuildOutput)?;
            }
            let result = self.run_check(spec, Some(on_tests))?;
            tests += u64::from(result.collected.unwrap_or(0));
            let result = match self.tree.check_limits() {
                Ok(()) => self.fail_if_rewriting(spec, result)?,
                Err(error @ GitError::Excess { .. }) => {
                    self.tree.restore(self.setup.content)?;
                    failed(result, error.to_string())
                }
                Err(error) => return Err(error.into()),
            };
            run.record(result);
        }
        Ok(run.into_results())
    }

    /// Removes the files that earlier runs left, so they cannot affect later ones. Build output may stay, since rebuilding
    /// it for every check takes too long.
    fn clear(&mut self, keep: KeepIgnored) -> Result<(), BenchError> {
        self.tree.clean_up(keep, Reach::Tree)?;
        remove(&self.setup.scratch)?;
        private_folder(&self.setup.scratch)?;
        let root = self.setup.repository.root();
        if self.setup.installed_for.iter().any(|spec| !spec.copies.is_empty()) {
            // Below the name of a build's output, a copy of an earlier run is still there.
            let content = self.setup.repository.files(self.setup.content)?;
            remove_old(root, self.tree.path(), self.setup.installed_for, &content)?;
        }
        let installed = link(root, self.tree.path(), self.setup.installed_for)?.reads;
        let BenchSetup { sandbox, scratch, .. } = &self.setup;
        self.sandbox = sandbox.in_tree(self.tree.path(), scratch, installed, &self.environment);
        Ok(())
    }

    /// Runs a check on the tree as it is.
    fn run_check(&self, spec: &CheckSpec, on_tests: Option<TestWatch>) -> Result<CheckResult, BenchError> {
        let context = CheckContext {
            tree: self.tree.path(),
            environment: &self.environment,
            files: self.setup.files,
            base: BaseFiles::Tree(self.setup.repository, self.setup.base),
            scratch: &self.setup.scratch,
            cancel: self.setup.cancel,
            sandbox: Some(&self.sandbox),
        };
        self.tree.restore_submodules()?;
        self.remove_compiled()?;
        let result = run_check(spec, &context, on_tests);
        self.remove_compiled()?;
        Ok(result)
    }

    /// Removes compiled code that a change adds or a check leaves: it would run instead of the reviewed source.
    fn remove_compiled(&self) -> Result<(), GitError> {
        self.compiled.iter().try_for_each(|folder| remove_inside(self.tree.path(), folder))
    }

    /// Fails a check that rewrote code while it ran, as a build script could, because it did not check the original code.
    /// A check may add files other than tests, and may rewrite generated code: code that it also rewrites at the base.
    fn fail_if_rewriting(&self, spec: &CheckSpec, result: CheckResult) -> Result<CheckResult, BenchError> {
        let changed: BTreeSet<&Path> = match self.setup.files {
            FileScope::Changed(files) if result.passed() => files.iter().map(Path::new).collect(),
            FileScope::Changed(_) | FileScope::Whole => return Ok(result),
        };
        let is_protected = |path: &Path| changed.contains(path) || is_test_file(path);
        let (mut rewritten, others): (BTreeSet<PathBuf>, BTreeSet<PathBuf>) = self
            .rewritten(self.setup.content, is_protected)?
            .into_iter()
            .partition(|path| is_protected(path));
        if !others.is_empty() {
            let generated = self.rewritten_at_base(spec)?;
            rewritten.extend(others.into_iter().filter(|path| !generated.contains(path)));
        }
        rewritten.extend(self.tree.changed_in_submodules());
        if rewritten.is_empty() {
            return Ok(result);
        }
        self.tree.restore(self.setup.content)?;
        let rewritten: Vec<String> = rewritten.iter().map(|path| path.display().to_string()).collect();
        Ok(failed(result, format!("it rewrote the code that it checks: {}", rewritten.join(", "))))
    }

    /// The code files that differ between a tree and the work tree. An added file or a changed mode counts only if
    /// `is_strict`.
    fn rewritten(
        &self,
        tree: &TreeId,
        is_strict: impl Fn(&Path) -> bool,
    ) -> Result<BTreeSet<PathBuf>, GitError> {
        let changed = self.tree.changed(tree, &self.tree.snapshot()?)?;
        let differs = |kind: ChangeKind| !matches!(kind, ChangeKind::Added | ChangeKind::Mode);
        let is_code = |path: &Path| Language::of(path).is_some_and(Language::is_code);
        let rewritten = changed
            .into_iter()
            .filter(|change| is_code(&change.path) && (differs(change.kind) || is_strict(&change.path)));
        Ok(rewritten.map(|change| change.path).collect())
    }

    /// The code that a check rewrites at the base, before any change.
    fn rewritten_at_base(&self, spec: &CheckSpec) -> Result<BTreeSet<PathBuf>, BenchError> {
        self.tree.restore(self.setup.base)?;
        self.run_check(spec, None)?;
        let rewritten = self.rewritten(self.setup.base, |_| false)?;
        self.tree.restore(self.setup.content)?;
        Ok(rewritten)
    }
}

/// The result of a check whose tree cannot be trusted. What it reports about its tests is not evidence.
fn failed(result: CheckResult, reason: String) -> CheckResult {
    CheckResult { end: CheckEnd::Failed, snippet: reason.clone(), reason, collected: None, ..result }
}
