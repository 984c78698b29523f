//! Whether anybody looks: windows with an open stream, and the last request.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The windows of one server.
#[derive(Debug)]
pub struct Audience {
    watching: AtomicUsize,
    last: Mutex<Instant>,
}

impl Default for Audience {
    fn default() -> Audience {
        Audience { watching: AtomicUsize::new(0), last: Mutex::new(Instant::now()) }
    }
}

/// An open stream; its window counts until it is dropped.
#[derive(Debug)]
pub struct Watching(Arc<Audience>);

impl Audience {
    pub fn looked(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub fn watch(self: &Arc<Audience>) -> Watching {
        self.watching.fetch_add(1, Ordering::SeqCst);
        Watching(Arc::clone(self))
    }

    pub fn is_gone_for(&self, time: Duration) -> bool {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        self.watching.load(Ordering::SeqCst) == 0 && last.elapsed() >= time
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.looked();
        self.0.watching.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_with_an_open_stream_looks_however_quiet_it_is() {
        let audience = Arc::new(Audience::default());
        assert!(audience.is_gone_for(Duration::ZERO));
        assert!(!audience.is_gone_for(Duration::from_secs(60)));
        let window = audience.watch();
        assert!(!audience.is_gone_for(Duration::ZERO));
        drop(window);
        assert!(audience.is_gone_for(Duration::ZERO));
    }
}
