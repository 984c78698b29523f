//! Tries the user's commit hooks in the sandbox of a run, on a trivial commit that no branch gets.

use super::checkup::Checkup;
use super::project;
use crate::context::CommandContext;
use crate::{environment, host, workplace};
use remand_engine::config::Config;
use remand_engine::home::HomeError;
use remand_engine::site::SandboxScope;
use remand_git::{
    BranchFate, CommitMessage, FinalCommit, GitError, GitProgramLimits, HookFiles, Repository, RunTrees,
};
use remand_process::Cancel;
use remand_process::confine::{self, Policy};
use remand_terminal::output::tell;
use remand_terminal::{CommandFailure, line};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const HOOKS: &str = "hooks";

/// The file that the trivial commit adds.
const FILE: &str = "remand-doctor.txt";

/// Maximum number of lines of a hook's output to show.
const MAX_LINES: usize = 5;

/// Where the hooks are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookTrial {
    InSandbox,
    /// Outside, too, if one refuses in the sandbox: there it can change whatever the user can.
    AlsoOutside,
}

/// Tries the hooks of the repository, if it has any.
pub fn hooks(
    checkup: &mut Checkup,
    context: &CommandContext<'_>,
    repository: &Repository,
    config: &Config,
    trial: HookTrial,
) -> Result<(), CommandFailure> {
    let names = repository.commit_hooks()?.join(", ");
    if names.is_empty() {
        return Ok(());
    }
    tell("trying the commit hooks");
    let inside = attempt(context, repository, config, |_| {})?;
    let FinalCommit::HookRefused { output } = inside else {
        checkup.ok(HOOKS, format!("{names}: works in the sandbox"));
        return Ok(());
    };
    let output = host::redactor(config)?.redact(&last_lines(&output)).into_owned();
    if trial == HookTrial::InSandbox {
        checkup.warn(
            HOOKS,
            format!("a hook refuses a trivial commit in the sandbox: {output}"),
            "`remand doctor --checks` tries it outside the sandbox, too, and says whether the sandbox is the cause",
        );
        return Ok(());
    }
    let outside = attempt(context, repository, config, unconfine)?;
    if matches!(outside, FinalCommit::HookRefused { .. }) {
        checkup.warn(
            HOOKS,
            format!("a hook refuses a trivial commit, in the sandbox and outside: {output}"),
            "fix the cause; after a refused commit, `remand retry` continues the run",
        );
    } else {
        checkup.warn(
            HOOKS,
            format!("a hook works on this machine, but not in the sandbox: {output}"),
            "list the paths that it writes in `sandbox.hooks-write`, and install what it downloads; hooks have no network",
        );
    }
    Ok(())
}

/// Lifts every restriction.
fn unconfine(limits: &mut GitProgramLimits) {
    limits.policy = Policy {
        read_write: vec![PathBuf::from("/")],
        network: true,
        sockets: true,
        shared_memory: true,
        ..Policy::default()
    };
    limits.private_to_hooks = None;
    limits.environment = std::env::vars_os().collect();
}

/// Tries the hooks once, and removes everything that this needs.
fn attempt(
    context: &CommandContext<'_>,
    repository: &Repository,
    config: &Config,
    change: impl FnOnce(&mut GitProgramLimits),
) -> Result<FinalCommit, CommandFailure> {
    let state_root = workplace::state(context, repository, config)
        .ok_or_else(|| CommandFailure::from(HomeError::NoHome))?;
    let (user_home, variables) = (environment::user_home(), environment::for_checks(&config.sandbox));
    let program = host::program()?;
    let scope = SandboxScope {
        user_home: &user_home,
        environment: &variables,
        state_root: &state_root,
        repository,
        sandbox: &config.sandbox,
        isolated: confine::probe(&program).isolates(),
        redactor: &host::redactor(config)?,
    };
    let run = format!("doctor-{}", std::process::id());
    let folder = std::env::temp_dir().join(format!("remand-{run}"));
    let mut limits = scope.git_program_limits(&program, folder.join("scratch"), &run, &Cancel::new());
    change(&mut limits);
    let base = repository.head()?.commit;
    let limited = repository.with_program_limits(limits);
    let trees = RunTrees::begin(&limited, &run, &folder.join("trees"), &base)?;
    let specs = project::specs(repository, config).unwrap_or_default();
    let tried = commit(&trees, &|tree| remand_checks::hook_files(repository.root(), tree, &specs));
    trees.discard(BranchFate::Delete)?;
    remand_git::remove(&folder)?;
    Ok(tried?)
}

fn commit(
    trees: &RunTrees,
    set_up: &dyn Fn(&Path) -> std::io::Result<HookFiles>,
) -> Result<FinalCommit, GitError> {
    let files = BTreeMap::from([(PathBuf::from(FILE), Some(b"This commit tries the hooks.\n".to_vec()))]);
    let tree = trees.with_files(&trees.base_tree()?, &files)?;
    trees.record(&tree, "a commit that tries the hooks", HOOKS)?;
    let message = CommitMessage {
        subject: "chore: try the commit hooks".to_string(),
        body: String::new(),
        trailers: Vec::new(),
    };
    trees.try_hooks(&message, set_up)
}

fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    line::one(&lines[lines.len().saturating_sub(MAX_LINES)..].join(" / "))
}
