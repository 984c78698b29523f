//! A work tree set up for checks: runs a plan in it, and keeps one check from helping or disturbing another.

use super::context::{BaseFiles, CheckContext, CheckSandbox, FileScope};
use super::installed::link;
use super::plan::{CheckPlan, CheckRun};
use super::result::{CheckEnd, CheckResult};
use super::run::run_check;
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

/// Where Python caches the compiled code of a folder, and loads it from even if the source has changed since.
const COMPILED: &str = "__pycache__";

/// What a workbench needs to know.
#[derive(Clone)]
pub struct BenchSetup<'b> {
    /// The user's repository; packages that are installed in its checkout are linked into the tree.
    pub repository: &'b Repository,
    /// The checks whose packages are linked.
    pub installed_for: &'b [CheckSpec],
    /// The content that is checked.
    pub content: &'b TreeId,
    /// What changed files are compared with.
    pub base: &'b TreeId,
    pub files: FileScope<'b>,
    pub environment: &'b BTreeMap<OsString, OsString>,
    /// A folder outside the tree; it is emptied first and deleted at the end.
    pub scratch: PathBuf,
    /// Without what depends on the tree, which the workbench adds.
    pub sandbox: CheckSandbox,
    pub cancel: &'b Cancel,
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
    /// Where compiled code of the content may be.
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
        let mut bench = Workbench { setup, tree, environment, sandbox, compiled, ran };
        bench.clear(KeepIgnored::BuildOutput)?;
        let sources = bench.setup.repository.files(bench.setup.content)?;
        let sources = sources.iter().filter(|file| file.extension().is_some_and(|ending| ending == "py"));
        bench.compiled = sources.map(|file| file.with_file_name(COMPILED)).collect();
        Ok(bench)
    }

    /// Runs what a plan has to run; one result for each of its checks.
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

    /// Restores the content, since what checks leave in the tree is not part of the change, and gives the tree back.
    pub fn leave(self) -> Result<WorkTree, BenchError> {
        // The folder is emptied before its next use, so a failure to delete it does no harm.
        let _ = std::fs::remove_dir_all(&self.setup.scratch);
        self.tree.restore(self.setup.content)?;
        Ok(self.tree)
    }

    fn run_once(&mut self, plan: &CheckPlan) -> Result<Vec<CheckResult>, BenchError> {
        let mut run = CheckRun::new(plan);
        while let Some(spec) = run.next_check() {
            if !self.ran.insert(spec.name.clone()) {
                self.tree.restore(self.setup.content)?;
                self.clear(KeepIgnored::BuildOutput)?;
            }
            let result = self.run_check(spec)?;
            run.record(self.unless_disturbed(spec, result)?);
        }
        Ok(run.into_results())
    }

    /// Removes what an earlier run of a check left, so that it cannot help a later one. Build output mostly stays: to
    /// rebuild it for every check takes too long.
    fn clear(&mut self, keep: KeepIgnored) -> Result<(), BenchError> {
        self.tree.clean_up(keep, Reach::Tree)?;
        remove(&self.setup.scratch)?;
        private_folder(&self.setup.scratch)?;
        let root = self.setup.repository.root();
        let installed = link(root, self.tree.path(), self.setup.installed_for)?;
        let policy = &mut self.sandbox.policy;
        policy.read_write =
            vec![self.tree.path().to_path_buf(), self.setup.scratch.clone(), "/dev/null".into()];
        policy.shown = [self.setup.sandbox.policy.shown.clone(), installed].concat();
        Ok(())
    }

    /// Runs a check on the tree as it is.
    fn run_check(&self, spec: &CheckSpec) -> Result<CheckResult, BenchError> {
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
        let result = run_check(spec, &context);
        self.remove_compiled()?;
        Ok(result)
    }

    /// Compiled code that a change brings or a check leaves would run in place of the source that was reviewed.
    fn remove_compiled(&self) -> Result<(), GitError> {
        self.compiled.iter().try_for_each(|folder| remove_inside(self.tree.path(), folder))
    }

    /// Fails a check that rewrites code while it runs, as a build script could: it checked something else. It may write
    /// new files, except tests, and code that it also rewrites at the base, which is generated.
    fn unless_disturbed(&self, spec: &CheckSpec, result: CheckResult) -> Result<CheckResult, BenchError> {
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
        let reason = format!("it rewrote the code that it checks: {}", rewritten.join(", "));
        Ok(CheckResult { end: CheckEnd::Failed, snippet: reason.clone(), reason, ..result })
    }

    /// The code of a tree that the work tree holds with other content; added files and modes count where `is_strict`.
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

    /// Code that a check rewrites before any change.
    fn rewritten_at_base(&self, spec: &CheckSpec) -> Result<BTreeSet<PathBuf>, BenchError> {
        self.tree.restore(self.setup.base)?;
        self.run_check(spec)?;
        let rewritten = self.rewritten(self.setup.base, |_| false)?;
        self.tree.restore(self.setup.content)?;
        Ok(rewritten)
    }
}
