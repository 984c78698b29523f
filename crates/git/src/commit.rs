//! Commits a run's work with `git commit`, so the user's hooks and signing settings apply.

use super::branch::{CommitPoint, FileContents};
use super::branch_log::branch_commits;
use super::side_repository::{CommitAttempt, SideRepository};
use super::{CommitId, CommitMessage, CommitState, GitError, RunTrees, SetUpHooks, TreeId, error};

/// How the final commit ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinalCommit {
    Committed {
        commit: CommitId,
    },
    /// The main line equals the base.
    NothingToCommit,
    /// One of the user's hooks rejected the commit; the main work tree is unchanged.
    HookRefused {
        output: String,
    },
    /// One of the user's hooks changed files, so nothing is committed. The main work tree has the changed files, which must
    /// be verified, recorded and committed again.
    HookChangedTree {
        tree: TreeId,
        output: String,
    },
}

/// The result of a commit attempt, before the branch moves.
enum AttemptResult {
    Made(CommitId),
    Refused(String),
    Changed(TreeId, String),
}

impl RunTrees {
    /// Commits the main line together with the engine's documents on the run's branch. The user's hooks and signing
    /// settings apply; `set_up` adds the files that hooks need to the tree. The branch moves once, at the end, so an
    /// interrupted commit leaves nothing behind.
    pub fn commit(
        &self,
        documents: &FileContents,
        message: &CommitMessage,
        command: &str,
        set_up: SetUpHooks<'_>,
    ) -> Result<FinalCommit, GitError> {
        let _main = self.main_guard();
        if let Some(commit) = self.commit_of_command(command)? {
            return Ok(FinalCommit::Committed { commit });
        }
        let main = self.main_state()?;
        if main.tree == self.base_tree()? {
            return Ok(FinalCommit::NothingToCommit);
        }
        let CommitPoint { before, parent } = self.next_commit_point()?;
        let state = CommitState { tree: self.with_files(&main.tree, documents)?, commit: main.commit };
        match self.attempt(&state, &parent, &self.commit_text(message, command), set_up)? {
            AttemptResult::Made(commit) => {
                let commit = self.sign_if_configured(commit, &parent)?;
                self.record_commit(command, &commit)?;
                self.repository.move_reference(&self.branch_reference(), before.as_ref(), &commit)?;
                Ok(FinalCommit::Committed { commit })
            }
            AttemptResult::Refused(output) => Ok(FinalCommit::HookRefused { output }),
            AttemptResult::Changed(tree, output) => Ok(FinalCommit::HookChangedTree { tree, output }),
        }
    }

    /// Tries the user's hooks on a commit of the main line. The commit is not signed and on no branch.
    pub fn try_hooks(
        &self,
        message: &CommitMessage,
        set_up: SetUpHooks<'_>,
    ) -> Result<FinalCommit, GitError> {
        let _main = self.main_guard();
        let text = self.commit_text(message, "hooks");
        Ok(match self.attempt(&self.main_state()?, self.base(), &text, set_up)? {
            AttemptResult::Made(commit) => FinalCommit::Committed { commit },
            AttemptResult::Refused(output) => FinalCommit::HookRefused { output },
            AttemptResult::Changed(tree, output) => FinalCommit::HookChangedTree { tree, output },
        })
    }

    /// Runs `git commit` with the user's hooks in a separate repository. The caller holds the main line.
    fn attempt(
        &self,
        state: &CommitState,
        parent: &CommitId,
        text: &str,
        set_up: SetUpHooks<'_>,
    ) -> Result<AttemptResult, GitError> {
        self.restore_main_tree(state)?;
        let main = self.main_tree();
        let mut hook_files = set_up(main.path()).map_err(error::file("prepare for hooks", main.path()))?;
        let hooks = self.hooks_folder(&state.tree, &mut hook_files);
        let prepared =
            hooks.and_then(|hooks| Ok((hooks, self.create_side_repository(state, parent, &hook_files)?)));
        let (hooks, side) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                self.remove_hook_files(&hook_files)?;
                return Err(error);
            }
        };
        let attempt = self.try_commit(&side, text, &hooks, &hook_files);
        self.remove_hook_files(&hook_files)?;
        let result = attempt.and_then(|attempt| self.evaluate(state, &side, attempt));
        self.remove_side_repository(&side)?;
        if result.is_err() {
            self.restore_main_tree(state)?;
        }
        result
    }

    /// The commit on the run's branch that a command has made, even if the run was killed afterwards.
    pub fn commit_of_command(&self, command: &str) -> Result<Option<CommitId>, GitError> {
        let Some(recorded) = self.repository.reference(&self.recorded_reference(command))? else {
            return Ok(None);
        };
        let branch_commits = match self.repository.reference(&self.branch_reference())? {
            Some(_) => branch_commits(&self.repository, &self.branch(), Some(self.base()))?,
            None => Vec::new(),
        };
        Ok(branch_commits.into_iter().find(|made| made.commit == recorded).map(|made| made.commit))
    }

    /// Evaluates a commit attempt. Git exits with 1 if a hook rejected the commit, and with a higher code if git itself
    /// failed.
    fn evaluate(
        &self,
        state: &CommitState,
        side: &SideRepository,
        attempt: CommitAttempt,
    ) -> Result<AttemptResult, GitError> {
        let main = self.main_tree();
        let output = String::from_utf8_lossy(&attempt.output).trim().to_string();
        match (attempt.code, attempt.commit) {
            (0, Some(commit)) => {
                self.adopt(side, &commit)?;
                if self.repository.format(&commit, "%P")?.trim() != side.base.as_str() {
                    self.restore_main_tree(state)?;
                    return Ok(AttemptResult::Refused(
                        "a hook replaced this commit with another one".to_string(),
                    ));
                }
                let tree = self.repository.tree_of(&commit)?;
                main.restore(&tree)?;
                Ok(if tree == state.tree {
                    AttemptResult::Made(commit)
                } else {
                    AttemptResult::Changed(tree, output)
                })
            }
            (1, _) => {
                let tree = main.snapshot()?;
                if tree.tree() == state.tree.tree() {
                    self.restore_main_tree(state)?;
                    Ok(AttemptResult::Refused(output))
                } else {
                    Ok(AttemptResult::Changed(tree, output))
                }
            }
            (code, _) => Err(GitError::from_call(
                "git commit".to_string(),
                code,
                &attempt.output,
                self.main_tree().path(),
            )),
        }
    }

    /// Records which commit a command made, since a hook may have removed the trailers.
    pub(super) fn record_commit(&self, command: &str, commit: &CommitId) -> Result<(), GitError> {
        let name = self.recorded_reference(command);
        let last = self.repository.reference(&name)?;
        self.repository.move_reference(&name, last.as_ref(), commit)
    }

    pub(super) fn branch_reference(&self) -> String {
        format!("refs/heads/{}", self.branch())
    }

    fn recorded_reference(&self, command: &str) -> String {
        let hash = blake3::hash(command.as_bytes()).to_hex();
        format!("refs/remand/{}/final/{}", self.run, &hash[..16])
    }
}
