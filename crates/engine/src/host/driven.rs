//! One run that this process drives.

use super::{DriveEnd, HostError};
use crate::lock::DriverLock;
use crate::turn::LoadedRun;
use remand_kernel::{Program, State};
use remand_ledger::fact::Note;
use remand_ledger::{Reader, ReplayFrom, Replayed, RunId, replay};
use std::sync::Arc;

pub(super) struct DrivenRun {
    program: Arc<Program>,
    /// `None` while the run only waits for a human: the ledger holds everything.
    loaded: Option<Box<LoadedRun>>,
    /// Unrecorded notes while the run is not loaded.
    notes: Vec<Note>,
    /// `None` once the run is over and its background tasks are done, so another process can claim it.
    lock: Option<DriverLock>,
}

impl DrivenRun {
    pub(super) fn new(program: Arc<Program>, loaded: Option<LoadedRun>, lock: DriverLock) -> DrivenRun {
        DrivenRun { program, loaded: loaded.map(Box::new), notes: Vec::new(), lock: Some(lock) }
    }

    /// The run, loaded from the ledger if necessary.
    pub(super) fn load(&mut self, reader: &Reader, run: &RunId) -> Result<&mut LoadedRun, HostError> {
        let loaded = match self.loaded.take() {
            Some(loaded) => loaded,
            None => {
                let state = replay_run(reader, run)?.state;
                Box::new(LoadedRun::with_state(
                    Arc::clone(&self.program),
                    state,
                    std::mem::take(&mut self.notes),
                ))
            }
        };
        Ok(self.loaded.insert(loaded))
    }

    pub(super) fn set_loaded(&mut self, loaded: LoadedRun) {
        self.loaded = Some(Box::new(loaded));
    }

    /// The run, if it is loaded.
    pub(super) fn loaded(&self) -> Option<&LoadedRun> {
        self.loaded.as_deref()
    }

    /// Program and state, if the run is loaded.
    pub(super) fn loaded_state(&self) -> Option<(&Program, &State)> {
        self.loaded().map(|loaded| (&*loaded.program, &loaded.state))
    }

    /// Unloads the run if it only waits for a human.
    pub(super) fn unload_if_waiting(&mut self) {
        if self.loaded.as_ref().is_some_and(|loaded| loaded.is_idle() && loaded.end().is_none()) {
            self.notes = self.loaded.take().map(|loaded| loaded.into_notes()).unwrap_or_default();
        }
    }

    /// Whether this process holds the lock of the run, and so receives its requests.
    pub(super) fn is_held(&self) -> bool {
        self.lock.is_some()
    }

    pub(super) fn release(&mut self) {
        self.lock = None;
    }

    /// Whether the run has ended and nothing of it is running.
    pub(super) fn is_over(&self) -> bool {
        self.loaded.as_ref().is_some_and(|loaded| loaded.is_idle() && loaded.end().is_some())
    }

    pub(super) fn is_idle(&self) -> bool {
        self.loaded.as_ref().is_none_or(|loaded| loaded.is_idle())
    }

    /// The end of the run, or `otherwise` if it has not ended.
    pub(super) fn drive_end(&self, otherwise: DriveEnd) -> DriveEnd {
        let end = self.loaded.as_ref().and_then(|loaded| loaded.end());
        end.map_or(otherwise, |end| DriveEnd::Over(end.clone()))
    }
}

/// Replays a run from its latest snapshot.
pub(super) fn replay_run(reader: &Reader, run: &RunId) -> Result<Replayed, HostError> {
    replay(reader, run, ReplayFrom::Snapshot)
        .map_err(|source| HostError::Replay { run: run.clone(), source: Box::new(source) })
}
