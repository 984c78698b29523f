//! Lists the content of trees and references: files, branches, and commits of runs.

use super::call::git;
use super::invocation::{fields, path};
use super::{CommitId, GitError, Repository, TreeId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A branch, local or of a remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The short name, such as `main` or `origin/main`.
    pub name: String,
    pub commit: CommitId,
}

impl Repository {
    /// The remotes with their addresses.
    pub fn remotes(&self) -> Result<Vec<(String, String)>, GitError> {
        let names = git(&self.objects(), ["remote"]).run()?;
        let names = String::from_utf8_lossy(&names).into_owned();
        let address = |name: &str| git(&self.objects(), ["remote", "get-url", name]).line();
        names.lines().map(|name| Ok((name.to_string(), address(name)?))).collect()
    }

    /// The default branch of a remote, as the last clone or `git remote set-head` found it.
    pub fn default_branch_of(&self, remote: &str) -> Result<Option<String>, GitError> {
        let head = format!("refs/remotes/{remote}/HEAD");
        let output = git(&self.objects(), ["symbolic-ref", "--quiet", &head]).run_unchecked()?;
        let target = String::from_utf8_lossy(&output.stdout).trim_end().to_string();
        let branch = target.strip_prefix(&format!("refs/remotes/{remote}/")).map(str::to_string);
        Ok(branch.filter(|_| output.code == 0))
    }

    /// The first line of a commit's message.
    pub fn subject(&self, commit: &CommitId) -> Result<String, GitError> {
        self.format(commit, "%s").map(|text| text.trim_end().to_string())
    }

    /// The names of the direct children of a folder in a tree.
    pub fn names_in(&self, tree: &TreeId, folder: &str) -> Result<Vec<String>, GitError> {
        let below = format!("{folder}/");
        let output = git(&self.objects(), ["ls-tree", "-z", "--name-only", tree.tree(), &below]).run()?;
        let names = fields(&output).map(|name| String::from_utf8_lossy(name).into_owned());
        Ok(names.filter_map(|name| name.strip_prefix(&below).map(str::to_string)).collect())
    }

    /// All files of a tree.
    pub fn files(&self, tree: &TreeId) -> Result<Vec<PathBuf>, GitError> {
        let output = git(&self.objects(), ["ls-tree", "-r", "-z", "--name-only", tree.tree()]).run()?;
        Ok(fields(&output).map(path).collect())
    }

    /// The symbolic links in a tree, with their targets.
    pub fn links(&self, tree: &TreeId) -> Result<BTreeMap<PathBuf, PathBuf>, GitError> {
        let words = ["ls-tree", "-r", "-z", "--full-tree", tree.tree()];
        let output = git(&self.objects(), words).run()?;
        let is_link = |row: &&[u8]| row.starts_with(b"120000");
        let name = |row: &[u8]| row.iter().position(|byte| *byte == b'\t').map(|tab| path(&row[tab + 1..]));
        let links: Vec<PathBuf> = fields(&output).filter(is_link).filter_map(name).collect();
        let paths: Vec<&Path> = links.iter().map(PathBuf::as_path).collect();
        let targets = self.read_all(tree, &paths)?;
        let pairs = links.iter().zip(targets);
        Ok(pairs.filter_map(|(link, target)| Some((link.clone(), path(&target?)))).collect())
    }

    /// The names of the direct children of a folder, in HEAD and all references.
    pub fn names_over_references(&self, folder: &str) -> Result<BTreeSet<String>, GitError> {
        let references = git(&self.objects(), ["for-each-ref", "--format=%(objectname)"]).run()?;
        let commits: BTreeSet<String> = String::from_utf8_lossy(&references)
            .lines()
            .map(str::to_string)
            .chain(["HEAD".to_string()])
            .collect();
        let paths: String = commits.iter().map(|commit| format!("{commit}:{folder}\n")).collect();
        let check = ["cat-file", "--batch-check=%(objecttype) %(objectname)"];
        let objects = git(&self.objects(), check).input(paths.into_bytes()).run()?;
        let objects = String::from_utf8_lossy(&objects).into_owned();
        let folders: BTreeSet<&str> = objects.lines().filter_map(|line| line.strip_prefix("tree ")).collect();
        let mut names = BTreeSet::new();
        for folder in folders {
            let output = git(&self.objects(), ["ls-tree", "-z", "--name-only", folder]).run()?;
            names.extend(fields(&output).map(|name| String::from_utf8_lossy(name).into_owned()));
        }
        Ok(names)
    }

    /// All branches, including those of remotes.
    pub fn branches(&self) -> Result<Vec<Branch>, GitError> {
        let words = ["for-each-ref", "--format=%(objectname) %(refname:short)", "refs/heads", "refs/remotes"];
        let output = git(&self.objects(), words).run()?;
        let text = String::from_utf8_lossy(&output).into_owned();
        let split = text.lines().filter_map(|line| line.split_once(' '));
        split.map(|(commit, name)| Ok(Branch { name: name.to_string(), commit: commit.parse()? })).collect()
    }

    /// The branches of runs, except branches that are merged into a commit.
    pub fn unmerged_runs(&self, into: &CommitId) -> Result<BTreeSet<String>, GitError> {
        let not_in = format!("--no-merged={into}");
        let words = ["for-each-ref", "--format=%(refname:short)", &not_in, "refs/heads/remand"];
        let output = git(&self.objects(), words).run()?;
        Ok(String::from_utf8_lossy(&output).lines().map(str::to_string).collect())
    }

    /// The best common ancestor of two commits; `None` if they have none.
    pub fn merge_base(&self, one: &CommitId, other: &CommitId) -> Result<Option<CommitId>, GitError> {
        let output = git(&self.objects(), ["merge-base", one.as_str(), other.as_str()]).run_unchecked()?;
        match output.code {
            0 => Ok(Some(String::from_utf8_lossy(&output.stdout).trim().parse()?)),
            _ => Ok(None),
        }
    }

    /// Returns whether a commit or one of its ancestors has the trailer of a run.
    pub fn holds_run(&self, commit: &CommitId, run: &str) -> Result<bool, GitError> {
        let pattern = format!("--grep=Remand-Run: {run}");
        let words = ["log", "-1", "--format=%H", "--fixed-strings", &pattern, commit.as_str(), "--"];
        Ok(!git(&self.objects(), words).run()?.is_empty())
    }

    /// Returns whether a commit or one of its ancestors is the final commit of a run, by its trailers. This includes
    /// squashed and rebased commits that kept the message.
    pub fn holds_work(&self, commit: &CommitId, run: &str) -> Result<bool, GitError> {
        let of_run = format!("--grep=Remand-Run: {run}");
        let both = ["--fixed-strings", "--all-match", &of_run, "--grep=Remand-Workflow: "];
        let words = ["log", "-1", "--format=%H"].into_iter().chain(both).chain([commit.as_str(), "--"]);
        Ok(!git(&self.objects(), words).run()?.is_empty())
    }
}
