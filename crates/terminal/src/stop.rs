//! Signals that ask this process to end.

use remand_process::Cancel;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Time between two checks for a signal.
const POLL: Duration = Duration::from_millis(20);

/// A flag that is set when a signal asks this process to end.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens for SIGINT, SIGTERM and SIGHUP; a second one ends the process immediately.
    pub fn listen() -> Stop {
        let stop = Stop::default();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
        {
            // If this fails, the signal ends the process immediately; the run can still be resumed.
            let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop.0));
            let _ = signal_hook::flag::register(signal, Arc::clone(&stop.0));
        }
        stop
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Runs work, and cancels its child processes when a signal asks this process to end.
    pub fn run_cancellable<T>(&self, work: impl FnOnce(&Cancel) -> T) -> T {
        let (cancel, is_done) = (Cancel::new(), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::SeqCst) && !self.is_set() {
                    thread::sleep(POLL);
                }
                if self.is_set() {
                    cancel.cancel();
                }
            });
            let _end = SetOnDrop(&is_done);
            work(&cancel)
        })
    }
}

/// Marks the work as done, even if it panics.
struct SetOnDrop<'o>(&'o AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
