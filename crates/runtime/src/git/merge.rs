//! Brings a task's work into the main line, three-way, without any work tree.

use super::call::{Place, fields, git, path};
use super::chain::{Kind, NewLink, one_line};
use super::programs::Writes;
use super::{CommitId, GitError, Repository, RunTrees, State, TreeId};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// How a merge ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    Merged(State),
    /// The main line is as it was; these paths were changed by the task and by others.
    Conflict {
        paths: Vec<PathBuf>,
    },
}

/// A tree, and the paths in it that could not be brought together.
pub(super) struct ThreeWay {
    pub(super) tree: String,
    pub(super) conflicts: BTreeSet<PathBuf>,
}

impl RunTrees {
    /// Merges what a task made of a state of the main line.
    pub fn merge(
        &self,
        task: &str,
        base: &CommitId,
        tree: &TreeId,
        command: &str,
    ) -> Result<Merge, GitError> {
        let _main = self.main_guard();
        let state = match self.link_of(command)? {
            Some(link) => link.state,
            None => {
                let from = self.repository.tree_of(base)?;
                let now = self.main_state()?.tree;
                let merged = self.three_way(from.tree(), now.tree(), tree.tree())?;
                if !merged.conflicts.is_empty() {
                    return Ok(Merge::Conflict { paths: merged.conflicts.into_iter().collect() });
                }
                let message = format!("Merge task {}", one_line(task));
                let trailers = vec![("Remand-Task", one_line(task))];
                self.append(
                    &merged.tree,
                    &NewLink { kind: Kind::Merge, message: &message, command, trailers },
                )?
            }
        };
        self.bring_along(&self.main_state()?)?;
        Ok(Merge::Merged(state))
    }

    /// Merges trees under the attributes of the main work tree.
    pub(super) fn three_way(&self, base: &str, ours: &str, theirs: &str) -> Result<ThreeWay, GitError> {
        let main = self.main_tree();
        main.mend()?;
        let place = main.public_place().starting(&self.repository.programs, Writes::Tree);
        self.repository.three_way(&place, base, ours, theirs)
    }
}

impl Repository {
    /// Merges three trees as drivers of the place say. Commits are made for them, since git before 2.40 takes the base from history only.
    pub(super) fn three_way(
        &self,
        place: &Place,
        base: &str,
        ours: &str,
        theirs: &str,
    ) -> Result<ThreeWay, GitError> {
        let base = self.commit_tree(base, None, "Base\n")?;
        let ours = self.commit_tree(ours, Some(&base), "Ours\n")?;
        let theirs = self.commit_tree(theirs, Some(&base), "Theirs\n")?;
        let words = [
            "merge-tree",
            "--write-tree",
            "-z",
            "--name-only",
            "--no-messages",
            ours.as_str(),
            theirs.as_str(),
        ];
        let answer = git(place, words).answer()?;
        let mut parts = fields(&answer.stdout);
        match (answer.code, parts.next()) {
            (0 | 1, Some(tree)) => {
                let tree = String::from_utf8_lossy(tree).trim().to_string();
                Ok(ThreeWay { tree, conflicts: parts.map(path).collect() })
            }
            (code, _) => Err(GitError::of_call(words.join(" "), code, &answer.stderr, self.common_dir())),
        }
    }
}
