//! So many agents at once: a place has to be free before a dispatch starts its agent.

use crate::process::Cancel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a dispatch waits before it looks again whether it was cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// The places that all runs of a process share.
#[derive(Clone, Debug)]
pub struct Places {
    free: Arc<Mutex<u32>>,
}

/// A place that is taken; it is free again when this goes.
#[derive(Debug)]
pub struct Taken {
    free: Arc<Mutex<u32>>,
}

impl Places {
    pub fn new(count: u32) -> Places {
        Places { free: Arc::new(Mutex::new(count.max(1))) }
    }

    /// Waits for a place; none when the wait was cancelled.
    pub fn take(&self, cancel: &Cancel) -> Option<Taken> {
        loop {
            {
                let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
                if *free > 0 {
                    *free -= 1;
                    return Some(Taken { free: Arc::clone(&self.free) });
                }
            }
            if cancel.wait(LOOK) {
                return None;
            }
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_its_taker_is_gone() {
        let (places, cancel) = (Places::new(1), Cancel::new());
        let first = places.take(&cancel).expect("free");
        let waiting = {
            let (places, cancel) = (places.clone(), cancel.clone());
            std::thread::spawn(move || places.take(&cancel).is_some())
        };
        drop(first);
        assert!(waiting.join().expect("joined"));
    }

    #[test]
    fn a_cancelled_wait_takes_nothing() {
        let (places, cancel) = (Places::new(1), Cancel::new());
        let _held = places.take(&cancel).expect("free");
        cancel.cancel();
        assert!(places.take(&cancel).is_none());
    }
}
