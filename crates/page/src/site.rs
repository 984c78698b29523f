//! What the page shows: the state folder with one ledger per repository.

use crate::door::GateDoor;
use remand_engine::home::Home;
use remand_engine::lock::DriverLock;
use remand_engine::redact::Redactor;
use remand_ledger::{LedgerError, Reader, RunId};
use std::io;
use std::path::PathBuf;

/// The state folder of a user, and the user's rights on the page.
pub struct PageSite {
    /// The folder with the state of all repositories.
    pub state: PathBuf,
    /// `None` if nothing can be answered here.
    pub door: Option<Box<dyn GateDoor>>,
    /// What removes secrets from text that no ledger holds, by the rules of a repository.
    pub redactor: Box<dyn Fn(&Home) -> Redactor + Send + Sync>,
}

impl std::fmt::Debug for PageSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageSite").field("state", &self.state).finish_non_exhaustive()
    }
}

/// The state of one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryState {
    /// The name of its folder.
    pub id: String,
    /// The name of its checkout, for people.
    pub name: String,
    pub checkout: Option<PathBuf>,
    pub home: Home,
}

impl PageSite {
    /// All repositories with runs, by name.
    pub fn repositories(&self) -> io::Result<Vec<RepositoryState>> {
        let mut found: Vec<RepositoryState> =
            Home::all(&self.state)?.into_iter().map(RepositoryState::of).collect();
        found.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        Ok(found)
    }

    pub fn repository(&self, id: &str) -> io::Result<Option<RepositoryState>> {
        Ok(self.repositories()?.into_iter().find(|repository| repository.id == id))
    }
}

impl RepositoryState {
    pub fn of(home: Home) -> RepositoryState {
        let text = |name: Option<&std::ffi::OsStr>| name.map(|name| name.to_string_lossy().into_owned());
        let id = text(home.root().file_name()).unwrap_or_default();
        let checkout = home.checkout();
        let name = checkout.as_ref().and_then(|path| text(path.file_name())).unwrap_or_else(|| id.clone());
        RepositoryState { id, name, checkout, home }
    }

    /// The ledger, with the runs that are driven now.
    pub fn reader(&self) -> Result<Reader, LedgerError> {
        let home = self.home.clone();
        let reader = Reader::open(&self.home.ledger())?;
        Ok(reader.with_drivers(move |run| DriverLock::holder(&home.run(run)).is_some()))
    }

    /// Whether a process drives the run now.
    pub fn is_driven(&self, run: &RunId) -> bool {
        DriverLock::holder(&self.home.run(run)).is_some()
    }
}
