//! Finds the program of a job, and explains why it cannot be started.

use super::job::ProcessJob;
use rustix::fs::{Access, access};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Why a job could not be started; nothing has run.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("the job has no program; give it at least one argument")]
    NoProgram,
    #[error("`{name}` was not found {searched}; install it or give its path")]
    NotFound { name: String, searched: ProgramSearch },
    #[error("{path} cannot be executed: {why}")]
    NotExecutable { path: String, why: String },
    #[error("cannot work in the folder {path}: {why}")]
    Folder { path: String, why: String },
    #[error("`{marker}` cannot be the marker of a process; use text that is not empty and has no NUL byte")]
    Marker { marker: String },
    #[error("the sandbox cannot be set up")]
    Confine { source: crate::confine::ConfineError },
    #[error("the sandbox of {program} could not be set up: {why}")]
    Unconfined { program: String, why: String },
    #[error("{program} could not be started")]
    Start { program: String, source: io::Error },
}

/// Where a program was searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramSearch {
    /// Only at this path, since the name contains a slash.
    At(PathBuf),
    /// In the folders of the job's `PATH`.
    OnPath(Vec<PathBuf>),
    /// The job's environment has no `PATH`.
    NoPath,
}

impl std::fmt::Display for ProgramSearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ProgramSearch::At(path) => write!(f, "at {}", path.display()),
            ProgramSearch::OnPath(folders) => {
                let folders: Vec<String> =
                    folders.iter().map(|folder| folder.display().to_string()).collect();
                write!(f, "on PATH ({})", folders.join(", "))
            }
            ProgramSearch::NoPath => write!(f, "because its environment has no PATH"),
        }
    }
}

/// Returns the absolute path of the job's program, or why it cannot be started.
pub(super) fn find_program(job: &ProcessJob) -> Result<PathBuf, SpawnError> {
    check_folder(&job.folder)?;
    let name = job.argv.first().ok_or(SpawnError::NoProgram)?;
    if name.as_encoded_bytes().contains(&b'/') {
        let path = job.folder.join(name);
        return match problem_with(&path) {
            None => Ok(path),
            Some(ProgramProblem::Missing) => Err(not_found(name, ProgramSearch::At(path))),
            Some(ProgramProblem::Unusable(why)) => Err(not_executable(&path, why)),
        };
    }
    let Some(folders) = job.environment.get(OsStr::new("PATH")) else {
        return Err(not_found(name, ProgramSearch::NoPath));
    };
    // An empty or relative entry of PATH would find programs in the agent's work tree.
    let folders: Vec<PathBuf> =
        std::env::split_paths(folders).filter(|folder| folder.is_absolute()).collect();
    let mut unusable = None;
    for folder in &folders {
        let path = folder.join(name);
        match problem_with(&path) {
            None => return Ok(path),
            Some(ProgramProblem::Missing) => {}
            Some(ProgramProblem::Unusable(why)) => unusable = unusable.or(Some((path, why))),
        }
    }
    match unusable {
        Some((path, why)) => Err(not_executable(&path, why)),
        None => Err(not_found(name, ProgramSearch::OnPath(folders))),
    }
}

/// Explains why starting a program failed although it exists and is executable.
pub(super) fn start_error(program: &Path, source: io::Error) -> SpawnError {
    match source.kind() {
        io::ErrorKind::NotFound => not_executable(program, "the interpreter in its first line is missing"),
        io::ErrorKind::PermissionDenied => not_executable(program, "permission denied"),
        _ if source.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            not_executable(program, "it is neither a binary for this machine nor a script with a `#!` line")
        }
        _ => SpawnError::Start { program: program.display().to_string(), source },
    }
}

/// Why a path is not an executable program.
enum ProgramProblem {
    Missing,
    Unusable(&'static str),
}

fn problem_with(path: &Path) -> Option<ProgramProblem> {
    let Ok(metadata) = path.metadata() else {
        return Some(if path.is_symlink() {
            ProgramProblem::Unusable("it is a dangling symbolic link")
        } else {
            ProgramProblem::Missing
        });
    };
    if metadata.is_dir() {
        return Some(ProgramProblem::Unusable("it is a folder"));
    }
    match access(path, Access::EXEC_OK) {
        Ok(()) => None,
        Err(_) => Some(ProgramProblem::Unusable("it is not executable; run `chmod +x` on it")),
    }
}

fn check_folder(path: &Path) -> Result<(), SpawnError> {
    let why = match path.metadata() {
        Ok(metadata) if metadata.is_dir() => match access(path, Access::EXEC_OK) {
            Ok(()) => return Ok(()),
            Err(error) => error.to_string(),
        },
        Ok(_) => "it is not a folder".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(SpawnError::Folder { path: path.display().to_string(), why })
}

fn not_found(name: &OsStr, searched: ProgramSearch) -> SpawnError {
    SpawnError::NotFound { name: name.to_string_lossy().into_owned(), searched }
}

fn not_executable(path: &Path, why: &str) -> SpawnError {
    SpawnError::NotExecutable { path: path.display().to_string(), why: why.to_owned() }
}
