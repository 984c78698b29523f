//! A token that ends jobs from another thread.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Is shared by clones; once cancelled, it stays so.
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
    next: u64,
    wakers: Vec<(u64, Sender<super::run::News>)>,
}

impl Cancel {
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Ends every job that runs under this token, and keeps later ones from starting.
    pub fn cancel(&self) {
        let mut state = self.state();
        state.cancelled = true;
        for (_, waker) in state.wakers.drain(..) {
            // A job that is over has dropped its end; there is nobody to tell.
            let _ = waker.send(super::run::News::Cancelled);
        }
        self.shared.changed.notify_all();
    }

    pub fn is_cancelled(&self) -> bool {
        self.state().cancelled
    }

    /// Waits until the token is cancelled or the time is over; tells whether it is cancelled.
    pub fn wait(&self, time: Duration) -> bool {
        let state = self.state();
        let waited = self.shared.changed.wait_timeout_while(state, time, |state| !state.cancelled);
        waited.unwrap_or_else(PoisonError::into_inner).0.cancelled
    }

    /// Sends one `Cancelled` to the waker, at once if that happened already, as long as the watch lives.
    pub(super) fn watch(&self, waker: Sender<super::run::News>) -> CancelWatch {
        let mut state = self.state();
        let id = state.next;
        state.next += 1;
        if state.cancelled {
            let _ = waker.send(super::run::News::Cancelled);
        } else {
            state.wakers.push((id, waker));
        }
        CancelWatch { cancel: self.clone(), id }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Withdraws the waker when it is dropped.
pub(super) struct CancelWatch {
    cancel: Cancel,
    id: u64,
}

impl Drop for CancelWatch {
    fn drop(&mut self) {
        self.cancel.state().wakers.retain(|(id, _)| *id != self.id);
    }
}
