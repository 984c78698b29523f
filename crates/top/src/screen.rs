//! The terminal while the view has it: its own screen, no echo, keys as they are pressed. It is given back as it was.

use ratatui::Terminal;
use ratatui::backend::TermionBackend;
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcsetattr};
use std::io::{self, Stdout, Write, stdin, stdout};
use std::panic;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use termion::{cursor, screen};

/// How the terminal was before, while the view has it. The hook for panics needs it where no screen can be reached.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// The hook stays for the rest of the process.
static HOOK: Once = Once::new();

/// Why the terminal cannot show the view.
#[derive(Debug, thiserror::Error)]
pub enum ScreenError {
    #[error("standard input and standard output are not a terminal")]
    NoTerminal,
    #[error("the terminal cannot be set up")]
    Terminal(#[from] io::Error),
}

impl From<rustix::io::Errno> for ScreenError {
    fn from(errno: rustix::io::Errno) -> ScreenError {
        ScreenError::Terminal(errno.into())
    }
}

/// The terminal of the view. Dropping it gives the terminal back.
pub struct TerminalScreen {
    pub terminal: Terminal<TermionBackend<Stdout>>,
}

impl TerminalScreen {
    pub fn open() -> Result<TerminalScreen, ScreenError> {
        if !isatty(stdin()) || !isatty(stdout()) {
            return Err(ScreenError::NoTerminal);
        }
        HOOK.call_once(|| {
            let report = panic::take_hook();
            panic::set_hook(Box::new(move |about| {
                // The report would be lost on the screen of the view.
                give_back();
                report(about);
            }));
        });
        let terminal = Terminal::new(TermionBackend::new(stdout()))?;
        let mut screen = TerminalScreen { terminal };
        screen.take()?;
        Ok(screen)
    }

    /// Takes the terminal, again after [`TerminalScreen::release`].
    pub fn take(&mut self) -> Result<(), ScreenError> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        *saved() = Some(before);
        tcsetattr(stdin(), OptionalActions::Drain, &raw)?;
        let mut out = stdout();
        write!(out, "{}{}", screen::ToAlternateScreen, cursor::Hide)?;
        out.flush()?;
        self.terminal.clear()?;
        Ok(())
    }

    /// Gives the terminal back until it is taken again.
    pub fn release(&mut self) {
        give_back();
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        give_back();
    }
}

fn saved() -> MutexGuard<'static, Option<Termios>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the terminal as it was. Does nothing the second time.
fn give_back() {
    let Some(before) = saved().take() else { return };
    let mut out = stdout();
    // A terminal that is gone cannot be set up, and needs not.
    let _ = write!(out, "{}{}", screen::ToMainScreen, cursor::Show);
    let _ = out.flush();
    let _ = tcsetattr(stdin(), OptionalActions::Drain, &before);
}
