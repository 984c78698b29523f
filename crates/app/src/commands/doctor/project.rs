//! What the repository gives: its state, its settings, its checks, and who would do the work.

use super::checkup::{AGENTS, Checkup};
use crate::agents::Agents;
use crate::beginning;
use crate::commands::Context;
use crate::exit::Failure;
use crate::found;
use crate::load;
use crate::table::amount;
use crate::workplace::{environment, of_config, of_git};
use remand_runtime::checks::{Action, CheckSpec};
use remand_runtime::config::{Config, ConfigError, Origin, Sources};
use remand_runtime::git::{Hygiene, LfsInstalled, Repository};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub fn repository(checkup: &mut Checkup, repository: &Repository) {
    let looked = repository.head().and_then(|head| {
        let hygiene = repository.hygiene(&head.commit)?;
        Ok((head, hygiene))
    });
    let (head, hygiene) = match looked {
        Ok(looked) => looked,
        Err(error) => return checkup.of_failure("repository", &of_git(&error)),
    };
    let branch = head.branch.unwrap_or_else(|| "no branch".to_string());
    let commit = head.commit.as_str().get(..12).unwrap_or_default().to_string();
    checkup.ok("repository", format!("{}, on {branch} at {commit}", repository.root().display()));
    for found in hygiene {
        let what = found.to_string();
        match &found {
            Hygiene::OnDefaultBranch { .. } | Hygiene::DetachedHead => checkup.ok("repository", what),
            Hygiene::Dirty { .. } => checkup.warn("repository", what, "commit what a run should see"),
            Hygiene::InProgress { what: started } => {
                checkup.warn(
                    "repository",
                    what,
                    format!("end the {started} first, or leave it out of the run"),
                );
            }
            Hygiene::Submodules { .. } => {
                checkup.warn(
                    "repository",
                    what,
                    "run `git submodule update --init --recursive`: checks that need them cannot pass",
                );
            }
            Hygiene::Lfs { installed: LfsInstalled::Yes, .. } => {
                checkup.warn("repository", what, "checks that need the contents cannot pass");
            }
            Hygiene::Lfs { installed: LfsInstalled::No, .. } => {
                checkup.warn("repository", what, "run `git lfs install`")
            }
            Hygiene::SparseCheckout => {
                checkup.warn("repository", what, "make sure that there is room for them")
            }
            Hygiene::ShallowClone => {
                checkup.warn("repository", what, "run `git fetch --unshallow` if that matters")
            }
        }
    }
}

/// The settings, where they can be used; every problem gets a line.
pub fn config(checkup: &mut Checkup, repository: &Repository) -> Option<Config> {
    let sources = Sources::of(repository.root(), environment());
    match Config::load(&sources) {
        Ok(config) => {
            let own =
                config.origins().iter().filter(|setting| setting.origin != Origin::BuiltIn).count() as u64;
            let what = format!(
                "{} besides what is built in; `remand config` shows all",
                amount::counted(own, "setting")
            );
            checkup.ok("settings", what);
            Some(config)
        }
        Err(ConfigError::Refused(problems)) => {
            for problem in problems {
                checkup.fail("settings", format!("{}: {}", problem.origin, problem.message), problem.remedy);
            }
            None
        }
        Err(error) => {
            checkup.of_failure("settings", &of_config(&error));
            None
        }
    }
}

/// The checks that a run would be pinned to, with their programs.
pub fn checks(checkup: &mut Checkup, repository: &Repository, config: &Config) {
    let environment = found::environment();
    let specs = match specs(repository, config) {
        Ok(specs) => specs,
        Err(failure) => return checkup.of_failure("checks", &failure),
    };
    if !specs.iter().any(|spec| !matches!(spec.action, Action::BuiltIn(_))) {
        let remedy =
            "name a build and a test command under `[checks]` in remand.toml; `remand init` shows how";
        checkup.warn("checks", "no build or test was found: nothing but syntax would be verified", remedy);
    }
    let path = environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    for spec in &specs {
        let command = spec.action.typed().unwrap_or_else(|| "built in".to_string());
        let what = format!("{}, tier {}: {command}", spec.name, u8::from(spec.tier));
        let off = format!("install it, or turn the check off: `[checks.{}]` with `off = true`", spec.name);
        match tool(spec, repository.root(), &path) {
            Tool::Present => checkup.ok("checks", what),
            Tool::Missing(name) => checkup.fail("checks", format!("{what}: `{name}` is not there"), off),
            Tool::Unsure(name) => {
                let remedy = "a shell may find it all the same; if not, install it";
                checkup.warn("checks", format!("{what}: `{name}` is not on PATH"), remedy);
            }
        }
    }
}

/// The checks that a run would be pinned to.
pub fn specs(repository: &Repository, config: &Config) -> Result<Vec<CheckSpec>, Failure> {
    let head = repository.head().map_err(|error| of_git(&error))?;
    found::specs(repository, &head.commit, config, &std::env::temp_dir())
}

/// Whether the program of a check is there.
enum Tool {
    Present,
    Missing(String),
    /// Only the shell that runs the text can tell.
    Unsure(String),
}

fn tool(spec: &CheckSpec, root: &Path, path: &OsString) -> Tool {
    let on_path = |name: &str| {
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .any(|folder| is_program(&folder.join(name)))
    };
    match &spec.action {
        Action::BuiltIn(_) => Tool::Present,
        Action::Argv(argv) => {
            let name = argv.first().map_or("", String::as_str);
            let there = if name.contains('/') {
                is_program(&root.join(&spec.folder).join(name))
            } else {
                on_path(name)
            };
            if there { Tool::Present } else { Tool::Missing(name.to_string()) }
        }
        Action::Shell(_) if on_path(&spec.tool) => Tool::Present,
        Action::Shell(_) => Tool::Unsure(spec.tool.clone()),
    }
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Whether settings of roles are about roles that there are, as a run wants it.
pub fn roles(checkup: &mut Checkup, context: &Context<'_>, config: &Config) {
    if config.roles.is_empty() {
        return;
    }
    let heard = load::roles(context).and_then(|roles| beginning::refuse_unheard(config, &roles));
    match heard {
        Ok(()) => checkup.ok("roles", amount::counted(config.roles.len() as u64, "role") + " with settings"),
        Err(failure) => checkup.of_failure("roles", &failure),
    }
}

/// Who can be dispatched.
pub fn agents(checkup: &mut Checkup, config: &Config) {
    match Agents::new(config).and_then(|mut agents| agents.usual()) {
        Ok(choice) => checkup.ok(AGENTS, choice.agent),
        Err(failure) if config.agent.is_empty() => checkup.warn(AGENTS, failure.what, failure.hint),
        Err(failure) => checkup.fail(AGENTS, failure.what, failure.hint),
    }
}
