//! Runs the pinned checks on some content; a tree is brought there only if something has to be run.

use crate::checks::{
    self, Before, CheckOutcome, CheckSpec, Context, End, Files, LeftOut, Recall, Setting, Which,
};
use crate::confine::Policy;
use crate::dispatch::is_test;
use crate::git::{ChangeKind, GitError, Keep, Reach, TreeId, WorkTree, remove_inside};
use crate::pinned::Cache;
use crate::process::{self, Confined, Job as Process};
use crate::workshop::{Job, LaneContent, Trouble, sandbox, secret_settings};
use remand_ledger::Reader;
use remand_source::Language;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where Python keeps the code of a folder that it compiled, and takes it from, whatever the source says by then.
const COMPILED: &str = "__pycache__";

/// What is checked, and against what.
#[derive(Clone, Copy)]
pub struct Checking<'c> {
    pub job: &'c Job,
    pub reader: &'c Reader,
    pub content: &'c LaneContent,
    pub which: Which,
    pub files: Files<'c>,
    pub left_out: &'c LeftOut,
    /// What changed files are counted from.
    pub base: &'c TreeId,
    pub before: &'c [Before],
    /// Checks that failed when they were last run for the same lane.
    pub failed: &'c BTreeSet<String>,
}

/// Outcomes, and the tree that they were made in; none where nothing was run.
pub struct Checked {
    pub outcomes: Vec<CheckOutcome>,
    pub tree: Option<WorkTree>,
}

impl Checking<'_> {
    /// One outcome for each check of the selection.
    pub fn outcomes(&self, specs: &[CheckSpec]) -> Result<Checked, Trouble> {
        let settings = self.job.site.settings();
        let mut environment = settings.environment.clone();
        environment.insert("HOME".into(), settings.user_home.clone());
        let (mut tree, base) = (self.content.tree.to_string(), self.base.to_string());
        for absent in self.job.site.repository().absent_submodules(&self.content.tree)? {
            tree.push_str(&format!(" without {}", absent.display()));
        }
        let installed = checks::installed(self.job.site.repository().root(), specs);
        let recall = Recall {
            which: self.which,
            setting: Setting {
                tree: &tree,
                base: &base,
                files: self.files,
                environment: &environment,
                tools: &settings.tools,
                installed: &installed,
            },
            reader: match self.job.site.pinned.cache {
                Cache::On => Some(self.reader),
                Cache::Off => None,
            },
            left_out: self.left_out,
            before: self.before,
        };
        let place = Place {
            checking: self,
            environment: &environment,
            opened: OnceCell::new(),
            ran: RefCell::default(),
        };
        let mut ran = recall.outcomes(specs, &mut |spec| place.run(spec));
        // Build output of a failure may be why a check passes now; what counts is made from nothing.
        let is_doubtful = |outcome: &CheckOutcome| {
            outcome.passed() && !outcome.is_taken() && self.failed.contains(&outcome.name)
        };
        if ran.as_ref().is_ok_and(|outcomes| outcomes.iter().any(is_doubtful)) {
            place.begin_anew()?;
            ran = recall.outcomes(specs, &mut |spec| place.run(spec));
        }
        let tree = place.leave(&self.content.tree)?;
        Ok(Checked { outcomes: ran?, tree })
    }
}

/// Where checks are run, once one has to be.
struct Place<'p> {
    checking: &'p Checking<'p>,
    environment: &'p BTreeMap<OsString, OsString>,
    opened: OnceCell<Opened>,
    /// Checks that were run here before.
    ran: RefCell<BTreeSet<String>>,
}

/// A tree with what is installed for its checks, and a folder that is thrown away.
struct Opened {
    tree: WorkTree,
    scratch: PathBuf,
    /// Folders of the user's checkout that the tree leads to.
    installed: Vec<PathBuf>,
    /// Where compiled code of the content may lie.
    compiled: BTreeSet<PathBuf>,
}

impl Place<'_> {
    fn open(&self) -> Result<&Opened, Trouble> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let tree = self.checking.content.check_out(self.checking.job)?;
        let (scratch, installed) = self.clear(&tree, Keep::BuildOutput)?;
        let sources = self.checking.job.site.repository().files(&self.checking.content.tree)?;
        let sources = sources.iter().filter(|file| file.extension().is_some_and(|ending| ending == "py"));
        let compiled = sources.map(|file| file.with_file_name(COMPILED)).collect();
        Ok(self.opened.get_or_init(|| Opened { tree, scratch, installed, compiled }))
    }

    /// Compiled code that a change brings or a check leaves would be run in the place of the source that was reviewed.
    fn forget_compiled(&self) -> Result<(), Trouble> {
        let Opened { tree, compiled, .. } = self.open()?;
        let removed: Result<(), GitError> =
            compiled.iter().try_for_each(|folder| remove_inside(tree.path(), folder));
        Ok(removed?)
    }

    /// Puts the tree back to what a clean checkout has, without any build output.
    fn begin_anew(&self) -> Result<(), Trouble> {
        let Opened { tree, .. } = self.open()?;
        tree.restore(&self.checking.content.tree)?;
        self.clear(tree, Keep::Nothing)?;
        self.ran.borrow_mut().clear();
        Ok(())
    }

    /// What an earlier run of a check left must not help a later one. Build output mostly stays: it would have to be made
    /// again for every check.
    fn clear(&self, tree: &WorkTree, keep: Keep) -> Result<(PathBuf, Vec<PathBuf>), Trouble> {
        let job = self.checking.job;
        tree.begin(keep, Reach::Tree)?;
        let scratch = super::scratch(job)?;
        let installed = checks::link(job.site.repository().root(), tree.path(), &job.site.pinned.checks)?;
        Ok((scratch, installed))
    }

    fn run(&self, spec: &CheckSpec) -> Result<CheckOutcome, Trouble> {
        let Opened { tree, .. } = self.open()?;
        if !self.ran.borrow_mut().insert(spec.name.clone()) {
            tree.restore(&self.checking.content.tree)?;
            self.clear(tree, Keep::BuildOutput)?;
        }
        let outcome = self.process(spec)?;
        self.unless_disturbed(spec, outcome)
    }

    /// Runs a check on the tree as it stands.
    fn process(&self, spec: &CheckSpec) -> Result<CheckOutcome, Trouble> {
        let Opened { tree, scratch, installed, .. } = self.open()?;
        let job = self.checking.job;
        let settings = job.site.settings();
        let mut policy = sandbox(settings);
        policy.read_write = vec![tree.path().to_path_buf(), scratch.clone(), "/dev/null".into()];
        policy.shown.extend_from_slice(installed);
        policy.hidden.extend(secret_settings(settings));
        let runner = |spec: &CheckSpec, mut process: Process| {
            process.marker = job.marker();
            let policy = Policy { network: spec.network, ..policy.clone() };
            process.confine = Some(Confined { exe: settings.program.clone(), policy });
            process::run(&process, &job.cancel)
        };
        let mut environment = self.environment.clone();
        environment.insert("TMPDIR".into(), scratch.clone().into_os_string());
        let base =
            |file: &str| job.site.repository().read(self.checking.base, Path::new(file)).ok().flatten();
        let context = Context {
            environment: &environment,
            which: Which::All,
            files: self.checking.files,
            left_out: &LeftOut::new(),
            base: &base,
            scratch,
            cancel: &job.cancel,
            progress: &|_| {},
            runner: &runner,
        };
        tree.mend_submodules()?;
        self.forget_compiled()?;
        let outcomes = checks::run(std::slice::from_ref(spec), tree.path(), &context);
        self.forget_compiled()?;
        outcomes.into_iter().next().ok_or_else(|| Trouble::denied("a check had no outcome"))
    }

    /// A check that rewrites code while it runs has checked something else: a build script could do that. New files may
    /// be written, unless they are tests, and so may code that the check writes anew at the base as well: it is generated.
    fn unless_disturbed(&self, spec: &CheckSpec, outcome: CheckOutcome) -> Result<CheckOutcome, Trouble> {
        let of_change: BTreeSet<&Path> = match self.checking.files {
            Files::Changed(files) if outcome.passed() => files.iter().map(Path::new).collect(),
            Files::Changed(_) | Files::Whole => return Ok(outcome),
        };
        let content = &self.checking.content.tree;
        let is_own = |path: &Path| of_change.contains(path) || is_test(path);
        let (mut rewritten, others): (BTreeSet<PathBuf>, BTreeSet<PathBuf>) =
            self.rewritten(content, is_own)?.into_iter().partition(|path| is_own(path));
        if !others.is_empty() {
            let generated = self.rewritten_at_base(spec)?;
            rewritten.extend(others.into_iter().filter(|path| !generated.contains(path)));
        }
        rewritten.extend(self.open()?.tree.changed_in_submodules());
        if rewritten.is_empty() {
            return Ok(outcome);
        }
        self.open()?.tree.restore(content)?;
        let rewritten: Vec<String> = rewritten.iter().map(|path| path.display().to_string()).collect();
        let reason = format!("it rewrote what it checks while it ran: {}", rewritten.join(", "));
        Ok(CheckOutcome { end: End::Failed, snippet: reason.clone(), reason, ..outcome })
    }

    /// The code of a state that is another one in the tree now; some of it counts however it differs.
    fn rewritten(
        &self,
        state: &TreeId,
        counts: impl Fn(&Path) -> bool,
    ) -> Result<BTreeSet<PathBuf>, Trouble> {
        let Opened { tree, .. } = self.open()?;
        let changed = tree.changed(state, &tree.snapshot()?)?;
        let differs = |kind: ChangeKind| !matches!(kind, ChangeKind::Added | ChangeKind::Mode);
        let is_code = |path: &Path| Language::of(path).is_some_and(Language::is_code);
        let rewritten = changed
            .into_iter()
            .filter(|change| is_code(&change.path) && (differs(change.kind) || counts(&change.path)));
        Ok(rewritten.map(|change| change.path).collect())
    }

    /// Code that a check writes anew before any change.
    fn rewritten_at_base(&self, spec: &CheckSpec) -> Result<BTreeSet<PathBuf>, Trouble> {
        let Opened { tree, .. } = self.open()?;
        tree.restore(self.checking.base)?;
        self.process(spec)?;
        let rewritten = self.rewritten(self.checking.base, |_| false)?;
        tree.restore(&self.checking.content.tree)?;
        Ok(rewritten)
    }

    /// What checks leave behind in the tree is no part of the change.
    fn leave(self, content: &TreeId) -> Result<Option<WorkTree>, Trouble> {
        let Some(Opened { tree, scratch, .. }) = self.opened.into_inner() else {
            return Ok(None);
        };
        // It is emptied before it is used again.
        let _ = std::fs::remove_dir_all(&scratch);
        tree.restore(content)?;
        Ok(Some(tree))
    }
}
