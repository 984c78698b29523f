//! What a person sees while a run goes on: a live view on a terminal, plain lines elsewhere, JSON lines on request.

mod json;
mod live;
mod plain;
mod words;

use crate::table::ink::is_able;
use remand_runtime::host::Watch;
use remand_runtime::process::Cancel;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

pub use json::JsonLines;
pub use live::Live;
pub use plain::Plain;

/// The pause between two looks at whether the process was asked to end.
const LOOK: Duration = Duration::from_millis(20);

/// Set by the signals that ask a process to end.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens for an interrupt, a hang-up and a request to terminate; a second one ends the process at once.
    pub fn listen() -> Stop {
        let stop = Stop::default();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
        {
            // A process that cannot listen is ended by the signal itself, and its run can be resumed all the same.
            let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop.0));
            let _ = signal_hook::flag::register(signal, Arc::clone(&stop.0));
        }
        stop
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does work whose processes are ended when this one is asked to end.
    pub fn heeded_by<T>(&self, work: impl FnOnce(&Cancel) -> T) -> T {
        let (cancel, over) = (Cancel::new(), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) && !self.is_set() {
                    thread::sleep(LOOK);
                }
                if self.is_set() {
                    cancel.cancel();
                }
            });
            let _end = AtEnd(&over);
            work(&cancel)
        })
    }
}

/// Tells that work is over, however it ended.
struct AtEnd<'o>(&'o AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The view that fits where the output goes.
pub fn view(json: bool, stop: &Stop) -> Box<dyn Watch> {
    if json {
        Box::new(JsonLines::new(stop.clone()))
    } else if is_able(&std::io::stderr()) {
        Box::new(Live::new(stop.clone()))
    } else {
        Box::new(Plain::new(stop.clone()))
    }
}
