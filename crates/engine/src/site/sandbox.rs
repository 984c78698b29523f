//! The sandbox of programs that may run code of an agent: checks, and programs that git starts.

use super::settings::Settings;
use remand_git::{GitProgramLimits, ProgramWarnings};
use remand_ledger::RunId;
use remand_process::Cancel;
use remand_process::confine::{Policy, Privacy};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const SETTINGS_FOLDER: &str = "XDG_CONFIG_HOME";

/// Folders in the git directory that contain no settings but perhaps very many files.
const NO_SETTINGS: [&str; 5] = ["objects", "refs", "logs", "hooks", "lfs"];

/// A sandbox in which nothing can be written. Of the user's home and checkout, only toolchains, git's settings, the git
/// directory and configured paths are visible.
pub fn sandbox(settings: &Settings) -> Policy {
    let home = Path::new(&settings.user_home);
    let mut private = Privacy::of_home(home, &settings.environment);
    private
        .hidden
        .extend([settings.home.state_root().to_path_buf(), settings.repository.root().to_path_buf()]);
    let common = settings.repository.common_dir();
    let configured_git = settings_folder().map(|folder| PathBuf::from(folder).join("git"));
    let git = [home.join(".gitconfig"), home.join(".config/git"), common.to_path_buf()];
    private.shown.extend(git.into_iter().chain(configured_git.clone()).filter(|path| path.exists()));
    let credentials = [common.join("credentials"), common.join(".git-credentials")];
    let credentials = credentials.into_iter().chain(configured_git.map(|folder| folder.join("credentials")));
    private.hidden.extend(credentials.filter(|path| path.exists()));
    private.shown.extend(settings.sandbox.readable(home));
    Policy {
        hidden: private.hidden,
        shown: private.shown,
        sockets: settings.sandbox.unix_sockets,
        shared_memory: settings.sandbox.shared_memory,
        ..Policy::default()
    }
}

/// The folder of the user's settings, if the environment sets one.
fn settings_folder() -> Option<OsString> {
    std::env::var_os(SETTINGS_FOLDER).filter(|folder| Path::new(folder).is_absolute())
}

/// Settings files of the user's repository that contain a secret, such as a password in a URL.
pub fn secret_settings(settings: &Settings) -> Vec<PathBuf> {
    let common = settings.repository.common_dir();
    let holds_secret = |path: &PathBuf| {
        let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        text.is_ok_and(|text| settings.redactor.redact(&text) != text)
    };
    let repository_files = [common.join("config"), common.join("config.worktree")];
    let others = [common.join("modules"), common.join("worktrees")];
    let others = others.iter().flat_map(|folder| settings_below(folder));
    repository_files.into_iter().chain(others).filter(holds_secret).collect()
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
    let mut environment = settings.environment.clone();
    environment.insert("HOME".into(), settings.user_home.clone());
    // All calls of git have to see the same settings.
    environment.extend(settings_folder().map(|folder| (SETTINGS_FOLDER.into(), folder)));
    let read_write = settings.sandbox.writable_by_hooks(Path::new(&settings.user_home));
    GitProgramLimits {
        program: settings.program.clone(),
        environment,
        policy: Policy { read_write, ..sandbox(settings) },
        secret: secret_settings(settings),
        scratch: settings.home.run(run).join("scratch"),
        marker: run.to_string(),
        cancel: cancel.clone(),
        warnings: ProgramWarnings::default(),
    }
}
