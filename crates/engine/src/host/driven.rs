//! One run that this process drives.

use super::{DriveEnd, HostError};
use crate::lock::DriverLock;
use crate::turn::Book;
use remand_kernel::{Program, State};
use remand_ledger::fact::Note;
use remand_ledger::{Reader, ReplayFrom, Replayed, RunId, replay};
use std::sync::Arc;

pub(super) struct Driven {
    program: Arc<Program>,
    /// None while the run only waits for a human: the ledger has all of it.
    book: Option<Box<Book>>,
    /// Notes of the book while it is closed.
    notes: Vec<Note>,
    /// None once the run is over and everything is done for it, so that another process can have the run.
    lock: Option<DriverLock>,
}

impl Driven {
    pub(super) fn new(program: Arc<Program>, book: Option<Book>, lock: DriverLock) -> Driven {
        Driven { program, book: book.map(Box::new), notes: Vec::new(), lock: Some(lock) }
    }

    /// The book, read from the ledger if it is closed.
    pub(super) fn open_book(&mut self, reader: &Reader, run: &RunId) -> Result<&mut Book, HostError> {
        let book = match self.book.take() {
            Some(book) => book,
            None => {
                let state = read(reader, run)?.state;
                Box::new(Book::open(Arc::clone(&self.program), state, std::mem::take(&mut self.notes)))
            }
        };
        Ok(self.book.insert(book))
    }

    pub(super) fn set_book(&mut self, book: Book) {
        self.book = Some(Box::new(book));
    }

    /// The book, if it is open.
    pub(super) fn book(&self) -> Option<&Book> {
        self.book.as_deref()
    }

    /// Program and state, if the book is open.
    pub(super) fn at_hand(&self) -> Option<(&Program, &State)> {
        self.book().map(|book| (&*book.program, &book.state))
    }

    /// Closes the book if the run only waits for a human.
    pub(super) fn park(&mut self) {
        if self.book.as_ref().is_some_and(|book| book.is_idle() && book.end().is_none()) {
            self.notes = self.book.take().map(|book| book.close()).unwrap_or_default();
        }
    }

    /// Whether requests to the run are for this process.
    pub(super) fn is_held(&self) -> bool {
        self.lock.is_some()
    }

    pub(super) fn release(&mut self) {
        self.lock = None;
    }

    /// Whether the run has ended and nothing of it is running.
    pub(super) fn is_over(&self) -> bool {
        self.book.as_ref().is_some_and(|book| book.is_idle() && book.end().is_some())
    }

    pub(super) fn is_idle(&self) -> bool {
        self.book.as_ref().is_none_or(|book| book.is_idle())
    }

    /// How the drive of this run ended, if the run itself did not.
    pub(super) fn drive_end(&self, otherwise: DriveEnd) -> DriveEnd {
        let end = self.book.as_ref().and_then(|book| book.end());
        end.map_or(otherwise, |end| DriveEnd::Over(end.clone()))
    }
}

/// Where a run stands, from its latest snapshot on.
pub(super) fn read(reader: &Reader, run: &RunId) -> Result<Replayed, HostError> {
    replay(reader, run, ReplayFrom::Snapshot)
        .map_err(|source| HostError::Replay { run: run.clone(), source: Box::new(source) })
}
