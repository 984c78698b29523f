//! Makes a repository out of a folder: for demonstrations, with an identity of its own.

use super::call::{Place, git};
use super::{GitError, Repository};
use std::path::Path;

/// Who commits in a demonstration; the user's own settings are left alone.
const IDENTITY: [(&str, &str); 3] =
    [("user.name", "Remand demo"), ("user.email", "demo@remand.invalid"), ("commit.gpgSign", "false")];

impl Repository {
    /// Makes a folder a repository with one commit of all that is in it, and checks out a branch for work.
    pub fn create(folder: &Path, branch: &str, message: &str) -> Result<Repository, GitError> {
        let place = Place::found_from(folder);
        git(&place, ["init", "--quiet", "--initial-branch", "main"]).run()?;
        for (name, value) in IDENTITY {
            git(&place, ["config", name, value]).run()?;
        }
        git(&place, ["add", "--all"]).run()?;
        git(&place, ["commit", "--quiet", "--message", message]).run()?;
        git(&place, ["switch", "--quiet", "--create", branch]).run()?;
        Repository::discover(folder)
    }
}
