//! Starts this program as a process that outlives the one that asks for it.

use crate::host;
use remand_engine::clock;
use remand_process::DetachedProcess;
use remand_terminal::CommandFailure;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the output of a process is kept: longer than any run takes.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The folders that a process works with.
#[derive(Clone, Debug)]
pub struct ProcessFolders {
    pub directory: PathBuf,
    pub roles: Option<PathBuf>,
    pub state: Option<PathBuf>,
}

/// Starts `remand` with these arguments; its output goes to a new folder inside `jobs`, which is named by the id.
pub fn start(
    folders: &ProcessFolders,
    jobs: &Path,
    arguments: &[&str],
) -> Result<(String, DetachedProcess), CommandFailure> {
    let failed = |error: std::io::Error| {
        CommandFailure::internal_error("the process that drives the run cannot be started", &error)
    };
    let id = clock::new_run_id("job").0;
    let folder = jobs.join(&id);
    remand_git::private_folder(jobs).map_err(failed)?;
    remove_old_jobs(jobs);
    remand_git::private_folder(&folder).map_err(failed)?;
    let mut argv: Vec<OsString> = vec![host::program()?.into(), "--json".into()];
    for (flag, path) in [
        ("-C", Some(&folders.directory)),
        ("--roles", folders.roles.as_ref()),
        ("--state", folders.state.as_ref()),
    ] {
        if let Some(path) = path {
            argv.extend([OsString::from(flag), path.into()]);
        }
    }
    argv.extend(arguments.iter().map(OsString::from));
    let process = DetachedProcess::start(&argv, &folders.directory, &folder).map_err(failed)?;
    Ok((id, process))
}

/// Removes the output of processes that were started long ago.
fn remove_old_jobs(jobs: &Path) {
    for entry in std::fs::read_dir(jobs).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|about| about.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            // What cannot be removed now is removed later.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
