//! Reads the commits on a run's branch.

use super::call::git;
use super::invocation::fields;
use super::{CommitId, GitError, Repository, TreeId};

/// A commit on the run's branch.
pub(super) struct BranchCommit {
    pub(super) commit: CommitId,
    pub(super) tree: TreeId,
    pub(super) parent: String,
    pub(super) run: String,
    pub(super) command: String,
    pub(super) reverts: String,
    pub(super) handed_over: String,
    pub(super) subject: String,
}

/// The trailers that mark handed-over work; earlier versions wrote the second one.
const HANDED_OVER: &str = "key=Remand-Handed-Over,key=Remand-Unverified";

/// The commits of a branch since a base, latest first. Without a base, the latest hundred commits.
pub(super) fn branch_commits(
    repository: &Repository,
    branch: &str,
    base: Option<&CommitId>,
) -> Result<Vec<BranchCommit>, GitError> {
    let trailer = |keys: &str| format!("%(trailers:{keys},valueonly,separator=%x20)");
    let mut format: Vec<String> = ["%H", "%T", "%P"].map(str::to_string).to_vec();
    format.extend(["key=Remand-Run", "key=Remand-Command", "key=Remand-Reverts", HANDED_OVER].map(trailer));
    let format = format!("--format={}%n%s", format.join("%n"));
    let range = match base {
        Some(base) => format!("{base}..refs/heads/{branch}"),
        None => format!("refs/heads/{branch}"),
    };
    let mut words = vec!["log", "-z", "--no-show-signature", "--no-decorate", "--no-notes", format.as_str()];
    if base.is_none() {
        words.push("-100");
    }
    words.extend([range.as_str(), "--"]);
    let output = git(&repository.objects(), words).run()?;
    fields(&output).map(|record| parse_commit(&String::from_utf8_lossy(record))).collect()
}

fn parse_commit(record: &str) -> Result<BranchCommit, GitError> {
    let lines: Vec<&str> = record.splitn(8, '\n').collect();
    let [commit, tree, parent, run, command, reverts, handed_over, subject] = lines[..] else {
        return Err(GitError::Unreadable { command: "git log".to_string(), detail: record.to_string() });
    };
    Ok(BranchCommit {
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
