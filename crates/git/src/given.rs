//! Changes that people made outside of runs: what they contain, and where they started.
//!
//! Staged, uncommitted and patched content is read through a copy of the index, so the user's checkout stays as it is.

use super::call::{Call, GitContext, git};
use super::invocation::{CallMode, fields, path};
use super::programs::Writes;
use super::remove::remove;
use super::{CommitId, GitError, Repository, RunTrees, TreeId, error};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers the copies of indexes that one process makes.
static COPIES: AtomicU32 = AtomicU32::new(0);

/// The result of merging a commit into another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitMerge {
    /// The merge, or one of the two commits if it contains the other.
    Merged(CommitId),
    Conflict {
        paths: Vec<PathBuf>,
    },
}

/// How a branch was moved forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FastForward {
    Moved,
    /// The checkout of the branch has changes that are in the way; the branch stays where it is.
    Refused {
        checkout: PathBuf,
        output: String,
    },
}

/// An index that is removed at the end.
struct IndexCopy(PathBuf);

impl IndexCopy {
    fn new(within: &Path) -> IndexCopy {
        let number = COPIES.fetch_add(1, Ordering::Relaxed);
        IndexCopy(within.join(format!("remand-index-{}-{number}", std::process::id())))
    }
}

impl Drop for IndexCopy {
    fn drop(&mut self) {
        // A file that stays behind is small, and the next process uses another name.
        let _ = remove(&self.0);
    }
}

impl Repository {
    /// The tips of the default branch: the local one, and the remote one as it was last fetched.
    pub fn default_tips(&self) -> Result<Vec<(String, CommitId)>, GitError> {
        let Some(name) = self.default_branch()? else { return Ok(Vec::new()) };
        let mut tips = Vec::new();
        for (shown, reference) in [
            (name.clone(), format!("refs/heads/{name}")),
            (format!("origin/{name}"), format!("refs/remotes/origin/{name}")),
        ] {
            tips.extend(self.reference(&reference)?.map(|commit| (shown, commit)));
        }
        Ok(tips)
    }

    /// The tip of the branch that this branch follows, if it follows one.
    pub fn upstream(&self, branch: &str) -> Result<Option<CommitId>, GitError> {
        let revision = format!("{branch}@{{upstream}}^{{commit}}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &revision];
        let output = git(&self.checkout(), words).run_unchecked()?;
        match output.code {
            0 => String::from_utf8_lossy(&output.stdout).trim().parse().map(Some),
            _ => Ok(None),
        }
    }

    /// The content of an index: the given one, or that of the checkout.
    pub fn staged(&self, index: Option<&Path>, within: &Path) -> Result<TreeId, GitError> {
        let copy = self.copied_index(index, within)?;
        TreeId::plain(&git(&self.checkout().with_index(&copy.0), ["write-tree"]).line()?)
    }

    /// The content of the checkout with everything that is not ignored.
    pub fn uncommitted(&self, within: &Path) -> Result<TreeId, GitError> {
        let copy = self.copied_index(None, within)?;
        let context = self.checkout().with_index(&copy.0);
        git(&context, ["add", "--all", "--", ":/"]).run()?;
        TreeId::plain(&git(&context, ["write-tree"]).line()?)
    }

    /// A tree with a patch applied, or git's message about why it does not apply.
    pub fn with_patch(
        &self,
        tree: &TreeId,
        patch: &[u8],
        within: &Path,
    ) -> Result<Result<TreeId, String>, GitError> {
        let copy = IndexCopy::new(within);
        let context = self.objects().with_index(&copy.0);
        git(&context, ["read-tree", tree.tree()]).run()?;
        let words = ["apply", "--cached", "--whitespace=nowarn", "-"];
        let applied = git(&context, words).input(patch.to_vec()).run_unchecked()?;
        if applied.code != 0 {
            return Ok(Err(String::from_utf8_lossy(&applied.stderr).trim().to_string()));
        }
        Ok(Ok(TreeId::plain(&git(&context, ["write-tree"]).line()?)?))
    }

    /// A commit of content that nobody has committed. Equal content on an equal parent gives an equal commit.
    pub fn commit_of(&self, tree: &TreeId, parent: &CommitId, message: &str) -> Result<CommitId, GitError> {
        self.dated_commit(tree.tree(), &[parent], message)
    }

    /// A merge commit in the user's name, without hooks.
    pub fn merge_commit(
        &self,
        tree: &TreeId,
        parents: [&CommitId; 2],
        message: &str,
    ) -> Result<CommitId, GitError> {
        let [first, second] = parents.map(CommitId::as_str);
        let words = ["commit-tree", tree.tree(), "-p", first, "-p", second, "-F", "-"];
        let text = format!("{message}\n").into_bytes();
        Call::new(&self.objects(), CallMode::AsUser, words).input(text).line()?.parse()
    }

    /// Moves a branch of the user forward, together with its checkout if it has one. Hooks do not run: their folder may be part
    /// of the content that lands, and nothing would confine them.
    pub fn fast_forward(
        &self,
        branch: &str,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<FastForward, GitError> {
        let Some(checkout) = self.checkout_of(branch)? else {
            self.move_reference(&format!("refs/heads/{branch}"), Some(from), to)?;
            return Ok(FastForward::Moved);
        };
        let context = GitContext::discover_from(&checkout);
        let head: CommitId = git(&context, ["rev-parse", "--verify", "HEAD^{commit}"]).line()?.parse()?;
        if head != *from {
            return Err(GitError::ReferenceMoved { reference: branch.to_string() });
        }
        let words = ["-c", "core.hooksPath=/dev/null", "merge", "--ff-only", "--quiet", to.as_str()];
        let output = Call::new(&context, CallMode::AsUser, words).run_unchecked()?;
        Ok(match output.code {
            0 => FastForward::Moved,
            _ => {
                let output = String::from_utf8_lossy(&output.stderr).trim().to_string();
                FastForward::Refused { checkout, output }
            }
        })
    }

    fn copied_index(&self, index: Option<&Path>, within: &Path) -> Result<IndexCopy, GitError> {
        let copy = IndexCopy::new(within);
        let own = self.git_dir().join("index");
        let index = index.map_or(own, |index| self.root().join(index));
        // A repository without an index has nothing staged: everything is removed.
        if index.exists() {
            let copied = || -> std::io::Result<()> {
                fs::copy(&index, &copy.0)?;
                // Git compares the content of files that changed at the same time as the index, by the index's own time.
                fs::File::options().write(true).open(&copy.0)?.set_modified(fs::metadata(&index)?.modified()?)
            };
            copied().map_err(error::file("copy", &index))?;
        }
        Ok(copy)
    }

    /// An internal commit with the date of its first parent.
    fn dated_commit(&self, tree: &str, parents: &[&CommitId], message: &str) -> Result<CommitId, GitError> {
        let date = match parents.first() {
            Some(parent) => self.format(parent, "%cI")?.trim().to_string(),
            None => "1970-01-01T00:00:00Z".to_string(),
        };
        let mut words: Vec<OsString> = vec!["commit-tree".into(), tree.into()];
        words.extend(parents.iter().flat_map(|parent| ["-p".into(), parent.as_str().into()]));
        words.extend(["-F".into(), "-".into()]);
        let call = git(&self.objects(), words).env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        call.input(format!("{message}\n").into_bytes()).line()?.parse()
    }
}

impl RunTrees {
    /// Merges a commit into another, with the merge drivers of the main work tree. Neither moves.
    pub fn merge_commits(
        &self,
        ours: &CommitId,
        theirs: &CommitId,
        message: &str,
    ) -> Result<CommitMerge, GitError> {
        let repository = &self.repository;
        if repository.contains(theirs, ours)? {
            return Ok(CommitMerge::Merged(theirs.clone()));
        }
        if repository.contains(ours, theirs)? {
            return Ok(CommitMerge::Merged(ours.clone()));
        }
        let main = self.main_tree();
        main.attach()?;
        let context = main.public_context().starting(&repository.programs, Writes::Tree);
        let words = [
            "merge-tree",
            "--write-tree",
            "--allow-unrelated-histories",
            "-z",
            "--name-only",
            "--no-messages",
            ours.as_str(),
            theirs.as_str(),
        ];
        let output = git(&context, words).run_unchecked()?;
        let mut parts = fields(&output.stdout);
        match (output.code, parts.next()) {
            (0, Some(tree)) => {
                let tree = String::from_utf8_lossy(tree).trim().to_string();
                Ok(CommitMerge::Merged(repository.dated_commit(&tree, &[ours, theirs], message)?))
            }
            (1, Some(_)) => Ok(CommitMerge::Conflict { paths: parts.map(path).collect() }),
            (code, _) => {
                Err(GitError::from_call(words.join(" "), code, &output.stderr, repository.common_dir()))
            }
        }
    }
}
