//! The wish from outside that a conversation ends: first it is told to the agent, then there is no more time.

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use futures::future::pending;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::time::Duration;

/// How far the wish is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wished {
    Asked,
    TooLate,
}

/// Whoever waits for it.
pub struct Cancel(UnboundedReceiver<Wished>);

impl Cancel {
    /// Listens for the signals that ask this process to end, and gives that much time then.
    pub fn listen(grace: Duration) -> io::Result<Cancel> {
        let mut signals = Signals::new([SIGTERM, SIGINT])?;
        let (telling, told) = unbounded();
        std::thread::spawn(move || {
            if signals.forever().next().is_some() && telling.unbounded_send(Wished::Asked).is_ok() {
                std::thread::sleep(grace);
                let _ = telling.unbounded_send(Wished::TooLate);
            }
        });
        Ok(Cancel(told))
    }

    /// The next step of the wish, if ever there is one.
    pub async fn wished(&mut self) -> Wished {
        match self.0.next().await {
            Some(wished) => wished,
            None => pending().await,
        }
    }
}
