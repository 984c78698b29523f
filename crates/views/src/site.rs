//! All runs of a user: the state folder with one ledger per repository.

use crate::door::RunDoor;
use crate::problem::ViewProblem;
use crate::repository::RepositoryState;
use remand_engine::home::Home;
use remand_engine::redact::Redactor;
use std::path::PathBuf;

/// The state folder of a user, and what the user may ask of runs here.
pub struct RunSite {
    /// The folder with the state of all repositories.
    pub state: PathBuf,
    /// `None` if runs are only shown.
    pub door: Option<Box<dyn RunDoor>>,
    /// What removes secrets from text that no ledger holds, by the rules of a repository.
    pub redactor: Box<dyn Fn(&Home) -> Redactor + Send + Sync>,
}

impl std::fmt::Debug for RunSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunSite").field("state", &self.state).finish_non_exhaustive()
    }
}

impl RunSite {
    /// All repositories with runs, by name.
    pub fn repositories(&self) -> Result<Vec<RepositoryState>, ViewProblem> {
        let unreadable = |source| ViewProblem::File { what: self.state.display().to_string(), source };
        let mut found: Vec<RepositoryState> =
            Home::all(&self.state).map_err(unreadable)?.into_iter().map(RepositoryState::of).collect();
        found.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        Ok(found)
    }

    pub fn repository(&self, id: &str) -> Result<Option<RepositoryState>, ViewProblem> {
        Ok(self.repositories()?.into_iter().find(|repository| repository.id == id))
    }
}
