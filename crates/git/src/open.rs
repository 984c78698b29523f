//! Sets up the work trees of a run, or opens them again and repairs the damage of a kill.

use super::inherit::clean_inherited;
use super::names::{base_reference, branch_of, main_reference};
use super::worktree::break_lock;
use super::{CommitId, GitError, Repository, RunTrees, error, stale};
use std::fs;
use std::path::Path;

impl RunTrees {
    /// Sets up a run; keeps what already exists.
    pub fn begin(
        repository: &Repository,
        run: &str,
        folder: &Path,
        base: &CommitId,
    ) -> Result<RunTrees, GitError> {
        check_run_id(run)?;
        let (base_name, main_name) = (base_reference(run), main_reference(run));
        match repository.reference(&base_name)? {
            Some(known) if known != *base => return Err(GitError::RunTaken { run: run.to_string() }),
            Some(_) => {}
            None => {
                for branch in ["remand".to_string(), branch_of(run)] {
                    if repository.branch_exists(&branch)? {
                        return Err(GitError::BranchTaken { branch });
                    }
                }
                repository.move_reference(&base_name, None, base)?;
            }
        }
        if repository.reference(&main_name)?.is_none() {
            repository.move_reference(&main_name, None, base)?;
        }
        RunTrees::open(repository, run, folder)
    }

    /// Opens a run that was set up before, and repairs the damage of a kill.
    pub fn open(repository: &Repository, run: &str, folder: &Path) -> Result<RunTrees, GitError> {
        check_run_id(run)?;
        let references = repository.common_dir().join("refs/remand").join(run);
        break_locks(&references)?;
        let unknown = || GitError::UnknownRun { run: run.to_string() };
        let base = repository.reference(&base_reference(run))?.ok_or_else(unknown)?;
        fs::create_dir_all(folder).map_err(error::file("create", folder))?;
        let folder = fs::canonicalize(folder).map_err(error::file("find", folder))?;
        let trees = RunTrees::new(repository, run, folder, base);
        stale::label_folder(repository, run, &trees.folder)?;
        clean_inherited(&trees)?;
        let main = trees.main_tree();
        main.attach()?;
        // The index is written after all files, so without it the checkout was interrupted.
        if !main.private("index").exists() {
            main.restore(&trees.main_state()?.tree)?;
        }
        Ok(trees)
    }
}

/// Removes the locks that a killed git left on references below a folder.
fn break_locks(folder: &Path) -> Result<(), GitError> {
    // A folder that does not exist has no locks.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            break_locks(&entry.path())?;
        } else if entry.path().extension().is_some_and(|extension| extension == "lock") {
            break_lock(&entry.path())?;
        }
    }
    Ok(())
}

/// Rejects a run id that cannot be part of branch, tag, folder and work-tree names.
fn check_run_id(run: &str) -> Result<(), GitError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_valid =
        !run.is_empty() && run.len() <= 100 && !run.starts_with('-') && run.bytes().all(is_allowed);
    if is_valid { Ok(()) } else { Err(GitError::InvalidRunId { run: run.to_string() }) }
}
