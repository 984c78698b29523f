//! The stream of a window: one message whenever what it shows has changed.
//!
//! A message says only which state is current. A window that missed messages sees that its own state is another one, and
//! reads its page again.

use super::audience::Watching;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream::{self, Stream};
use remand_views::{Pulse, RunSite, Watched};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How often a window's state is looked at.
const POLL: Duration = Duration::from_millis(300);
/// How often a quiet stream says that it lives. The script takes three missing ones for a lost stream.
const BEAT: Duration = Duration::from_secs(2);

struct Window {
    site: Arc<RunSite>,
    watched: Watched,
    pulse: Pulse,
    last: Option<String>,
    ended: watch::Receiver<bool>,
    _watching: Watching,
}

/// The messages for a window, until the server ends.
pub fn messages(
    site: Arc<RunSite>,
    watched: Watched,
    watching: Watching,
    ended: watch::Receiver<bool>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let window = Window { site, watched, pulse: Pulse::default(), last: None, ended, _watching: watching };
    let events = stream::unfold(window, |mut window| async move {
        loop {
            if *window.ended.borrow() {
                return None;
            }
            let read = tokio::task::spawn_blocking(move || {
                let Window { site, watched, pulse, .. } = &mut window;
                let state = pulse.read(site, watched);
                (window, state)
            });
            let (back, state) = read.await.ok()?;
            window = back;
            // A stream that cannot say what is current ends, and the window says so.
            let state = state.ok()?;
            if window.last.as_ref() != Some(&state) {
                window.last = Some(state.clone());
                let event = Event::default().event("state").id(state.clone()).data(state);
                return Some((Ok(event), window));
            }
            let stopped = tokio::time::timeout(POLL, window.ended.changed()).await;
            if let Ok(Err(_)) = stopped {
                return None;
            }
        }
    });
    Sse::new(events)
        .keep_alive(KeepAlive::new().interval(BEAT).event(Event::default().event("beat").data("")))
}
