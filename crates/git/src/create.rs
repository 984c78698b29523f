//! Turns a folder into a repository with its own identity, for demonstrations.

use super::call::{GitContext, git};
use super::{GitError, Repository};
use std::path::Path;

/// The committer of a demonstration; the user's own settings stay as they are.
const IDENTITY: [(&str, &str); 3] =
    [("user.name", "Remand demo"), ("user.email", "demo@remand.invalid"), ("commit.gpgSign", "false")];

impl Repository {
    /// Turns a folder into a repository with one commit of all its files, and checks out a new branch.
    pub fn create(folder: &Path, branch: &str, message: &str) -> Result<Repository, GitError> {
        let context = GitContext::found_from(folder);
        git(&context, ["init", "--quiet", "--initial-branch", "main"]).run()?;
        for (name, value) in IDENTITY {
            git(&context, ["config", name, value]).run()?;
        }
        git(&context, ["add", "--all"]).run()?;
        git(&context, ["commit", "--quiet", "--message", message]).run()?;
        git(&context, ["switch", "--quiet", "--create", branch]).run()?;
        Repository::discover(folder)
    }
}
