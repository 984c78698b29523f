//! The commit of a run's work, made by `git commit` itself, so that the user's hooks and keys have their say.

use super::aside::{Aside, Tried};
use super::branch::{Files, Ground};
use super::call::{fields, git};
use super::chain::one_line;
use super::{CommitId, Fit, GitError, Repository, RunTrees, State, TreeId, error};

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

/// What became of a commit before it is on the branch.
enum Judged {
    Made(CommitId),
    Refused(String),
    Changed(TreeId, String),
}

/// A commit on the run's branch.
pub(super) struct OnBranch {
    pub(super) commit: CommitId,
    pub(super) tree: TreeId,
    pub(super) parent: String,
    pub(super) run: String,
    pub(super) command: String,
    pub(super) reverts: String,
    pub(super) handed_over: String,
    pub(super) subject: String,
}

impl RunTrees {
    /// Commits the main line, and documents of the engine's with it, on the run's branch, as the user's hooks and
    /// signing settings want it, with what hooks need put into the tree before them. The branch moves once, when all is
    /// done; a commit that was cut short leaves nothing.
    pub fn commit(
        &self,
        documents: &Files,
        message: &CommitMessage,
        command: &str,
        fit: Fit<'_>,
    ) -> Result<FinalCommit, GitError> {
        let _main = self.main_guard();
        if let Some(commit) = self.made_by(command)? {
            return Ok(FinalCommit::Committed { commit });
        }
        let main = self.main_state()?;
        if main.tree == self.base_tree()? {
            return Ok(FinalCommit::NothingToCommit);
        }
        let Ground { before, parent } = self.ground()?;
        let state = State { tree: self.with_files(&main.tree, documents)?, commit: main.commit };
        self.bring_along(&state)?;
        let main = self.main_tree();
        let mut fittings = fit(main.path()).map_err(error::file("fit out", main.path()))?;
        let hooks = self.hooks_folder(&state.tree, &mut fittings);
        let fitted = hooks.and_then(|hooks| Ok((hooks, self.aside(&state, &parent, &fittings)?)));
        let (hooks, aside) = match fitted {
            Ok(fitted) => fitted,
            Err(error) => {
                self.take_out(&fittings)?;
                return Err(error);
            }
        };
        let text = self.text(message, command);
        let tried = self.try_commit(&aside, &text, &hooks, &fittings);
        self.take_out(&fittings)?;
        let judged = tried.and_then(|tried| self.judge(&state, &aside, tried));
        self.leave(&aside)?;
        match judged {
            Ok(Judged::Made(commit)) => {
                let commit = self.signed(commit, &parent)?;
                self.note(command, &commit)?;
                self.repository.move_reference(&self.branch_reference(), before.as_ref(), &commit)?;
                Ok(FinalCommit::Committed { commit })
            }
            Ok(Judged::Refused(output)) => Ok(FinalCommit::HookRefused { output }),
            Ok(Judged::Changed(tree, output)) => Ok(FinalCommit::HookChangedTree { tree, output }),
            Err(error) => {
                self.bring_along(&state)?;
                Err(error)
            }
        }
    }

    /// The final commit that a command has made, wherever the run was killed since.
    pub fn made_by(&self, command: &str) -> Result<Option<CommitId>, GitError> {
        let Some(noted) = self.repository.reference(&self.note_reference(command))? else {
            return Ok(None);
        };
        let on_branch = match self.repository.reference(&self.branch_reference())? {
            Some(_) => on_branch(&self.repository, &self.branch(), Some(self.base()))?,
            None => Vec::new(),
        };
        Ok(on_branch.into_iter().find(|made| made.commit == noted).map(|made| made.commit))
    }

    /// What came out: git ends with 1 when a hook said no, and with more when it could not do its work.
    fn judge(&self, state: &State, aside: &Aside, tried: Tried) -> Result<Judged, GitError> {
        let main = self.main_tree();
        let output = String::from_utf8_lossy(&tried.said).trim().to_string();
        match (tried.code, tried.commit) {
            (0, Some(commit)) => {
                self.adopt(aside, &commit)?;
                if self.repository.format(&commit, "%P")?.trim() != aside.base.as_str() {
                    self.bring_along(state)?;
                    return Ok(Judged::Refused(
                        "a hook put another commit in the place of this one".to_string(),
                    ));
                }
                let tree = self.repository.tree_of(&commit)?;
                main.restore(&tree)?;
                Ok(if tree == state.tree { Judged::Made(commit) } else { Judged::Changed(tree, output) })
            }
            (1, _) => {
                let tree = main.snapshot()?;
                if tree.tree() == state.tree.tree() {
                    self.bring_along(state)?;
                    Ok(Judged::Refused(output))
                } else {
                    Ok(Judged::Changed(tree, output))
                }
            }
            (code, _) => {
                Err(GitError::of_call("git commit".to_string(), code, &tried.said, self.main_tree().path()))
            }
        }
    }

    /// Remembers which commit a command made, since a hook may have taken the trailers out.
    pub(super) fn note(&self, command: &str, commit: &CommitId) -> Result<(), GitError> {
        let name = self.note_reference(command);
        let last = self.repository.reference(&name)?;
        self.repository.move_reference(&name, last.as_ref(), commit)
    }

    pub(super) fn text(&self, message: &CommitMessage, command: &str) -> String {
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

    fn note_reference(&self, command: &str) -> String {
        let hash = blake3::hash(command.as_bytes()).to_hex();
        format!("refs/remand/{}/final/{}", self.run, &hash[..16])
    }
}

/// What tells work that was handed over; branches of earlier builds have the second name.
const HANDED_OVER: &str = "key=Remand-Handed-Over,key=Remand-Unverified";

/// The commits of a branch since a base, latest first; without a base, its latest hundred.
pub(super) fn on_branch(
    repository: &Repository,
    branch: &str,
    base: Option<&CommitId>,
) -> Result<Vec<OnBranch>, GitError> {
    let trailer = |keys: &str| format!("%(trailers:{keys},valueonly,separator=%x20)");
    let mut format: Vec<String> = ["%H", "%T", "%P"].map(str::to_string).to_vec();
    format.extend(["key=Remand-Run", "key=Remand-Command", "key=Remand-Reverts", HANDED_OVER].map(trailer));
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
    let [commit, tree, parent, run, command, reverts, handed_over, subject] = lines[..] else {
        return Err(GitError::Unreadable { command: "git log".to_string(), detail: record.to_string() });
    };
    Ok(OnBranch {
        commit: commit.parse()?,
        tree: TreeId::plain(tree)?,
        parent: parent.to_string(),
        run: run.to_string(),
        command: command.to_string(),
        reverts: reverts.to_string(),
        handed_over: handed_over.to_string(),
        subject: subject.to_string(),
    })
}
