//! Runs checks on the content of a lane, which is checked out only if a check must run.

use crate::pinned::Cache;
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::{
    BenchError, BenchSetup, CheckPlan, CheckProgress, CheckRequest, CheckResult, CheckRun, CheckSpec,
    CheckWatch, Conditions, FileScope, KnownResults, LeftOut, Selection, StoredError, Workbench,
};
use remand_git::{TreeId, WorkTree};
use remand_ledger::Reader;
use std::collections::{BTreeMap, BTreeSet};

/// Content to check, and what to compare it with.
#[derive(Clone, Copy)]
pub struct Checking<'c> {
    pub job: &'c Job,
    pub reader: &'c Reader,
    pub content: &'c LaneContent,
    pub selection: Selection,
    pub files: FileScope<'c>,
    pub left_out: &'c LeftOut,
    /// The tree that changed files are compared with.
    pub base: &'c TreeId,
    pub before: &'c [CheckResult],
    /// Checks that failed in their last run for the same lane.
    pub suspects: &'c BTreeSet<String>,
}

pub struct CheckedContent {
    pub results: Vec<CheckResult>,
    /// The work tree that the checks ran in; `None` if no check had to run.
    pub tree: Option<WorkTree>,
}

impl Checking<'_> {
    /// Runs each check of the selection, unless its result is known.
    pub fn run(&self, specs: &[CheckSpec]) -> Result<CheckedContent, Trouble> {
        let (job, site) = (self.job, &self.job.site);
        let settings = site.settings();
        let environment = &settings.check_environment;
        let plan = self.plan(specs, environment)?;
        let mut run = CheckRun::new(&plan);
        if run.next_check().is_none() {
            return Ok(CheckedContent { results: run.into_results(), tree: None });
        }
        let (board, run_id, command) = (settings.activity.clone(), site.run.clone(), job.id.to_string());
        let on_check = CheckWatch::new(move |progress| {
            let CheckProgress { name, number, of, tests } = progress;
            let tests = match tests {
                0 => String::new(),
                1 => ", 1 test so far".to_string(),
                tests => format!(", {tests} tests so far"),
            };
            board.report(&run_id, &command, format!("check {number} of {of}: {name}{tests}"));
        });
        let setup = BenchSetup {
            repository: site.repository(),
            installed_for: &site.pinned.checks,
            content: &self.content.tree,
            base: self.base,
            files: self.files,
            environment,
            scratch: site.folder().join("scratch").join(job.id.to_string()),
            sandbox: job.check_sandbox(),
            cancel: &job.cancel,
            on_check,
        };
        let mut bench = Workbench::set_up(self.content.check_out(job)?, setup)?;
        let results = bench.run(&plan);
        let tree = bench.leave()?;
        Ok(CheckedContent { results: results?, tree: Some(tree) })
    }

    fn plan(
        &self,
        specs: &[CheckSpec],
        environment: &BTreeMap<std::ffi::OsString, std::ffi::OsString>,
    ) -> Result<CheckPlan, Trouble> {
        let site = &self.job.site;
        let (mut tree, base) = (self.content.tree.to_string(), self.base.to_string());
        for absent in site.repository().absent_submodules(&self.content.tree)? {
            tree.push_str(&format!(" without {}", absent.display()));
        }
        let conditions = Conditions {
            tree: &tree,
            base: &base,
            files: self.files,
            environment,
            tools: &site.settings().tools,
            installed: &remand_checks::installed(site.repository().root(), specs),
        };
        let Checking { selection, left_out, before, suspects, .. } = *self;
        let request = CheckRequest { specs, selection, left_out, before, suspects };
        let no_results = BTreeMap::new();
        let known: &dyn KnownResults = match site.pinned.cache {
            Cache::On => self.reader,
            Cache::Off => &no_results,
        };
        Ok(CheckPlan::new(request, &conditions, known))
    }
}

/// Refuses results that say nothing about the work: the run was cancelled, or a tool is missing.
pub fn refuse_incomplete(job: &Job, results: &[CheckResult]) -> Result<(), Trouble> {
    if job.cancel.is_cancelled() {
        return Err(Trouble::cancelled());
    }
    match results.iter().find_map(CheckResult::missing_from_environment) {
        Some(missing) => Err(Trouble::environment(missing)),
        None => Ok(()),
    }
}

impl From<BenchError> for Trouble {
    fn from(error: BenchError) -> Trouble {
        match error {
            BenchError::Git(error) => error.into(),
            BenchError::Io(error) => error.into(),
        }
    }
}

impl From<StoredError> for Trouble {
    fn from(error: StoredError) -> Trouble {
        match error {
            StoredError::Ledger(error) => error.into(),
            StoredError::Tests { .. } => Trouble::environment(error.to_string()),
        }
    }
}
