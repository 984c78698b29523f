//! One repository with runs: its ledger, its checkout, and who drives its runs.

use remand_engine::home::Home;
use remand_engine::lock::DriverLock;
use remand_ledger::{LedgerError, Reader, RunId};
use std::path::PathBuf;

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
