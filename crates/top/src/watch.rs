//! The loop of the view: keys, signals, what has changed, and the clock.

use crate::keys::{Key, keys};
use crate::screen::{ScreenError, TerminalScreen};
use crate::view::{Desk, TopView, TopWish};
use remand_engine::clock;
use remand_ledger::RunId;
use remand_terminal::Ink;
use remand_views::{Pulse, RepositoryState, RunSite, ViewProblem};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use std::io::{self, stdin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the ledgers are looked at. A key is handled as soon as it is pressed.
const POLL: Timespec = Timespec { tv_sec: 0, tv_nsec: 250_000_000 };

/// Ages and times are drawn this often while nothing happens.
const TICK: Duration = Duration::from_secs(1);

/// Why the view ends other than by its user's wish.
#[derive(Debug, thiserror::Error)]
pub enum TopError {
    #[error(transparent)]
    Screen(#[from] ScreenError),
    #[error(transparent)]
    View(#[from] ViewProblem),
    #[error("the terminal cannot be read")]
    Keys(#[source] io::Error),
}

/// Signals that this process received.
struct Signals {
    end: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    resized: Arc<AtomicBool>,
}

impl Signals {
    fn listen() -> io::Result<Signals> {
        let signals = Signals { end: Arc::default(), stop: Arc::default(), resized: Arc::default() };
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            signal_hook::flag::register(signal, Arc::clone(&signals.end))?;
        }
        signal_hook::flag::register(SIGTSTP, Arc::clone(&signals.stop))?;
        for signal in [SIGWINCH, SIGCONT] {
            signal_hook::flag::register(signal, Arc::clone(&signals.resized))?;
        }
        Ok(signals)
    }
}

fn take(flag: &AtomicBool) -> bool {
    flag.swap(false, Ordering::Relaxed)
}

/// Shows the runs of a user until the user leaves, or a signal asks this process to end.
pub fn show(
    site: &RunSite,
    desk: &dyn Desk,
    first: Option<(RepositoryState, RunId)>,
    ink: Ink,
) -> Result<(), TopError> {
    let mut view = TopView::new(site, ink)?;
    if let Some((repository, run)) = first {
        view.open(&repository, &run)?;
    }
    let signals = Signals::listen().map_err(TopError::Keys)?;
    let mut screen = TerminalScreen::open()?;
    let mut pulse = Pulse::default();
    let mut state = None;
    let mut drawn: Option<Instant> = None;
    while !signals.end.load(Ordering::Relaxed) {
        // A ledger that cannot be read now shows what it showed, until it can be read.
        let seen = pulse.read(site, &view.watched()).ok();
        let mut is_new = drawn.is_none() || take(&signals.resized);
        if seen != state && seen.is_some() {
            if state.is_some() {
                view.update(Instant::now());
            }
            (state, is_new) = (seen, true);
        }
        if is_new || drawn.is_none_or(|drawn| drawn.elapsed() >= TICK) {
            draw(&mut screen, &mut view)?;
            drawn = Some(Instant::now());
        }
        for key in next_keys().map_err(TopError::Keys)? {
            let wish = match key {
                Key::Suspend => {
                    signals.stop.store(true, Ordering::Relaxed);
                    TopWish::Nothing
                }
                Key::Redraw => {
                    screen.terminal.clear().map_err(ScreenError::from)?;
                    TopWish::Nothing
                }
                key => view.press(key, Instant::now()),
            };
            match wish {
                TopWish::Nothing => {}
                TopWish::Quit => return Ok(()),
                TopWish::OpenPage(repository, run) => {
                    let outcome = desk.open_page(&repository, &run);
                    view.tell(outcome);
                }
                TopWish::Diff(repository, run) => {
                    screen.release();
                    let outcome = desk.page_diff(&repository, &run);
                    screen.take()?;
                    // Ctrl-C was meant for the pager.
                    signals.end.store(false, Ordering::Relaxed);
                    if let Err(why) = outcome {
                        view.tell(Err(why));
                    }
                }
            }
            drawn = None;
        }
        if take(&signals.stop) {
            screen.release();
            signal_hook::low_level::emulate_default_handler(SIGTSTP).map_err(TopError::Keys)?;
            screen.take()?;
            drawn = None;
        }
    }
    Ok(())
}

fn draw(screen: &mut TerminalScreen, view: &mut TopView<'_>) -> Result<(), TopError> {
    screen.terminal.draw(|frame| view.draw(frame, clock::now())).map_err(ScreenError::from)?;
    Ok(())
}

/// The keys that were pressed, after at most one interval. The end of the input is an interrupt.
fn next_keys() -> io::Result<Vec<Key>> {
    match poll(&mut [PollFd::new(&stdin(), PollFlags::IN)], Some(&POLL)) {
        Ok(0) | Err(Errno::INTR) => return Ok(Vec::new()),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let mut bytes = [0; 1024];
    match rustix::io::read(stdin(), &mut bytes) {
        Ok(0) => Ok(vec![Key::Interrupt]),
        Ok(read) => Ok(keys(&bytes[..read])),
        Err(Errno::INTR) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}
