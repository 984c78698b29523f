//! What running commands do at this moment, for people who watch. It is never recorded, and no decision depends on it.

use remand_ledger::RunId;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One line for each running command of this process. Clones share their content.
#[derive(Clone, Debug, Default)]
pub struct ActivityBoard(Arc<Mutex<BTreeMap<(RunId, String), String>>>);

impl ActivityBoard {
    /// Replaces the line of a command.
    pub fn report(&self, run: &RunId, command: impl Display, text: String) {
        self.lines().insert((run.clone(), command.to_string()), text);
    }

    /// Removes the line of a command that has ended.
    pub fn clear(&self, run: &RunId, command: impl Display) {
        self.lines().remove(&(run.clone(), command.to_string()));
    }

    /// The line of a command, if it reported anything.
    pub fn line(&self, run: &RunId, command: &str) -> Option<String> {
        self.lines().get(&(run.clone(), command.to_string())).cloned()
    }

    fn lines(&self) -> MutexGuard<'_, BTreeMap<(RunId, String), String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
