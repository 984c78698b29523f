//! Creates repositories for demonstrations.

use super::call::{GitContext, git};
use super::{GitError, Repository};
use std::path::Path;

/// Settings of a demonstration's repository. The user's settings stay as they are.
const SETTINGS: [(&str, &str); 3] =
    [("user.name", "Remand demo"), ("user.email", "demo@remand.invalid"), ("commit.gpgSign", "false")];

impl Repository {
    /// Turns a folder into a repository with one commit of all its files, and checks out a new branch.
    pub fn create(folder: &Path, branch: &str, message: &str) -> Result<Repository, GitError> {
        let context = GitContext::discover_from(folder);
        git(&context, ["init", "--quiet", "--initial-branch", "main"]).run()?;
        for (name, value) in SETTINGS {
            git(&context, ["config", name, value]).run()?;
        }
        git(&context, ["add", "--all"]).run()?;
        git(&context, ["commit", "--quiet", "--message", message]).run()?;
        git(&context, ["switch", "--quiet", "--create", branch]).run()?;
        Repository::discover(folder)
    }
}
