//! What the user should know about the checkout before a run starts. The examination writes nothing, not even the index.

use super::call::git;
use super::invocation::{fields, path};
use super::{CommitId, GitError, Repository, TreeId};
use std::fmt;
use std::path::{Path, PathBuf};

/// The maximum number of files that a message lists.
const MAX_LISTED: usize = 5;

/// The start of a Git LFS pointer file.
const POINTER_START: &[u8] = b"version https://git-lfs.github.com/spec/";
/// The possible sizes of a Git LFS pointer file, in bytes.
const POINTER_SIZES: std::ops::RangeInclusive<usize> = 100..=1024;

/// One fact about the checkout that the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hygiene {
    /// Uncommitted changes, including untracked files.
    Dirty {
        count: usize,
        first: Vec<String>,
    },
    DetachedHead,
    OnDefaultBranch {
        branch: String,
    },
    /// An unfinished merge, rebase or similar.
    InProgress {
        operation: &'static str,
    },
    /// Submodules whose content is missing in the repository.
    Submodules {
        absent: Vec<PathBuf>,
    },
    /// Files whose content is in Git LFS.
    Lfs {
        files: Vec<PathBuf>,
        installed: LfsInstalled,
    },
    SparseCheckout,
    ShallowClone,
}

/// Whether the Git LFS filter is configured in the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LfsInstalled {
    Yes,
    No,
}

impl Repository {
    /// Examines the checkout and the commit that a run starts from.
    pub fn hygiene(&self, base: &CommitId) -> Result<Vec<Hygiene>, GitError> {
        let mut found = Vec::new();
        found.extend(self.dirty()?);
        match self.head()?.branch {
            None => found.push(Hygiene::DetachedHead),
            Some(branch) if self.default_branch()?.as_deref() == Some(&branch) => {
                found.push(Hygiene::OnDefaultBranch { branch });
            }
            Some(_) => {}
        }
        let in_progress = [
            ("MERGE_HEAD", "merge"),
            ("rebase-merge", "rebase"),
            ("rebase-apply", "rebase"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("REVERT_HEAD", "revert"),
            ("BISECT_LOG", "bisection"),
        ];
        let unfinished = in_progress.iter().filter(|(file, _)| self.git_dir().join(file).exists());
        found.extend(unfinished.map(|(_, operation)| Hygiene::InProgress { operation }));
        found.extend(self.missing_content(base)?);
        if self.setting("core.sparseCheckout")?.as_deref() == Some("true") {
            found.push(Hygiene::SparseCheckout);
        }
        if git(&self.checkout(), ["rev-parse", "--is-shallow-repository"]).line()? == "true" {
            found.push(Hygiene::ShallowClone);
        }
        Ok(found)
    }

    pub(super) fn dirty(&self) -> Result<Option<Hygiene>, GitError> {
        let words = [
            "--no-optional-locks",
            "status",
            "--porcelain",
            "-z",
            "--no-renames",
            "--untracked-files=normal",
        ];
        let output = git(&self.checkout(), words).run()?;
        let names: Vec<String> = fields(&output)
            .filter_map(|row| row.get(3..))
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        let first = names.iter().take(MAX_LISTED).cloned().collect();
        Ok((!names.is_empty()).then_some(Hygiene::Dirty { count: names.len(), first }))
    }

    /// The remote's default branch, or else the first of the usual names that exists.
    pub fn default_branch(&self) -> Result<Option<String>, GitError> {
        let remote =
            git(&self.checkout(), ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"])
                .run_unchecked()?;
        if remote.code == 0 {
            let name = String::from_utf8_lossy(&remote.stdout).trim().to_string();
            return Ok(name.split_once('/').map(|(_, branch)| branch.to_string()));
        }
        let usual_names =
            self.setting("init.defaultBranch")?.into_iter().chain(["main".to_string(), "master".to_string()]);
        for name in usual_names {
            if self.branch_exists(&name)? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The content of a commit that will be missing in the work trees of a run.
    pub fn missing_content(&self, base: &CommitId) -> Result<Vec<Hygiene>, GitError> {
        let tree = self.tree_of(base)?;
        let absent = self.absent_submodules(&tree)?;
        let mut found = Vec::new();
        if !absent.is_empty() {
            found.push(Hygiene::Submodules { absent });
        }
        let files = self.lfs_files(&tree)?;
        if !files.is_empty() {
            let installed = match self.setting("filter.lfs.clean")?.or(self.setting("filter.lfs.process")?) {
                Some(_) => LfsInstalled::Yes,
                None => LfsInstalled::No,
            };
            found.push(Hygiene::Lfs { files, installed });
        }
        Ok(found)
    }

    /// The files of a tree whose content is in Git LFS.
    fn lfs_files(&self, tree: &TreeId) -> Result<Vec<PathBuf>, GitError> {
        let output = git(&self.objects(), ["ls-tree", "-r", "-z", "-l", tree.tree()]).run()?;
        let (mut attributes, mut small) = (Vec::new(), Vec::new());
        for row in fields(&output) {
            let Some(tab) = row.iter().position(|byte| *byte == b'\t') else { continue };
            let size =
                String::from_utf8_lossy(&row[..tab]).rsplit(' ').next().and_then(|size| size.parse().ok());
            let file = path(&row[tab + 1..]);
            if file.file_name().is_some_and(|name| name == ".gitattributes") {
                attributes.push(file);
            } else if size.is_some_and(|size: usize| POINTER_SIZES.contains(&size)) {
                small.push(file);
            }
        }
        let contents = |files: &[PathBuf]| {
            let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
            self.read_all(tree, &files)
        };
        let names_lfs = |text: Vec<u8>| String::from_utf8_lossy(&text).contains("filter=lfs");
        if !contents(&attributes)?.into_iter().flatten().any(names_lfs) {
            return Ok(Vec::new());
        }
        let candidates = contents(&small)?;
        let is_pointer =
            |text: &Option<Vec<u8>>| text.as_ref().is_some_and(|text| text.starts_with(POINTER_START));
        Ok(small
            .into_iter()
            .zip(candidates)
            .filter(|(_, text)| is_pointer(text))
            .map(|(file, _)| file)
            .collect())
    }

    /// A value of git's settings for this repository, as the user has it.
    pub fn setting(&self, name: &str) -> Result<Option<String>, GitError> {
        // Skips values from the command line: they are the engine's.
        let output =
            git(&self.checkout(), ["config", "--show-scope", "-z", "--get-all", name]).run_unchecked()?;
        let words: Vec<&[u8]> = fields(&output.stdout).collect();
        let value = words.chunks_exact(2).rfind(|pair| pair[0] != b"command");
        Ok(value.map(|pair| String::from_utf8_lossy(pair[1]).into_owned()))
    }
}

impl Hygiene {
    /// A stable name for the kind of fact.
    pub fn kind(&self) -> &'static str {
        match self {
            Hygiene::Dirty { .. } => "dirty",
            Hygiene::DetachedHead => "detached-head",
            Hygiene::OnDefaultBranch { .. } => "default-branch",
            Hygiene::InProgress { .. } => "in-progress",
            Hygiene::Submodules { .. } => "submodules",
            Hygiene::Lfs { .. } => "lfs",
            Hygiene::SparseCheckout => "sparse-checkout",
            Hygiene::ShallowClone => "shallow-clone",
        }
    }
}

/// Lists the first few paths.
fn first_paths(paths: &[PathBuf]) -> String {
    let first: Vec<String> = paths.iter().take(MAX_LISTED).map(|path| path.display().to_string()).collect();
    let more = if paths.len() > MAX_LISTED { ", ..." } else { "" };
    format!("{}{more}", first.join(", "))
}

impl fmt::Display for Hygiene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hygiene::Dirty { count, first } => {
                let more = if *count > first.len() { ", ..." } else { "" };
                let changes = if *count == 1 { "change is" } else { "changes are" };
                write!(f, "{count} uncommitted {changes} not part of the run: {}{more}", first.join(", "))
            }
            Hygiene::DetachedHead => f.write_str("HEAD is detached; the run starts from its commit"),
            Hygiene::OnDefaultBranch { branch } => {
                write!(f, "`{branch}` is the default branch; the run works on its own branch")
            }
            Hygiene::InProgress { operation } => {
                write!(f, "a {operation} is in progress; the run starts from HEAD without it")
            }
            Hygiene::Submodules { absent } => {
                write!(
                    f,
                    "submodules without local content stay empty in the run's work trees: {}",
                    first_paths(absent)
                )
            }
            Hygiene::Lfs { files, installed } => {
                let subject = match installed {
                    LfsInstalled::Yes => "Git LFS files",
                    LfsInstalled::No => "Git LFS is used but not installed; its files",
                };
                write!(f, "{subject} appear as pointers in the run's work trees: {}", first_paths(files))
            }
            Hygiene::SparseCheckout => {
                f.write_str("the checkout is sparse; the run's work trees contain all files")
            }
            Hygiene::ShallowClone => f.write_str("the clone is shallow; older history is not available"),
        }
    }
}
