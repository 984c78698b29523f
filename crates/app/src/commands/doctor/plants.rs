//! Every check is shown a planted failure, in a scratch copy of the last commit (CORE-13).

use super::checkup::Checkup;
use super::project;
use crate::exit::{Failure, tell};
use crate::found;
use crate::workplace::{internal, of_git};
use remand_runtime::checks::{self, CheckOutcome, CheckSpec, Context, End, Files, LeftOut, Plant, Which};
use remand_runtime::config::Config;
use remand_runtime::confine::Policy;
use remand_runtime::git::{Copy, Repository};
use remand_runtime::home::private_folder;
use remand_runtime::process::{self, Cancel, Confined, Job};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Plants a failure for each check and looks whether it goes red.
pub fn checks(checkup: &mut Checkup, repository: &Repository, config: &Config) -> Result<(), Failure> {
    let Ok(specs) = project::specs(repository, config) else {
        // Said already among the checks.
        return Ok(());
    };
    let scratch = Scratch::make(repository, &specs)?;
    tell("running every check once, before anything is planted");
    let names: Vec<&CheckSpec> = specs.iter().collect();
    let clean = scratch.run(&names, None)?;
    for spec in &specs {
        let before = clean.iter().find(|outcome| outcome.name == spec.name);
        let configured = config.checks.get(&spec.name).and_then(|choice| choice.plant.clone());
        let plant = configured.or_else(|| checks::plant(spec, &scratch.tree));
        match (before.map(|outcome| (outcome.end, outcome.reason.clone())), plant) {
            (_, None) => {
                let remedy =
                    format!("name one: `[checks.{}]` with `plant = {{ file = …, text = … }}`", spec.name);
                checkup.warn(
                    "plants",
                    format!("{}: a failure cannot be planted for this command", spec.name),
                    remedy,
                );
            }
            (Some((End::Passed | End::Vacuous | End::Skipped, _)), Some(plant)) => {
                tell(&format!("planting a failure for {}", spec.name));
                judge(checkup, spec, &plant, &scratch.planted(&specs, spec, &plant)?);
            }
            (Some((End::Failed | End::TimedOut | End::Environment | End::Cancelled, reason)), Some(_)) => {
                let why = if reason.is_empty() {
                    "it fails before anything is planted".to_string()
                } else {
                    reason
                };
                let remedy = "make it pass on the last commit first";
                checkup.warn("plants", format!("{}: not shown, since {why}", spec.name), remedy);
            }
            (None, Some(_)) => {}
        }
    }
    Ok(())
}

fn judge(checkup: &mut Checkup, spec: &CheckSpec, plant: &Plant, after: &CheckOutcome) {
    let (name, file) = (&spec.name, &plant.file);
    match after.end {
        End::Failed => {
            let exit = after.exit_code.map_or_else(String::new, |code| format!(", exit code {code}"));
            checkup.ok("plants", format!("{name} goes red with a failure in {file}{exit}"));
        }
        End::Passed | End::Vacuous => {
            let what = format!("{name} stays green with a failure planted in {file}: it proves nothing");
            let remedy =
                format!("correct its command, or name the place it looks at: `[checks.{name}]` with `plant`");
            checkup.fail("plants", what, remedy);
        }
        End::TimedOut | End::Skipped | End::Environment | End::Cancelled => {
            let what = format!("{name}: not shown, since it did not come to its end: {}", after.reason);
            checkup.warn("plants", what, "see what it needs with `remand doctor`");
        }
    }
}

/// A copy of the last commit that is thrown away.
struct Scratch {
    copy: Copy,
    tree: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    program: PathBuf,
    /// Folders of the user's checkout that the tree leads to.
    installed: Vec<PathBuf>,
}

impl Scratch {
    fn make(repository: &Repository, specs: &[CheckSpec]) -> Result<Scratch, Failure> {
        let program =
            std::env::current_exe().map_err(|error| internal("this program cannot find itself", &error))?;
        let head = repository.head().map_err(|error| of_git(&error))?;
        let copy =
            Copy::of(repository, &head.commit, &std::env::temp_dir()).map_err(|error| of_git(&error))?;
        let (tree, scratch) = (copy.tree(), copy.folder().join("scratch"));
        let linked = private_folder(&scratch).and_then(|()| checks::link(repository.root(), &tree, specs));
        let installed = linked.map_err(|error| {
            let what = format!("{} cannot be used for a copy", copy.folder().display());
            Failure::user(what, "set TMPDIR to another folder").caused_by(error.to_string())
        })?;
        Ok(Scratch { copy, tree, environment: found::environment(), program, installed })
    }

    /// What a check says with a failure in the tree; what it needs is run before.
    fn planted(&self, specs: &[CheckSpec], spec: &CheckSpec, plant: &Plant) -> Result<CheckOutcome, Failure> {
        let unplantable = |error: std::io::Error| {
            Failure::user(format!("{} cannot be planted", plant.file), "name another file")
                .caused_by(error.to_string())
        };
        let planted = plant.put(&self.tree).map_err(unplantable)?;
        let mut wanted = vec![spec];
        // The order is that of needs, so that one walk from the back finds all of them.
        for earlier in specs.iter().rev() {
            if wanted.iter().any(|wanted| wanted.needs.contains(&earlier.name)) {
                wanted.push(earlier);
            }
        }
        wanted.reverse();
        let changed = [plant.file.clone()];
        let ran = self.run(&wanted, Some(&changed));
        planted.pull().map_err(unplantable)?;
        let outcome = ran?.into_iter().find(|outcome| outcome.name == spec.name);
        outcome.ok_or_else(|| Failure::user("a check had no outcome", "this is a defect of remand"))
    }

    fn run(&self, specs: &[&CheckSpec], changed: Option<&[String]>) -> Result<Vec<CheckOutcome>, Failure> {
        let specs: Vec<CheckSpec> = specs.iter().copied().cloned().collect();
        let scratch = self.copy.folder().join("scratch");
        let cancel = Cancel::new();
        let policy = Policy {
            read_write: vec![self.tree.clone(), scratch.clone(), "/dev/null".into()],
            shown: self.installed.clone(),
            ..Policy::default()
        };
        let runner = |spec: &CheckSpec, mut job: Job| {
            let policy = Policy { network: spec.network, ..policy.clone() };
            job.confine = Some(Confined { exe: self.program.clone(), policy });
            process::run(&job, &cancel)
        };
        let mut environment = self.environment.clone();
        environment.insert("TMPDIR".into(), scratch.clone().into_os_string());
        let context = Context {
            environment: &environment,
            which: Which::All,
            files: changed.map_or(Files::Whole, Files::Changed),
            left_out: &LeftOut::new(),
            // A file without an earlier content is judged by itself.
            base: &|_| None,
            scratch: &scratch,
            cancel: &cancel,
            progress: &|_| {},
            runner: &runner,
        };
        Ok(checks::run(&specs, Path::new(&self.tree), &context))
    }
}
