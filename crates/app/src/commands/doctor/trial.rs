//! Trials of checks in a temporary copy of the last commit, in the sandbox of a run or outside of it.

use crate::context::CommandContext;
use crate::{environment, host, workplace};
use remand_checks::{
    AddedPackages, BaseFiles, CheckAction, CheckContext, CheckPlan, CheckResult, CheckSandbox, CheckSpec,
    FileScope, Selection,
};
use remand_engine::config::Config;
use remand_engine::home::HomeError;
use remand_engine::site::SandboxScope;
use remand_git::{Repository, TemporaryCheckout, private_folder};
use remand_kernel::evidence::Tier;
use remand_process::Cancel;
use remand_process::confine::{self, ContactLog};
use remand_terminal::CommandFailure;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A temporary copy of the last commit in which checks can be tried.
pub struct Trial<'t> {
    pub specs: &'t [CheckSpec],
    repository: &'t Repository,
    tree: PathBuf,
    scratch: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    sandbox: CheckSandbox,
    /// Removes the copy when it is dropped.
    _copy: TemporaryCheckout,
}

/// How a check is tried. The default is the way of a run.
#[derive(Clone, Copy, Default)]
pub struct TrialSetup<'t> {
    /// The changed files; `None` means that all files count.
    pub changed: Option<&'t [String]>,
    pub place: TrialPlace<'t>,
}

/// Where a check is tried.
#[derive(Clone, Copy, Default)]
pub enum TrialPlace<'t> {
    #[default]
    Sandbox,
    /// In a sandbox that differs from that of a run, with these environment variables.
    Altered(&'t CheckSandbox, &'t BTreeMap<OsString, OsString>),
    /// As the user would run it: without a sandbox, with all environment variables.
    Outside,
}

impl<'t> Trial<'t> {
    pub fn new(
        context: &CommandContext<'_>,
        repository: &'t Repository,
        config: &Config,
        specs: &'t [CheckSpec],
    ) -> Result<Trial<'t>, CommandFailure> {
        let program = host::program()?;
        let state_root = workplace::state(context, repository, config)
            .ok_or_else(|| CommandFailure::from(HomeError::NoHome))?;
        let head = repository.head()?;
        let copy = TemporaryCheckout::of(repository, &head.commit, &std::env::temp_dir())?;
        copy.add_repository(repository, &head.commit)?;
        let (tree, scratch) = (copy.tree(), copy.folder().join("scratch"));
        let linked =
            private_folder(&scratch).and_then(|()| remand_checks::link(repository.root(), &tree, specs));
        let installed = linked.map(|linked| linked.reads).map_err(|error| {
            let what = format!("{} cannot be used for a copy", copy.folder().display());
            CommandFailure::user(what, "set TMPDIR to another folder").caused_by(error.to_string())
        })?;
        let mut environment = environment::for_checks(&config.sandbox);
        let scope = SandboxScope {
            user_home: &environment::user_home(),
            environment: &environment,
            state_root: &state_root,
            repository,
            sandbox: &config.sandbox,
            isolated: confine::probe(&program).isolates(),
            redactor: &host::redactor(config)?,
        };
        let sandbox = CheckSandbox {
            program,
            policy: scope.check_policy(),
            marker: None,
            contacts: ContactLog::default(),
        };
        let sandbox = sandbox.in_tree(&tree, &scratch, installed, &environment);
        environment.insert("TMPDIR".into(), scratch.clone().into_os_string());
        Ok(Trial { specs, repository, tree, scratch, environment, sandbox, _copy: copy })
    }

    /// The paths of the user's checkout that are not in the commit and not in the copy, relative to the root.
    pub fn untracked(&self) -> Result<Vec<PathBuf>, CommandFailure> {
        let paths = self.repository.untracked()?;
        Ok(paths.into_iter().filter(|path| self.tree.join(path).symlink_metadata().is_err()).collect())
    }

    /// Copies paths of the user's checkout into the copy, and returns those that were added.
    pub fn add(&self, paths: &[PathBuf]) -> Result<AddedPackages, CommandFailure> {
        let named = paths.iter().filter_map(|path| path.to_str()).map(str::to_string).collect();
        let mut spec = CheckSpec::new("", Tier::Two, CheckAction::Shell(String::new()));
        spec.copies = named;
        let added = remand_checks::add_copies(self.repository.root(), &self.tree, &[spec]);
        added.map_err(|error| {
            CommandFailure::user("files of the checkout cannot be copied", "see the cause")
                .caused_by(error.to_string())
        })
    }

    /// Removes what was added to the copy.
    pub fn remove(&self, added: &AddedPackages) -> Result<(), CommandFailure> {
        Ok(remand_checks::unlink(&self.tree, added)?)
    }

    pub fn checkout(&self) -> &Path {
        self.repository.root()
    }

    pub fn tree(&self) -> &Path {
        &self.tree
    }

    pub fn sandbox(&self) -> &CheckSandbox {
        &self.sandbox
    }

    pub fn environment(&self) -> &BTreeMap<OsString, OsString> {
        &self.environment
    }

    /// Tries one check, after the checks that it needs.
    pub fn run_one(&self, spec: &CheckSpec, setup: &TrialSetup<'_>) -> Result<CheckResult, CommandFailure> {
        let mut wanted = vec![spec.clone()];
        // Each check comes after the checks that it needs, so one pass from the end finds all of them.
        for earlier in self.specs.iter().rev() {
            if wanted.iter().any(|wanted| wanted.needs.contains(&earlier.name)) {
                wanted.push(earlier.clone());
            }
        }
        wanted.reverse();
        let result = self.run(&wanted, setup).into_iter().find(|result| result.name == spec.name);
        result.ok_or_else(|| CommandFailure::internal("a check had no result"))
    }

    /// Tries checks one after the other.
    pub fn run(&self, specs: &[CheckSpec], setup: &TrialSetup<'_>) -> Vec<CheckResult> {
        let cancel = Cancel::new();
        let all = std::env::vars_os().collect();
        let (sandbox, environment) = match setup.place {
            TrialPlace::Sandbox => (Some(&self.sandbox), &self.environment),
            TrialPlace::Altered(sandbox, environment) => (Some(sandbox), environment),
            TrialPlace::Outside => (None, &all),
        };
        let context = CheckContext {
            tree: &self.tree,
            environment,
            files: setup.changed.map_or(FileScope::Whole, FileScope::Changed),
            base: BaseFiles::Absent,
            scratch: &self.scratch,
            cancel: &cancel,
            sandbox,
        };
        remand_checks::run_plan(&CheckPlan::once(specs, Selection::All), &context)
    }
}
