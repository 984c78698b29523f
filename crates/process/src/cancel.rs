//! A token that cancels jobs from another thread.

use super::message::JobMessage;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A token that cancels jobs. Clones share one state, and a cancelled token stays cancelled.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    cancelled: bool,
    next_id: u64,
    wakers: Vec<(u64, Sender<JobMessage>)>,
}

impl Cancel {
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Ends every job that runs under this token and prevents later ones from starting.
    pub fn cancel(&self) {
        let mut state = self.state();
        state.cancelled = true;
        for (_, waker) in state.wakers.drain(..) {
            // The send fails if the job is over and has dropped its receiver; there is nothing left to cancel.
            let _ = waker.send(JobMessage::Cancelled);
        }
        self.shared.changed.notify_all();
    }

    pub fn is_cancelled(&self) -> bool {
        self.state().cancelled
    }

    /// Waits until the token is cancelled or the timeout is over; returns whether it is cancelled.
    pub fn wait(&self, timeout: Duration) -> bool {
        let state = self.state();
        let waited = self.shared.changed.wait_timeout_while(state, timeout, |state| !state.cancelled);
        waited.unwrap_or_else(PoisonError::into_inner).0.cancelled
    }

    /// Sends `Cancelled` to the waker when the token is cancelled, unless the returned watch was dropped before.
    pub(super) fn watch(&self, waker: Sender<JobMessage>) -> CancelWatch {
        let mut state = self.state();
        let id = state.next_id;
        state.next_id += 1;
        if state.cancelled {
            // The send fails only if the job is already over.
            let _ = waker.send(JobMessage::Cancelled);
        } else {
            state.wakers.push((id, waker));
        }
        CancelWatch { cancel: self.clone(), id }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Unregisters the waker on drop.
pub(super) struct CancelWatch {
    cancel: Cancel,
    id: u64,
}

impl Drop for CancelWatch {
    fn drop(&mut self) {
        self.cancel.state().wakers.retain(|(id, _)| *id != self.id);
    }
}
