//! Plants a failure for every check, in a temporary copy of the last commit.

use super::checkup::Checkup;
use super::project;
use crate::environment;
use remand_checks::{
    BaseFiles, CheckContext, CheckEnd, CheckPlan, CheckResult, CheckSandbox, CheckSpec, FileScope, Plant,
    Selection,
};
use remand_engine::config::Config;
use remand_git::private_folder;
use remand_git::{Repository, TemporaryCheckout};
use remand_process::Cancel;
use remand_process::confine::Policy;
use remand_terminal::CommandFailure;
use remand_terminal::output::tell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// Plants a failure for each check and tests that it turns red.
pub fn checks(checkup: &mut Checkup, repository: &Repository, config: &Config) -> Result<(), CommandFailure> {
    let Ok(specs) = project::specs(repository, config) else {
        // The item about checks already reports this.
        return Ok(());
    };
    let scratch = Scratch::create(repository, &specs)?;
    tell("running every check once without a planted failure");
    let all: Vec<&CheckSpec> = specs.iter().collect();
    let clean = scratch.run(&all, None)?;
    for spec in &specs {
        let before = clean.iter().find(|result| result.name == spec.name);
        let configured = config.checks.get(&spec.name).and_then(|choice| choice.plant.clone());
        let plant = configured.or_else(|| remand_checks::plant(spec, &scratch.tree));
        match (before.map(|result| (result.end, result.reason.clone())), plant) {
            (_, None) => {
                let remedy =
                    format!("set one: `[checks.{}]` with `plant = {{ file = …, text = … }}`", spec.name);
                checkup.warn(
                    "plants",
                    format!("{}: no known way to plant a failure for this command", spec.name),
                    remedy,
                );
            }
            (
                Some((CheckEnd::Passed | CheckEnd::Vacuous | CheckEnd::Skipped | CheckEnd::NoFiles, _)),
                Some(plant),
            ) => {
                tell(&format!("planting a failure for {}", spec.name));
                report(checkup, spec, &plant, &scratch.run_with_plant(&specs, spec, &plant)?);
            }
            (
                Some((
                    CheckEnd::Failed | CheckEnd::TimedOut | CheckEnd::Environment | CheckEnd::Cancelled,
                    reason,
                )),
                Some(_),
            ) => {
                let why =
                    if reason.is_empty() { "it fails without a planted failure".to_string() } else { reason };
                let remedy = "make it pass on the last commit first";
                checkup.warn("plants", format!("{}: not tested: {why}", spec.name), remedy);
            }
            (None, Some(_)) => {}
        }
    }
    Ok(())
}

fn report(checkup: &mut Checkup, spec: &CheckSpec, plant: &Plant, after: &CheckResult) {
    let (name, file) = (&spec.name, &plant.file);
    match after.end {
        CheckEnd::Failed => {
            let exit = after.exit_code.map_or_else(String::new, |code| format!(", exit code {code}"));
            checkup.ok("plants", format!("{name} turns red with a failure in {file}{exit}"));
        }
        CheckEnd::Passed | CheckEnd::Vacuous => {
            let what = format!("{name} stays green with a failure planted in {file}, so it proves nothing");
            let remedy =
                format!("correct its command, or set a file that it reads: `[checks.{name}]` with `plant`");
            checkup.fail("plants", what, remedy);
        }
        CheckEnd::TimedOut
        | CheckEnd::Skipped
        | CheckEnd::NoFiles
        | CheckEnd::Environment
        | CheckEnd::Cancelled => {
            let what = format!("{name}: not tested, because it did not finish: {}", after.reason);
            checkup.warn("plants", what, "`remand doctor` shows what it needs");
        }
    }
}

/// A temporary copy of the last commit.
struct Scratch {
    copy: TemporaryCheckout,
    tree: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    program: PathBuf,
    /// Folders of the user's checkout that the copy links to.
    installed: Vec<PathBuf>,
}

impl Scratch {
    fn create(repository: &Repository, specs: &[CheckSpec]) -> Result<Scratch, CommandFailure> {
        let program = std::env::current_exe().map_err(|error| {
            CommandFailure::internal_error("the path of this program cannot be determined", &error)
        })?;
        let head = repository.head()?;
        let copy = TemporaryCheckout::of(repository, &head.commit, &std::env::temp_dir())?;
        let (tree, scratch) = (copy.tree(), copy.folder().join("scratch"));
        let linked =
            private_folder(&scratch).and_then(|()| remand_checks::link(repository.root(), &tree, specs));
        let installed = linked.map_err(|error| {
            let what = format!("{} cannot be used for a copy", copy.folder().display());
            CommandFailure::user(what, "set TMPDIR to another folder").caused_by(error.to_string())
        })?;
        Ok(Scratch { copy, tree, environment: environment::for_checks(), program, installed })
    }

    /// Plants a failure and runs the check, after the checks that it needs.
    fn run_with_plant(
        &self,
        specs: &[CheckSpec],
        spec: &CheckSpec,
        plant: &Plant,
    ) -> Result<CheckResult, CommandFailure> {
        let unplantable = |error: std::io::Error| {
            CommandFailure::user(format!("{} cannot be planted", plant.file), "name another file")
                .caused_by(error.to_string())
        };
        let planted = plant.put(&self.tree).map_err(unplantable)?;
        let mut wanted = vec![spec];
        // Each check comes after the checks that it needs, so one pass from the end finds all of them.
        for earlier in specs.iter().rev() {
            if wanted.iter().any(|wanted| wanted.needs.contains(&earlier.name)) {
                wanted.push(earlier);
            }
        }
        wanted.reverse();
        let changed = [plant.file.clone()];
        let results = self.run(&wanted, Some(&changed));
        planted.pull().map_err(unplantable)?;
        let result = results?.into_iter().find(|result| result.name == spec.name);
        result.ok_or_else(|| CommandFailure::internal("a check had no result"))
    }

    fn run(
        &self,
        specs: &[&CheckSpec],
        changed: Option<&[String]>,
    ) -> Result<Vec<CheckResult>, CommandFailure> {
        let specs: Vec<CheckSpec> = specs.iter().copied().cloned().collect();
        let scratch = self.copy.folder().join("scratch");
        let cancel = Cancel::new();
        let policy = Policy {
            read_write: vec![self.tree.clone(), scratch.clone(), "/dev/null".into()],
            shown: self.installed.clone(),
            ..Policy::default()
        };
        let sandbox = CheckSandbox { program: self.program.clone(), policy, marker: None };
        let mut environment = self.environment.clone();
        environment.insert("TMPDIR".into(), scratch.clone().into_os_string());
        let context = CheckContext {
            tree: &self.tree,
            environment: &environment,
            files: changed.map_or(FileScope::Whole, FileScope::Changed),
            base: BaseFiles::Absent,
            scratch: &scratch,
            cancel: &cancel,
            sandbox: Some(&sandbox),
        };
        Ok(remand_checks::run_plan(&CheckPlan::once(&specs, Selection::All), &context))
    }
}
