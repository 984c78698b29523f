//! The user's repository: its folders, commits and references. This file writes only references.

use super::call::{GitContext, git};
use super::error::{self, OLDEST_GIT};
use super::invocation::path;
use super::programs::Programs;
use super::{CommitId, GitError, GitProgramLimits, ProgramWarnings, TreeId, TreeLimits};
use remand_process::Cancel;
use remand_process::confine::ContactLog;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A repository with a checkout and at least one commit.
#[derive(Clone, Debug)]
pub struct Repository {
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    line_endings: Arc<OnceLock<LineEndings>>,
    /// The trees of commits, which never change.
    trees: Arc<Mutex<BTreeMap<CommitId, TreeId>>>,
    pub(super) programs: Programs,
    pub(super) tree_limits: TreeLimits,
}

/// The commit and branch of the checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckoutHead {
    pub commit: CommitId,
    /// `None` if HEAD is detached.
    pub branch: Option<String>,
}

/// Whether git converts the line endings of files without attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEndings {
    Unchanged,
    Converted,
}

impl Repository {
    /// Finds the repository of a folder. Rejects one that a run cannot start from.
    pub fn discover(from: &Path) -> Result<Repository, GitError> {
        let context = GitContext::discover_from(from);
        check_version(&git(&context, ["version"]).line()?)?;
        let query = |option: &str| git(&context, ["rev-parse", "--path-format=absolute", option]).path();
        let git_dir = query("--absolute-git-dir")?;
        if git(&context, ["rev-parse", "--is-bare-repository"]).line()? == "true" {
            return Err(GitError::Bare { path: git_dir });
        }
        if git(&context, ["rev-parse", "--is-inside-work-tree"]).line()? != "true" {
            return Err(GitError::InsideGitFolder { path: from.to_path_buf() });
        }
        let (root, common_dir) = (query("--show-toplevel")?, query("--git-common-dir")?);
        if git(&context, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).run_unchecked()?.code != 0 {
            return Err(GitError::NoCommits { path: root });
        }
        let common_dir = fs::canonicalize(&common_dir).map_err(error::file("find", &common_dir))?;
        Ok(Repository {
            root,
            git_dir,
            common_dir,
            line_endings: Arc::default(),
            trees: Arc::default(),
            programs: Programs::default(),
            tree_limits: TreeLimits::default(),
        })
    }

    /// The same repository with limits for the programs that git starts. Without limits, git starts no filters or merge
    /// drivers in the work trees of runs.
    #[must_use]
    pub fn with_program_limits(&self, limits: GitProgramLimits) -> Repository {
        Repository { programs: Programs::limited(limits), ..self.clone() }
    }

    /// The same repository with limits for what programs add to the work trees of runs.
    #[must_use]
    pub fn with_tree_limits(&self, tree_limits: TreeLimits) -> Repository {
        Repository { tree_limits, ..self.clone() }
    }

    /// The same repository for one command: its programs get this marker and end on cancel.
    pub(super) fn for_command(&self, marker: String, cancel: &Cancel) -> Repository {
        let programs = self.programs.with_changed_limits(|limits| {
            limits.marker = marker;
            limits.cancel = cancel.clone();
            limits.warnings = ProgramWarnings::default();
            limits.contacts = ContactLog::default();
        });
        Repository { programs, ..self.clone() }
    }

    /// The root of the user's checkout.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The git folder that all checkouts of the repository share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The git folder of the user's checkout.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Objects and references, without a work tree.
    pub(super) fn objects(&self) -> GitContext {
        GitContext::objects(&self.common_dir)
    }

    /// The user's checkout, for reading.
    pub(super) fn checkout(&self) -> GitContext {
        GitContext::discover_from(&self.root)
    }

    /// The commit and branch of the checkout.
    pub fn head(&self) -> Result<CheckoutHead, GitError> {
        let commit = git(&self.checkout(), ["rev-parse", "--verify", "HEAD^{commit}"]).line()?.parse()?;
        let branch = git(&self.checkout(), ["symbolic-ref", "--quiet", "--short", "HEAD"]).run_unchecked()?;
        let branch =
            (branch.code == 0).then(|| String::from_utf8_lossy(&branch.stdout).trim_end().to_string());
        Ok(CheckoutHead { commit, branch })
    }

    /// Resolves a revision in the user's checkout.
    pub fn commit(&self, revision: &str) -> Result<CommitId, GitError> {
        let commit = format!("{revision}^{{commit}}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        let output = git(&self.checkout(), words).run_unchecked()?;
        match output.code {
            0 => String::from_utf8_lossy(&output.stdout).trim().parse(),
            _ => Err(GitError::UnknownRevision { revision: revision.to_string() }),
        }
    }

    /// The tree of a commit.
    pub fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        let known = || self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tree) = known().get(commit) {
            return Ok(tree.clone());
        }
        let revision = format!("{commit}^{{tree}}");
        let tree = TreeId::plain(&git(&self.objects(), ["rev-parse", "--verify", &revision]).line()?)?;
        known().insert(commit.clone(), tree.clone());
        Ok(tree)
    }

    /// The committed content of a file in a tree; for a symbolic link, its target. `None` if the file does not exist.
    pub fn read(&self, tree: &TreeId, file: &Path) -> Result<Option<Vec<u8>>, GitError> {
        let mut path = format!("{}:", tree.tree()).into_bytes();
        path.extend(super::invocation::nul_terminated([file]));
        let output = git(&self.objects(), ["cat-file", "--batch", "-z"]).input(path).run()?;
        Ok(blob(&output))
    }

    /// The committed content of several files in a tree, in one call; `None` for a missing file.
    pub fn read_all(&self, tree: &TreeId, files: &[&Path]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let mut paths = Vec::new();
        for file in files {
            paths.extend(format!("{}:", tree.tree()).into_bytes());
            paths.extend(super::invocation::nul_terminated([*file]));
        }
        let output = git(&self.objects(), ["cat-file", "--batch", "-z"]).input(paths).run()?;
        let mut rest = output.as_slice();
        let contents: Vec<Option<Vec<u8>>> = files.iter().map(|_| next_blob(&mut rest)).collect();
        Ok(contents)
    }

    /// Returns whether `other` is `commit` or one of its ancestors.
    pub fn contains(&self, commit: &CommitId, other: &CommitId) -> Result<bool, GitError> {
        let words = ["merge-base", "--is-ancestor", other.as_str(), commit.as_str()];
        Ok(git(&self.objects(), words).run_unchecked()?.code == 0)
    }

    /// Returns whether this branch exists.
    pub fn branch_exists(&self, name: &str) -> Result<bool, GitError> {
        Ok(self.reference(&format!("refs/heads/{name}"))?.is_some())
    }

    /// The commit that a reference points to.
    pub(super) fn reference(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        let output = git(&self.objects(), ["rev-parse", "--verify", "--quiet", name]).run_unchecked()?;
        match output.code {
            0 => Ok(Some(String::from_utf8_lossy(&output.stdout).trim().parse()?)),
            _ => Ok(None),
        }
    }

    /// Moves a reference. Fails if it is no longer at `from`.
    pub(super) fn move_reference(
        &self,
        name: &str,
        from: Option<&CommitId>,
        to: &CommitId,
    ) -> Result<(), GitError> {
        let from = from.map_or("", CommitId::as_str);
        git(&self.objects(), ["update-ref", name, to.as_str(), from]).run().map(drop).map_err(|error| {
            match error {
                GitError::Failed { stderr, .. }
                    if stderr.contains("but expected") || stderr.contains("already exists") =>
                {
                    GitError::ReferenceMoved { reference: name.to_string() }
                }
                other => other,
            }
        })
    }

    /// Removes a reference. Succeeds if it does not exist.
    pub(super) fn drop_reference(&self, name: &str) -> Result<(), GitError> {
        git(&self.objects(), ["update-ref", "-d", name]).run().map(drop)
    }

    /// Returns whether git converts line endings by default.
    pub(super) fn line_endings(&self) -> Result<LineEndings, GitError> {
        if let Some(known) = self.line_endings.get() {
            return Ok(*known);
        }
        let output = git(&self.objects(), ["config", "--get", "core.autocrlf"]).run_unchecked()?;
        let value = String::from_utf8_lossy(&output.stdout).trim().to_ascii_lowercase();
        let is_off = matches!(value.as_str(), "" | "false" | "no" | "off" | "0");
        let found = if is_off { LineEndings::Unchanged } else { LineEndings::Converted };
        Ok(*self.line_endings.get_or_init(|| found))
    }

    /// The folders of all checkouts that are registered with git, and their shared git folder.
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.root.clone(), self.common_dir.clone()];
        if self.common_dir.file_name().is_some_and(|name| name == ".git") {
            folders.extend(self.common_dir.parent().map(Path::to_path_buf));
        }
        // The folder is missing if there are no other work trees. A broken entry has no checkout.
        for entry in fs::read_dir(self.common_dir.join("worktrees")).into_iter().flatten().flatten() {
            let link = fs::read(entry.path().join("gitdir")).unwrap_or_default();
            let link = entry.path().join(path(link.strip_suffix(b"\n").unwrap_or(&link)));
            folders.extend(link.parent().map(Path::to_path_buf));
        }
        folders
    }

    /// The work tree in which a branch is checked out, if there is one.
    pub(super) fn checkout_of(&self, branch: &str) -> Result<Option<PathBuf>, GitError> {
        let output = git(&self.objects(), ["worktree", "list", "--porcelain", "-z"]).run()?;
        let branch_line = format!("branch refs/heads/{branch}");
        let mut tree = None;
        for line in output.split(|byte| *byte == 0) {
            match line.strip_prefix(b"worktree ") {
                Some(at) => tree = Some(path(at)),
                None if line == branch_line.as_bytes() => return Ok(tree),
                None => {}
            }
        }
        Ok(None)
    }
}

/// Parses one reply of `cat-file --batch`; `None` for a missing object.
fn blob(output: &[u8]) -> Option<Vec<u8>> {
    let end = output.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&output[..end]).ok()?;
    let mut words = head.split(' ');
    let (kind, size) = (words.nth(1)?, words.next()?.parse::<usize>().ok()?);
    if kind != "blob" {
        return None;
    }
    output.get(end + 1..end + 1 + size).map(<[u8]>::to_vec)
}

/// Parses the next reply of `cat-file --batch` and advances past it.
fn next_blob(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let head = String::from_utf8_lossy(&rest[..end]).into_owned();
    *rest = &rest[end + 1..];
    let mut words = head.rsplit(' ');
    // The line of a missing object does not end with a size.
    let size = words.next()?.parse::<usize>().ok()?;
    let content = rest.get(..size)?.to_vec();
    *rest = rest.get(size + 1..).unwrap_or_default();
    (words.next() == Some("blob")).then_some(content)
}

fn check_version(output: &str) -> Result<(), GitError> {
    let number = |text: &str| {
        let mut parts = text.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    };
    let found = output.strip_prefix("git version ").unwrap_or(output);
    if number(found) < number(OLDEST_GIT) {
        return Err(GitError::TooOld { found: found.to_string() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_that_is_too_old_is_rejected_with_its_version() {
        assert!(
            matches!(check_version("git version 2.37.9"), Err(GitError::TooOld { found }) if found == "2.37.9")
        );
        for supported in
            ["git version 2.38.0", "git version 2.47.3.windows.1", "git version 3.0.1 (Apple Git-1)"]
        {
            assert!(check_version(supported).is_ok(), "{supported}");
        }
    }
}
