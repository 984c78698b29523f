//! The limit on agents that work at the same time: a dispatch needs a free slot before it starts its agent.

use remand_process::Cancel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often a waiting dispatch checks whether it was cancelled.
const POLL: Duration = Duration::from_millis(50);

/// The slots that all runs of a process share.
#[derive(Clone, Debug)]
pub struct AgentSlots {
    free: Arc<Mutex<u32>>,
}

/// A slot in use; dropping it frees the slot.
#[derive(Debug)]
pub struct AgentSlot {
    free: Arc<Mutex<u32>>,
}

impl AgentSlots {
    pub fn new(count: u32) -> AgentSlots {
        AgentSlots { free: Arc::new(Mutex::new(count.max(1))) }
    }

    /// Waits for a slot; `None` if the wait was cancelled.
    pub fn acquire(&self, cancel: &Cancel) -> Option<AgentSlot> {
        loop {
            {
                let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
                if *free > 0 {
                    *free -= 1;
                    return Some(AgentSlot { free: Arc::clone(&self.free) });
                }
            }
            if cancel.wait(POLL) {
                return None;
            }
        }
    }
}

impl Drop for AgentSlot {
    fn drop(&mut self) {
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_free_again_when_its_guard_is_dropped() {
        let (slots, cancel) = (AgentSlots::new(1), Cancel::new());
        let first = slots.acquire(&cancel).expect("free");
        let waiting = {
            let (slots, cancel) = (slots.clone(), cancel.clone());
            std::thread::spawn(move || slots.acquire(&cancel).is_some())
        };
        drop(first);
        assert!(waiting.join().expect("joined"));
    }

    #[test]
    fn a_cancelled_wait_takes_no_slot() {
        let (slots, cancel) = (AgentSlots::new(1), Cancel::new());
        let _held = slots.acquire(&cancel).expect("free");
        cancel.cancel();
        assert!(slots.acquire(&cancel).is_none());
    }
}
