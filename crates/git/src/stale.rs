//! Finds and removes everything that runs left in a repository, and nothing else.

use super::call::git;
use super::invocation::path;
use super::names::{base_reference, branch_of, run_of_lock, tag_of, work_tree_prefix};
use super::remove::remove;
use super::worktree::{break_lock, write_atomically};
use super::{GitError, Repository, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What one run left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StaleRun {
    pub run: String,
    /// The folder of the run's work trees, if it exists.
    pub folder: Option<PathBuf>,
    pub work_trees: Vec<PathBuf>,
    pub references: Vec<String>,
    pub tag: Option<String>,
    /// The run's branch, if all its commits are also on other branches, so it can be deleted.
    pub branch: Option<String>,
}

/// What to do with a run's branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchFate {
    /// Keep it if it has commits that are on no other branch.
    KeepIfItHoldsWork,
    Delete,
}

/// A work tree of a run that is registered with git.
struct RegisteredTree {
    admin: PathBuf,
    path: PathBuf,
    run: String,
}

/// Lists what runs left; `folder` contains the folders of the runs.
///
/// Several state directories can share a repository. So the list includes only runs that are known or have a folder here,
/// and excludes runs with work trees elsewhere.
pub fn stale_runs(
    repository: &Repository,
    folder: &Path,
    known: &BTreeSet<String>,
) -> Result<Vec<StaleRun>, GitError> {
    let mut found: BTreeMap<String, StaleRun> = BTreeMap::new();
    let mut elsewhere = BTreeSet::new();
    let home = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    for tree in registered_trees(repository)? {
        if tree.path.starts_with(&home) || !tree.path.exists() {
            found.entry(tree.run).or_default().work_trees.push(tree.path);
        } else {
            elsewhere.insert(tree.run);
        }
    }
    for reference in references(repository, "refs/remand/")? {
        if let Some(run) = reference.split('/').nth(2) {
            found.entry(run.to_string()).or_default().references.push(reference.clone());
        }
    }
    for reference in references(repository, "refs/tags/")? {
        if let Some(run) = reference.strip_prefix("refs/tags/pipeline-baseline-") {
            found.entry(run.to_string()).or_default().tag = Some(tag_of(run));
        }
    }
    // The folder does not exist before the first run.
    for entry in fs::read_dir(&home).into_iter().flatten().flatten() {
        if let Some(run) = run_of_folder(repository, &entry.path())? {
            found.entry(run).or_default().folder = Some(entry.path());
        }
    }
    let is_ours = |run: &String, stale: &StaleRun| known.contains(run) || stale.folder.is_some();
    found.retain(|run, stale| is_ours(run, stale) && !elsewhere.contains(run));
    for (run, stale) in &mut found {
        stale.run.clone_from(run);
        if repository.branch_exists(&branch_of(run))? && !holds_work(repository, &branch_of(run))? {
            stale.branch = Some(branch_of(run));
        }
    }
    Ok(found.into_values().collect())
}

/// Whether the references of a run are gone, and with them its work.
pub fn is_cleaned(repository: &Repository, run: &str) -> Result<bool, GitError> {
    Ok(repository.reference(&base_reference(run))?.is_none())
}

/// Removes what `stale_runs` listed. Branches with commits that are on no other branch stay.
pub fn clean(repository: &Repository, stale: &[StaleRun]) -> Result<(), GitError> {
    for run in stale {
        discard(repository, &run.run, run.folder.as_deref(), BranchFate::KeepIfItHoldsWork)?;
    }
    Ok(())
}

/// Removes everything of one run. The references are removed last, so an interrupted removal is found again.
pub(super) fn discard(
    repository: &Repository,
    run: &str,
    folder: Option<&Path>,
    fate: BranchFate,
) -> Result<(), GitError> {
    remove_trees(repository, run, folder)?;
    let branch = branch_of(run);
    if repository.branch_exists(&branch)? {
        let is_deleted = match fate {
            BranchFate::Delete => true,
            BranchFate::KeepIfItHoldsWork => !holds_work(repository, &branch)?,
        };
        match (is_deleted, repository.checkout_of(&branch)?) {
            (true, None) => repository.drop_reference(&format!("refs/heads/{branch}"))?,
            (true, Some(path)) if fate == BranchFate::Delete => {
                return Err(GitError::BranchInUse { branch, path });
            }
            (true, Some(_)) | (false, _) => {}
        }
    }
    repository.drop_reference(&format!("refs/tags/{}", tag_of(run)))?;
    let rows: String = references(repository, &format!("refs/remand/{run}/"))?
        .iter()
        .map(|reference| format!("delete {reference}\n"))
        .collect();
    git(&repository.objects(), ["update-ref", "--stdin"]).input(rows.into_bytes()).run().map(drop)
}

/// Removes the work trees of one run. Its references stay; a resumed run creates its trees again.
pub(super) fn remove_trees(
    repository: &Repository,
    run: &str,
    folder: Option<&Path>,
) -> Result<(), GitError> {
    let private = folder.map(|folder| folder.join("private"));
    // A run whose folder is gone has no locks.
    for entry in private.iter().flat_map(fs::read_dir).flatten().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "lock") {
            break_lock(&entry.path())?;
        }
    }
    for tree in registered_trees(repository)?.into_iter().filter(|tree| tree.run == run) {
        // The link proves that the folder is still the work tree.
        if fs::symlink_metadata(tree.path.join(".git")).is_ok_and(|link| link.is_file()) {
            remove(&tree.path)?;
        }
        remove(&tree.admin)?;
    }
    // Like git, removes the folder of all work trees if it is empty; otherwise this fails.
    let _ = fs::remove_dir(repository.common_dir().join("worktrees"));
    if let Some(folder) = folder {
        for part in ["main", "pool", "scratch", "private"] {
            remove(&folder.join(part))?;
        }
        // This fails if the folder contains files that are not the run's; they stay.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// Labels a folder with its run and the repository's id, which survives moving the repository.
pub(super) fn label_folder(repository: &Repository, run: &str, folder: &Path) -> Result<(), GitError> {
    let folder = folder.join("private");
    fs::create_dir_all(&folder).map_err(error::file("create", &folder))?;
    let id = repository.identity()?;
    write_atomically(&folder.join("run"), format!("{run}\n{id}\n").as_bytes())
}

/// The run that a folder belongs to, if it is a run of this repository.
pub(super) fn run_of_folder(repository: &Repository, folder: &Path) -> Result<Option<String>, GitError> {
    // A folder without a label belongs to no run.
    let label = fs::read_to_string(folder.join("private/run")).unwrap_or_default();
    let mut lines = label.lines();
    let (Some(run), Some(owner)) = (lines.next(), lines.next()) else { return Ok(None) };
    // Earlier versions wrote the path of the repository.
    let is_ours = owner == repository.identity()? || Path::new(owner) == repository.common_dir();
    Ok(is_ours.then(|| run.to_string()))
}

/// Returns whether a branch has commits that are on no other branch, tag or remote.
fn holds_work(repository: &Repository, branch: &str) -> Result<bool, GitError> {
    let (reference, exclude) = (format!("refs/heads/{branch}"), format!("--exclude={branch}"));
    let words = [
        "rev-list",
        "--max-count=1",
        &reference,
        "--not",
        &exclude,
        "--branches",
        "--tags",
        "--remotes",
        "HEAD",
        "--",
    ];
    Ok(!git(&repository.objects(), words).run()?.is_empty())
}

/// The registered work trees of runs, recognized by their lock.
fn registered_trees(repository: &Repository) -> Result<Vec<RegisteredTree>, GitError> {
    let folder = repository.common_dir().join("worktrees");
    let mut found = Vec::new();
    // The folder is missing if there are no work trees. A work tree without a lock is not ours.
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let admin = entry.path();
        let lock = fs::read_to_string(admin.join("locked")).unwrap_or_default();
        let Some(run) = run_of_lock(&lock) else {
            continue;
        };
        if !entry.file_name().to_string_lossy().starts_with(&work_tree_prefix(&run)) {
            continue;
        }
        let link = fs::read(admin.join("gitdir")).unwrap_or_default();
        let link = path(link.strip_suffix(b"\n").unwrap_or(&link));
        let path = link.parent().unwrap_or(Path::new("")).to_path_buf();
        found.push(RegisteredTree { admin, path, run });
    }
    Ok(found)
}

fn references(repository: &Repository, prefix: &str) -> Result<Vec<String>, GitError> {
    let output = git(&repository.objects(), ["for-each-ref", "--format=%(refname)", prefix]).run()?;
    Ok(String::from_utf8_lossy(&output).lines().map(str::to_string).collect())
}
