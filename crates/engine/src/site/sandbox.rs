//! The sandbox of programs that may run code of an agent: checks, and programs that git starts.

use super::settings::Settings;
use crate::config::Sandbox;
use crate::redact::Redactor;
use remand_git::{GitProgramLimits, ProgramWarnings, Repository};
use remand_ledger::RunId;
use remand_process::Cancel;
use remand_process::confine::{ContactLog, Policy, Privacy, memory_of_machine};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

const SETTINGS_FOLDER: &str = "XDG_CONFIG_HOME";

/// Folders in the git directory that contain no settings but perhaps very many files.
const NO_SETTINGS: [&str; 5] = ["objects", "refs", "logs", "hooks", "lfs"];

/// What the sandbox of checks, and of programs that git starts, depends on.
#[derive(Clone, Copy)]
pub struct SandboxScope<'s> {
    pub user_home: &'s OsStr,
    /// The environment variables of checks. Hooks get the same ones, because they check the work too.
    pub environment: &'s BTreeMap<OsString, OsString>,
    pub state_root: &'s Path,
    pub repository: &'s Repository,
    pub sandbox: &'s Sandbox,
    /// Whether this machine gives programs namespaces. Then none starts without them.
    pub isolated: bool,
    pub redactor: &'s Redactor,
}

impl SandboxScope<'_> {
    /// A sandbox in which nothing can be written. Of the user's home and checkout, only toolchains, git's settings, the git
    /// directory and configured paths are visible.
    pub fn policy(&self) -> Policy {
        let home = Path::new(self.user_home);
        let mut private = Privacy::of_home(home, self.environment);
        private.hide([self.state_root.to_path_buf(), self.repository.root().to_path_buf()]);
        let common = self.repository.common_dir();
        let configured_git = settings_folder().map(|folder| PathBuf::from(folder).join("git"));
        let git = [home.join(".gitconfig"), home.join(".config/git"), common.to_path_buf()];
        private.shown.extend(git.into_iter().chain(configured_git.clone()).filter(|path| path.exists()));
        let credentials = [common.join("credentials"), common.join(".git-credentials")];
        let credentials =
            credentials.into_iter().chain(configured_git.map(|folder| folder.join("credentials")));
        private.hidden.extend(credentials.filter(|path| path.exists()));
        private.shown.extend(self.sandbox.readable(home));
        Policy {
            hidden: private.hidden,
            shown: private.shown,
            sockets: self.sandbox.unix_sockets,
            shared_memory: self.sandbox.shared_memory,
            processes: self.sandbox.processes,
            memory: self.sandbox.memory.map(|bytes| bytes.saturating_mul(2)),
            // Checks and hooks build and test whole projects.
            memory_of_all: self.sandbox.memory.map(|bytes| bytes.max(memory_of_machine() / 2)),
            disk: self.sandbox.disk,
            file_size: self.sandbox.file_size,
            private_required: self.isolated,
            ..Policy::default()
        }
    }

    /// The sandbox of checks, before the paths of a tree are added. It also hides settings with secrets.
    pub fn check_policy(&self) -> Policy {
        let mut policy = self.policy();
        policy.hidden.extend(self.secret_settings());
        policy
    }

    /// The limits of programs that git starts. `program` sets up sandboxes; `scratch` contains temporary folders.
    pub fn git_program_limits(
        &self,
        program: &Path,
        scratch: PathBuf,
        marker: &str,
        cancel: &Cancel,
    ) -> GitProgramLimits {
        let mut environment = self.environment.clone();
        environment.insert("HOME".into(), self.user_home.to_os_string());
        // All calls of git have to see the same settings.
        environment.extend(settings_folder().map(|folder| (SETTINGS_FOLDER.into(), folder)));
        let read_write = self.sandbox.writable_by_hooks(Path::new(self.user_home));
        GitProgramLimits {
            program: program.to_path_buf(),
            private_to_hooks: Some(remand_checks::private_folders(&environment, &scratch)),
            environment,
            policy: Policy { read_write, ..self.policy() },
            secret: self.secret_settings(),
            scratch,
            marker: marker.to_string(),
            cancel: cancel.clone(),
            warnings: ProgramWarnings::default(),
            contacts: ContactLog::default(),
        }
    }

    /// Settings files of the user's repository that contain a secret, such as a password in a URL.
    pub fn secret_settings(&self) -> Vec<PathBuf> {
        let common = self.repository.common_dir();
        let holds_secret = |path: &PathBuf| {
            let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            text.is_ok_and(|text| self.redactor.redact(&text) != text)
        };
        let repository_files = [common.join("config"), common.join("config.worktree")];
        let others = [common.join("modules"), common.join("worktrees")];
        let others = others.iter().flat_map(|folder| settings_below(folder));
        repository_files.into_iter().chain(others).filter(holds_secret).collect()
    }
}

impl Settings {
    pub fn sandbox_scope(&self) -> SandboxScope<'_> {
        SandboxScope {
            user_home: &self.user_home,
            environment: &self.check_environment,
            state_root: self.home.state_root(),
            repository: &self.repository,
            sandbox: &self.sandbox,
            isolated: self.enforcement.isolates(),
            redactor: &self.redactor,
        }
    }
}

/// The folder of the user's settings, if the environment sets one.
fn settings_folder() -> Option<OsString> {
    std::env::var_os(SETTINGS_FOLDER).filter(|folder| Path::new(folder).is_absolute())
}

/// The settings files of submodules and of linked working trees.
fn settings_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !NO_SETTINGS.iter().any(|other| name == *other) => {
                found.extend(settings_below(&path));
            }
            Ok(kind) if kind.is_file() && (name == "config" || name == "config.worktree") => found.push(path),
            Ok(_) | Err(_) => {}
        }
    }
    found
}

/// The limits of programs that git starts for a run.
pub(super) fn git_program_limits(settings: &Settings, run: &RunId, cancel: &Cancel) -> GitProgramLimits {
    let scratch = settings.home.run(run).join("scratch");
    settings.sandbox_scope().git_program_limits(&settings.program, scratch, &run.0, cancel)
}
