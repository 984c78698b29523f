//! What runs leave behind in a repository: finding it, and removing it without touching anything else.

use super::call::{git, path};
use super::remove::remove;
use super::run::{branch_of, tag_of};
use super::worktree::{break_lock, write_whole};
use super::{BranchFate, GitError, Repository, error};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What one run has left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stale {
    pub run: String,
    /// The folder of the run's work trees, where it is still there.
    pub folder: Option<PathBuf>,
    pub work_trees: Vec<PathBuf>,
    pub references: Vec<String>,
    pub tag: Option<String>,
    /// The run's branch, if it has no commits of its own.
    pub branch: Option<String>,
}

/// A work tree as git lists it.
struct Listed {
    admin: PathBuf,
    path: PathBuf,
    run: String,
}

/// Lists what runs have left behind; `folder` holds the folders of the runs.
///
/// Only runs that are known or have a folder here are ours to judge, unless their work trees are elsewhere: a repository
/// can be worked on with several state folders.
pub fn stale(
    repository: &Repository,
    folder: &Path,
    known: &BTreeSet<String>,
) -> Result<Vec<Stale>, GitError> {
    let mut found: BTreeMap<String, Stale> = BTreeMap::new();
    let mut elsewhere = BTreeSet::new();
    let home = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    for tree in listed_trees(repository)? {
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
    for entry in fs::read_dir(&home).into_iter().flatten().flatten() {
        if let Some(run) = marked(repository, &entry.path())? {
            found.entry(run).or_default().folder = Some(entry.path());
        }
    }
    let is_ours = |run: &String, left: &Stale| known.contains(run) || left.folder.is_some();
    found.retain(|run, left| is_ours(run, left) && !elsewhere.contains(run));
    for (run, stale) in &mut found {
        stale.run.clone_from(run);
        if repository.branch_exists(&branch_of(run))? && !holds_work(repository, &branch_of(run))? {
            stale.branch = Some(branch_of(run));
        }
    }
    Ok(found.into_values().collect())
}

/// Removes what was listed; branches with commits of their own stay.
pub fn clean(repository: &Repository, stale: &[Stale]) -> Result<(), GitError> {
    for left in stale {
        discard(repository, &left.run, left.folder.as_deref(), BranchFate::KeepIfItHoldsWork)?;
    }
    Ok(())
}

/// Removes everything of one run. The references go last, so that a removal that was cut short is found again.
pub(super) fn discard(
    repository: &Repository,
    run: &str,
    folder: Option<&Path>,
    fate: BranchFate,
) -> Result<(), GitError> {
    remove_trees(repository, run, folder)?;
    let branch = branch_of(run);
    if repository.branch_exists(&branch)? {
        let goes = match fate {
            BranchFate::Delete => true,
            BranchFate::KeepIfItHoldsWork => !holds_work(repository, &branch)?,
        };
        match (goes, repository.holder(&branch)?) {
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

/// Removes the work trees of one run; its references stay, and a run that goes on makes its trees again.
pub(super) fn remove_trees(
    repository: &Repository,
    run: &str,
    folder: Option<&Path>,
) -> Result<(), GitError> {
    let private = folder.map(|folder| folder.join("private"));
    for entry in private.iter().flat_map(fs::read_dir).flatten().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "lock") {
            break_lock(&entry.path())?;
        }
    }
    for tree in listed_trees(repository)?.into_iter().filter(|tree| tree.run == run) {
        // The link shows that the folder is still ours: another may have taken its place.
        if fs::symlink_metadata(tree.path.join(".git")).is_ok_and(|link| link.is_file()) {
            remove(&tree.path)?;
        }
        remove(&tree.admin)?;
    }
    // Git removes the folder with the last work tree as well; with others in it, it stays.
    let _ = fs::remove_dir(repository.common_dir().join("worktrees"));
    if let Some(folder) = folder {
        for part in ["main", "pool", "scratch", "private"] {
            remove(&folder.join(part))?;
        }
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// Notes whose folder this is, by what stays when the repository is moved.
pub(super) fn mark(repository: &Repository, run: &str, folder: &Path) -> Result<(), GitError> {
    let folder = folder.join("private");
    fs::create_dir_all(&folder).map_err(error::file("create", &folder))?;
    let id = repository.identity()?;
    write_whole(&folder.join("run"), format!("{run}\n{id}\n").as_bytes())
}

/// The run of this repository whose folder this is.
pub(super) fn marked(repository: &Repository, folder: &Path) -> Result<Option<String>, GitError> {
    let mark = fs::read_to_string(folder.join("private/run")).unwrap_or_default();
    let mut lines = mark.lines();
    let (Some(run), Some(of)) = (lines.next(), lines.next()) else { return Ok(None) };
    // Earlier versions noted where the repository was.
    let is_ours = of == repository.identity()? || Path::new(of) == repository.common_dir();
    Ok(is_ours.then(|| run.to_string()))
}

/// How the names begin under which git lists the work trees of a run.
pub(super) fn prefix(run: &str) -> String {
    format!("remand-{run}-")
}

/// Whether a branch has commits that no other branch, tag or remote has.
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

/// The work trees of runs, by the reason for which they are locked.
fn listed_trees(repository: &Repository) -> Result<Vec<Listed>, GitError> {
    let folder = repository.common_dir().join("worktrees");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let admin = entry.path();
        let reason = fs::read_to_string(admin.join("locked")).unwrap_or_default();
        let Some(run) = reason.strip_prefix("remand run ").map(|run| run.trim().to_string()) else {
            continue;
        };
        if !entry.file_name().to_string_lossy().starts_with(&prefix(&run)) {
            continue;
        }
        let link = fs::read(admin.join("gitdir")).unwrap_or_default();
        let link = path(link.strip_suffix(b"\n").unwrap_or(&link));
        let path = link.parent().unwrap_or(Path::new("")).to_path_buf();
        found.push(Listed { admin, path, run });
    }
    Ok(found)
}

fn references(repository: &Repository, under: &str) -> Result<Vec<String>, GitError> {
    let output = git(&repository.objects(), ["for-each-ref", "--format=%(refname)", under]).run()?;
    Ok(String::from_utf8_lossy(&output).lines().map(str::to_string).collect())
}
