//! Cancellation of a conversation by signal: the agent is asked to stop, and after a grace period it is ended.

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use futures::future::pending;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::time::Duration;

/// The stages of a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelStage {
    Requested,
    /// The grace period is over.
    Expired,
}

/// Receives the stages of a cancellation.
pub struct CancelSignals(UnboundedReceiver<CancelStage>);

impl CancelSignals {
    /// Listens for the signals that ask this process to end. The first one starts the grace period.
    pub fn listen(grace: Duration) -> io::Result<CancelSignals> {
        let mut signals = Signals::new([SIGTERM, SIGINT])?;
        let (sender, receiver) = unbounded();
        std::thread::spawn(move || {
            if signals.forever().next().is_some() && sender.unbounded_send(CancelStage::Requested).is_ok() {
                std::thread::sleep(grace);
                // Sending fails if the conversation is over.
                let _ = sender.unbounded_send(CancelStage::Expired);
            }
        });
        Ok(CancelSignals(receiver))
    }

    /// Waits for the next stage, forever if there is none.
    pub async fn next_stage(&mut self) -> CancelStage {
        match self.0.next().await {
            Some(stage) => stage,
            None => pending().await,
        }
    }
}
