//! Checks the repository: its state, its settings, its checks, and the default agent.

use super::checkup::{AGENTS, Checkup};
use crate::agents::{self, Agents};
use crate::beginning;
use crate::context::CommandContext;
use crate::environment;
use crate::load;
use crate::project_checks;
use remand_terminal::{CommandFailure, amount};

use remand_checks::{CheckAction, CheckSpec};
use remand_engine::config::{Config, ConfigError, Sources, ValueOrigin};
use remand_git::{Hygiene, LfsInstalled, Repository};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub fn repository(checkup: &mut Checkup, repository: &Repository) {
    let state = repository.head().and_then(|head| {
        let hygiene = repository.hygiene(&head.commit)?;
        Ok((head, hygiene))
    });
    let (head, hygiene) = match state {
        Ok(state) => state,
        Err(error) => return checkup.add_failure("repository", &CommandFailure::from(error)),
    };
    let branch = head.branch.unwrap_or_else(|| "no branch".to_string());
    let commit = head.commit.as_str().get(..12).unwrap_or_default().to_string();
    checkup.ok("repository", format!("{}, on {branch} at {commit}", repository.root().display()));
    for found in hygiene {
        let what = found.to_string();
        match &found {
            Hygiene::OnDefaultBranch { .. } | Hygiene::DetachedHead => checkup.ok("repository", what),
            Hygiene::Dirty { .. } => checkup.warn("repository", what, "commit what a run needs"),
            Hygiene::InProgress { operation: started } => {
                checkup.warn("repository", what, format!("finish the {started} first; a run ignores it"));
            }
            Hygiene::Submodules { .. } => {
                checkup.warn(
                    "repository",
                    what,
                    "run `git submodule update --init --recursive`; otherwise, checks that need them cannot pass",
                );
            }
            Hygiene::Lfs { installed: LfsInstalled::Yes, .. } => {
                checkup.warn("repository", what, "checks that need the contents cannot pass");
            }
            Hygiene::Lfs { installed: LfsInstalled::No, .. } => {
                checkup.warn("repository", what, "run `git lfs install`")
            }
            Hygiene::SparseCheckout => {
                checkup.warn("repository", what, "make sure that there is enough disk space")
            }
            Hygiene::ShallowClone => {
                checkup.warn("repository", what, "run `git fetch --unshallow` if that matters")
            }
        }
    }
}

/// The settings, if they are valid; adds an item for each problem.
pub fn config(checkup: &mut Checkup, repository: &Repository) -> Option<Config> {
    let sources = Sources::of(repository.root(), environment::all());
    match Config::load(&sources) {
        Ok(config) => {
            let changed =
                config.origins().iter().filter(|setting| setting.origin != ValueOrigin::BuiltIn).count()
                    as u64;
            let what = format!(
                "{} changed from the default; `remand config` shows all",
                amount::counted(changed, "setting")
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
            checkup.add_failure("settings", &CommandFailure::from(error));
            None
        }
    }
}

/// The checks that a run would pin, and whether their programs are installed.
pub fn checks(checkup: &mut Checkup, repository: &Repository, config: &Config) {
    let environment = environment::for_checks(&config.sandbox);
    let specs = match specs(repository, config) {
        Ok(specs) => specs,
        Err(failure) => return checkup.add_failure("checks", &failure),
    };
    if !specs.iter().any(|spec| !matches!(spec.action, CheckAction::BuiltIn(_))) {
        let remedy = "add a build or test command under `[checks]` in remand.toml; `remand init` shows how";
        checkup.warn("checks", "no build or test was found, so only syntax would be checked", remedy);
    }
    let path = environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    for spec in &specs {
        let command = spec.action.typed().unwrap_or_else(|| "built in".to_string());
        let what = format!("{}, tier {}: {command}", spec.name, u8::from(spec.tier));
        let off = format!("install it, or turn the check off: `[checks.{}]` with `off = true`", spec.name);
        match tool(spec, repository.root(), &path) {
            Tool::Present => checkup.ok("checks", what),
            Tool::Missing(name) => checkup.fail("checks", format!("{what}: `{name}` is missing"), off),
            Tool::Unsure(name) => {
                let remedy = "install it if the shell does not find it either";
                checkup.warn("checks", format!("{what}: `{name}` is not on PATH"), remedy);
            }
        }
    }
}

/// The checks that a run would pin.
pub fn specs(repository: &Repository, config: &Config) -> Result<Vec<CheckSpec>, CommandFailure> {
    let head = repository.head()?;
    project_checks::specs(repository, &head.commit, config, &std::env::temp_dir())
}

/// Whether the program of a check is installed.
enum Tool {
    Present,
    Missing(String),
    /// It is not on PATH, but the shell that runs the command may still find it.
    Unsure(String),
}

fn tool(spec: &CheckSpec, root: &Path, path: &OsString) -> Tool {
    let on_path = |name: &str| {
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .any(|folder| is_program(&folder.join(name)))
    };
    match &spec.action {
        CheckAction::BuiltIn(_) => Tool::Present,
        CheckAction::Argv(argv) => {
            let name = argv.first().map_or("", String::as_str);
            let is_installed = if name.contains('/') {
                is_program(&remand_checks::program_file(root, spec, name))
            } else {
                on_path(name)
            };
            if is_installed { Tool::Present } else { Tool::Missing(name.to_string()) }
        }
        CheckAction::Shell(_) if on_path(&spec.tool) => Tool::Present,
        CheckAction::Shell(_) => Tool::Unsure(spec.tool.clone()),
    }
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Checks that settings of roles name roles that exist.
pub fn roles(checkup: &mut Checkup, context: &CommandContext<'_>, config: &Config) {
    if config.roles.is_empty() {
        return;
    }
    let checked = load::roles(context).and_then(|roles| beginning::refuse_unknown_roles(config, &roles));
    match checked {
        Ok(()) => checkup.ok("roles", amount::counted(config.roles.len() as u64, "role") + " with settings"),
        Err(failure) => checkup.add_failure("roles", &failure),
    }
}

/// Checks that the default agent can be used.
pub fn agents(checkup: &mut Checkup, config: &Config) {
    if config.agent.is_empty() {
        match agents::installed(config).map(|installed| installed.only()) {
            Ok(Ok(found)) => {
                let what = format!("{}, {}", found.name, found.reason);
                match found.advice() {
                    None => checkup.ok(AGENTS, what),
                    Some(advice) => checkup.warn(AGENTS, what, advice),
                }
            }
            Ok(Err(lack)) => checkup.add_missing_agent(lack),
            Err(failure) => checkup.add_failure(AGENTS, &failure),
        }
        return;
    }
    match Agents::new(config).and_then(|mut agents| agents.default_choice()) {
        Ok(choice) => checkup.ok(AGENTS, choice.agent),
        Err(failure) => checkup.add_failure(AGENTS, &failure),
    }
}
