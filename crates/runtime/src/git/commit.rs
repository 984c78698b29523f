//! The one final commit of a run, made by `git commit` itself, so that the user's hooks and keys have their say.

use super::call::{Answer, Call, Manner, Place, fields, git};
use super::chain::one_line;
use super::worktree::write_whole;
use super::{CommitId, GitError, Repository, RunTrees, State, TreeId};
use std::time::Duration;

/// How long the user's hooks may take.
const HOOKS_MAY_TAKE: Duration = Duration::from_secs(20 * 60);

/// What a commit says. The trailers `Remand-Run` and `Remand-Command` are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitMessage {
    pub subject: String,
    pub body: String,
    pub trailers: Vec<(String, String)>,
}

/// How the final commit ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinalCommit {
    Committed {
        commit: CommitId,
    },
    /// The main line is the same as the base.
    NothingToCommit,
    /// A hook of the user's said no; the main work tree is as it was.
    HookRefused {
        output: String,
    },
    /// A hook of the user's changed files. There is no commit, and the main work tree holds the changed files:
    /// they are to be verified, recorded, and committed once more.
    HookChangedTree {
        tree: TreeId,
        output: String,
    },
}

/// Whether the user's hooks run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hooks {
    Run,
    PassedBy,
}

/// A commit on the run's branch.
pub(super) struct OnBranch {
    pub(super) commit: CommitId,
    pub(super) tree: TreeId,
    pub(super) parent: String,
    pub(super) run: String,
    pub(super) command: String,
    pub(super) reverts: String,
    pub(super) unverified: String,
    pub(super) subject: String,
}

impl RunTrees {
    /// Commits the main line on the run's branch, as the user's hooks and signing settings want it.
    pub fn commit(&self, message: &CommitMessage, command: &str) -> Result<FinalCommit, GitError> {
        self.finish(message, command, Hooks::Run)
    }

    /// Commits the main line without hooks: for a commit that holds nothing but words of the engine.
    pub fn commit_past_hooks(&self, message: &CommitMessage, command: &str) -> Result<FinalCommit, GitError> {
        self.finish(message, command, Hooks::PassedBy)
    }

    fn finish(&self, message: &CommitMessage, command: &str, hooks: Hooks) -> Result<FinalCommit, GitError> {
        let _main = self.main_guard();
        self.settle_branch()?;
        let state = self.main_state()?;
        if let Some(commit) = self.finished(&state, command)? {
            return Ok(FinalCommit::Committed { commit });
        }
        if state.tree == self.base_tree()? {
            return Ok(FinalCommit::NothingToCommit);
        }
        self.bring_along(&state)?;
        let user = Place::found_from(self.main_tree().path());
        for who in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            Call::new(&user, Manner::AsUser, ["var", who]).run()?;
        }
        let before = self.claim_branch()?;
        let ended = self.run_commit(message, command, hooks);
        let tip = self.repository.reference(&self.branch_reference())?;
        self.main_tree().point_head()?;
        let judged = ended.and_then(|answer| self.judge(&state, answer, tip.as_ref()));
        match &judged {
            Ok(FinalCommit::Committed { commit }) => {
                let last = self.repository.reference(&self.final_reference())?;
                self.repository.move_reference(&self.final_reference(), last.as_ref(), commit)?;
            }
            Ok(_) | Err(_) => self.give_up_branch(before.as_ref(), tip.as_ref())?,
        }
        judged
    }

    fn run_commit(&self, message: &CommitMessage, command: &str, hooks: Hooks) -> Result<Answer, GitError> {
        let main = self.main_tree();
        let branch = self.branch_reference();
        git(&main.public_place(), ["symbolic-ref", "HEAD", branch.as_str()]).run()?;
        let file = main.private("message");
        write_whole(&file, self.text(message, command).as_bytes())?;
        let passed_by: &[&str] = match hooks {
            Hooks::Run => &[],
            Hooks::PassedBy => &["-c", "core.hooksPath=/dev/null"],
        };
        let words = ["commit", "--quiet", "--no-status", "--cleanup=verbatim", "-F"];
        let words = passed_by.iter().chain(&words).map(AsRef::as_ref).chain([file.as_os_str()]);
        Call::new(&Place::found_from(main.path()), Manner::AsUser, words)
            .answer_into(&main.private("said"), HOOKS_MAY_TAKE)
    }

    /// What came out: git ends with 1 when a hook said no, and with more when it could not do its work.
    fn judge(&self, state: &State, answer: Answer, tip: Option<&CommitId>) -> Result<FinalCommit, GitError> {
        let main = self.main_tree();
        let output = String::from_utf8_lossy(&answer.stderr).trim().to_string();
        match (answer.code, tip) {
            (0, Some(commit)) => {
                let tree = self.repository.tree_of(commit)?;
                main.restore(&tree)?;
                if tree == state.tree {
                    Ok(FinalCommit::Committed { commit: commit.clone() })
                } else {
                    Ok(FinalCommit::HookChangedTree { tree, output })
                }
            }
            (1, _) => {
                let tree = main.snapshot()?;
                if tree.tree() == state.tree.tree() {
                    self.bring_along(state)?;
                    Ok(FinalCommit::HookRefused { output })
                } else {
                    Ok(FinalCommit::HookChangedTree { tree, output })
                }
            }
            (code, _) => {
                self.bring_along(state)?;
                Err(GitError::of_call("git commit".to_string(), code, &answer.stderr, main.path()))
            }
        }
    }

    /// Puts the branch on the base, and gives where it was.
    fn claim_branch(&self) -> Result<Option<CommitId>, GitError> {
        let before = self.replaceable_branch()?;
        self.repository.move_reference(&self.branch_reference(), before.as_ref(), self.base())?;
        Ok(before)
    }

    /// Where the branch is, if it may be moved: it holds nothing, or a hand-over of this run.
    pub(super) fn replaceable_branch(&self) -> Result<Option<CommitId>, GitError> {
        let branch = self.branch();
        let before = self.repository.reference(&self.branch_reference())?;
        if before.is_some() {
            let on_branch = on_branch(&self.repository, &self.branch(), Some(self.base()))?;
            if on_branch.iter().any(|commit| commit.run != self.run || commit.unverified.is_empty()) {
                return Err(GitError::BranchTaken { branch });
            }
            if let Some(path) = self.repository.holder(&branch)? {
                return Err(GitError::BranchInUse { branch, path });
            }
        }
        Ok(before)
    }

    fn give_up_branch(&self, before: Option<&CommitId>, tip: Option<&CommitId>) -> Result<(), GitError> {
        match (before, tip) {
            (Some(before), tip) => self.repository.move_reference(&self.branch_reference(), tip, before),
            (None, Some(_)) => self.repository.drop_reference(&self.branch_reference()),
            (None, None) => Ok(()),
        }
    }

    /// Ends a commit that was cut short: HEAD leaves the branch, and a branch without commits goes.
    pub(super) fn settle_branch(&self) -> Result<(), GitError> {
        let main = self.main_tree();
        main.point_head()?;
        let tip = self.repository.reference(&self.branch_reference())?;
        if tip.as_ref() == Some(self.base()) && self.repository.holder(&self.branch())?.is_none() {
            self.repository.drop_reference(&self.branch_reference())?;
        }
        Ok(())
    }

    /// The final commit, if this command has made it.
    fn finished(&self, state: &State, command: &str) -> Result<Option<CommitId>, GitError> {
        if self.repository.reference(&self.branch_reference())?.is_none() {
            return Ok(None);
        }
        let wanted = one_line(command);
        let found = on_branch(&self.repository, &self.branch(), Some(self.base()))?;
        // A hook may have taken the trailers out, so the commit that was noted counts as well.
        let noted = self.repository.reference(&self.final_reference())?;
        let made = found.into_iter().find(|commit| {
            let by_trailer =
                commit.run == self.run && commit.command == wanted && commit.unverified.is_empty();
            let by_note = noted.as_ref() == Some(&commit.commit) && commit.tree == state.tree;
            (by_trailer && commit.tree == state.tree) || by_note
        });
        Ok(made.map(|commit| commit.commit))
    }

    fn text(&self, message: &CommitMessage, command: &str) -> String {
        let mut text = format!("{}\n\n", one_line(&message.subject));
        if !message.body.trim().is_empty() {
            text.push_str(&format!("{}\n\n", message.body.trim()));
        }
        let own = [("Remand-Run", self.run.as_str()), ("Remand-Command", command)];
        let given = message.trailers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in given.chain(own) {
            text.push_str(&format!("{}: {}\n", one_line(name), one_line(value)));
        }
        text
    }

    pub(super) fn branch_reference(&self) -> String {
        format!("refs/heads/{}", self.branch())
    }

    fn final_reference(&self) -> String {
        format!("refs/remand/{}/final", self.run)
    }
}

/// The commits of a branch since a base, latest first; without a base, its latest hundred.
pub(super) fn on_branch(
    repository: &Repository,
    branch: &str,
    base: Option<&CommitId>,
) -> Result<Vec<OnBranch>, GitError> {
    let trailer = |name: &str| format!("%(trailers:key=Remand-{name},valueonly,separator=%x20)");
    let mut format: Vec<String> = ["%H", "%T", "%P"].map(str::to_string).to_vec();
    format.extend(["Run", "Command", "Reverts", "Unverified"].map(trailer));
    let format = format!("--format={}%n%s", format.join("%n"));
    let range = match base {
        Some(base) => format!("{base}..refs/heads/{branch}"),
        None => format!("refs/heads/{branch}"),
    };
    let words =
        ["log", "-z", "-100", "--no-show-signature", "--no-decorate", "--no-notes", &format, &range, "--"];
    let output = git(&repository.objects(), words).run()?;
    fields(&output).map(|record| read(&String::from_utf8_lossy(record))).collect()
}

fn read(record: &str) -> Result<OnBranch, GitError> {
    let lines: Vec<&str> = record.splitn(8, '\n').collect();
    let [commit, tree, parent, run, command, reverts, unverified, subject] = lines[..] else {
        return Err(GitError::Unreadable { command: "git log".to_string(), detail: record.to_string() });
    };
    Ok(OnBranch {
        commit: commit.parse()?,
        tree: TreeId::plain(tree)?,
        parent: parent.to_string(),
        run: run.to_string(),
        command: command.to_string(),
        reverts: reverts.to_string(),
        unverified: unverified.to_string(),
        subject: subject.to_string(),
    })
}
