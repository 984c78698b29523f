//! What is worth knowing of the user's checkout before a run starts. Nothing is written, not even its index.

use super::call::{fields, git, path};
use super::{CommitId, GitError, Repository, TreeId};
use std::fmt;
use std::path::{Path, PathBuf};

/// How many files are named.
const NAMED: usize = 5;

/// How a pointer of Git LFS begins, and how many bytes it has.
const BEGINS: &[u8] = b"version https://git-lfs.github.com/spec/";
const POINTER: std::ops::RangeInclusive<usize> = 100..=1024;

/// One finding about the checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hygiene {
    /// Changes that are not committed, untracked files among them.
    Dirty {
        count: usize,
        first: Vec<String>,
    },
    DetachedHead,
    OnDefaultBranch {
        branch: String,
    },
    /// A merge, rebase or the like that was not ended.
    InProgress {
        what: &'static str,
    },
    /// Submodules whose content is not here.
    Submodules {
        absent: Vec<PathBuf>,
    },
    /// Files are kept by Git LFS.
    Lfs {
        files: Vec<PathBuf>,
        installed: LfsInstalled,
    },
    SparseCheckout,
    ShallowClone,
}

/// Whether the filter of Git LFS is configured here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LfsInstalled {
    Yes,
    No,
}

impl Repository {
    /// Looks at the checkout, and at the commit that a run starts from.
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
        let under_way = in_progress.iter().filter(|(file, _)| self.git_dir().join(file).exists());
        found.extend(under_way.map(|(_, what)| Hygiene::InProgress { what }));
        found.extend(self.lacking(base)?);
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
        let first = names.iter().take(NAMED).cloned().collect();
        Ok((!names.is_empty()).then_some(Hygiene::Dirty { count: names.len(), first }))
    }

    /// The branch that the remote calls its own, or else the first usual name that exists.
    fn default_branch(&self) -> Result<Option<String>, GitError> {
        let remote =
            git(&self.checkout(), ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"])
                .answer()?;
        if remote.code == 0 {
            let name = String::from_utf8_lossy(&remote.stdout).trim().to_string();
            return Ok(name.split_once('/').map(|(_, branch)| branch.to_string()));
        }
        let usual =
            self.setting("init.defaultBranch")?.into_iter().chain(["main".to_string(), "master".to_string()]);
        for name in usual {
            if self.branch_exists(&name)? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// What a commit has that the work trees of a run cannot hold.
    pub fn lacking(&self, base: &CommitId) -> Result<Vec<Hygiene>, GitError> {
        let tree = self.tree_of(base)?;
        let absent = self.absent_submodules(&tree)?;
        let mut found = Vec::new();
        if !absent.is_empty() {
            found.push(Hygiene::Submodules { absent });
        }
        let files = self.large_files(&tree)?;
        if !files.is_empty() {
            let installed = match self.setting("filter.lfs.clean")?.or(self.setting("filter.lfs.process")?) {
                Some(_) => LfsInstalled::Yes,
                None => LfsInstalled::No,
            };
            found.push(Hygiene::Lfs { files, installed });
        }
        Ok(found)
    }

    /// The files of a tree that Git LFS keeps the content of.
    fn large_files(&self, tree: &TreeId) -> Result<Vec<PathBuf>, GitError> {
        let output = git(&self.objects(), ["ls-tree", "-r", "-z", "-l", tree.tree()]).run()?;
        let (mut attributes, mut small) = (Vec::new(), Vec::new());
        for row in fields(&output) {
            let Some(tab) = row.iter().position(|byte| *byte == b'\t') else { continue };
            let size =
                String::from_utf8_lossy(&row[..tab]).rsplit(' ').next().and_then(|size| size.parse().ok());
            let file = path(&row[tab + 1..]);
            if file.file_name().is_some_and(|name| name == ".gitattributes") {
                attributes.push(file);
            } else if size.is_some_and(|size: usize| POINTER.contains(&size)) {
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
        let texts = contents(&small)?;
        let is_pointer = |text: &Option<Vec<u8>>| text.as_ref().is_some_and(|text| text.starts_with(BEGINS));
        Ok(small.into_iter().zip(texts).filter(|(_, text)| is_pointer(text)).map(|(file, _)| file).collect())
    }

    fn setting(&self, name: &str) -> Result<Option<String>, GitError> {
        // Our own calls pin some settings, so the value is asked for without those of the command line.
        let output = git(&self.checkout(), ["config", "--show-scope", "-z", "--get-all", name]).answer()?;
        let words: Vec<&[u8]> = fields(&output.stdout).collect();
        let theirs = words.chunks_exact(2).rfind(|pair| pair[0] != b"command");
        Ok(theirs.map(|pair| String::from_utf8_lossy(pair[1]).into_owned()))
    }
}

impl Hygiene {
    /// A stable name of the kind of finding.
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

/// The first of some paths.
fn named(paths: &[PathBuf]) -> String {
    let first: Vec<String> = paths.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    let more = if paths.len() > NAMED { ", ..." } else { "" };
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
            Hygiene::DetachedHead => f.write_str("HEAD is on no branch; the run starts from its commit"),
            Hygiene::OnDefaultBranch { branch } => {
                write!(f, "`{branch}` is the default branch; the run works on a branch of its own")
            }
            Hygiene::InProgress { what } => {
                write!(f, "a {what} is in progress; the run starts from HEAD without it")
            }
            Hygiene::Submodules { absent } => {
                write!(
                    f,
                    "submodules whose content is not here stay empty in the run's trees: {}",
                    named(absent)
                )
            }
            Hygiene::Lfs { files, installed } => {
                let why = match installed {
                    LfsInstalled::Yes => "files of Git LFS",
                    LfsInstalled::No => "Git LFS is used but not installed: its files",
                };
                write!(f, "{why} are pointers, not contents, in the run's trees: {}", named(files))
            }
            Hygiene::SparseCheckout => {
                f.write_str("the checkout is sparse; the run's work trees hold all files")
            }
            Hygiene::ShallowClone => f.write_str("the clone is shallow; older history cannot be looked at"),
        }
    }
}
