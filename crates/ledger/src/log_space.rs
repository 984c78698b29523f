//! Space in the write-ahead log. A commit that overwrites existing bytes syncs about twice as fast as one that extends the
//! file, so the file is extended ahead of time, for many commits at once.

use crate::error::Fault;
use rusqlite::Connection;
use rusqlite::hooks::Wal;
use std::ffi::{OsString, c_int};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pages in the log that trigger a checkpoint, after which the log restarts at its first byte. A checkpoint syncs three
/// times, so it runs once in some hundred steps.
const CHECKPOINT: u64 = 4_000;

/// Bytes added to the file at a time.
const STRIDE: usize = 256 * 1024;

/// Pages to keep free; a step writes fewer.
const STEP: u64 = 16;

/// Bytes before the first page of the log, and before each page.
const HEADER: u64 = 32;
const FRAME: u64 = 24;

/// The log of a writing connection.
#[derive(Debug)]
pub(crate) struct LogSpace {
    path: PathBuf,
    file: Option<File>,
    page: u64,
    /// Pages in the log after this connection's last commit; zero before the first.
    pages: Arc<AtomicU64>,
    /// Last known length of the file.
    len: u64,
}

impl LogSpace {
    /// Watches the log of a ledger.
    pub(crate) fn of(conn: &mut Connection, ledger: &Path) -> Result<LogSpace, Fault> {
        let page: u32 = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&pages);
        conn.wal_hook(Some(move |log: &mut Wal, pages: c_int| {
            let pages = u64::try_from(pages).unwrap_or(0);
            counted.store(pages, Ordering::Relaxed);
            if pages >= CHECKPOINT {
                // The commit is done; a later checkpoint writes back what this one could not.
                let _ = log.checkpoint();
            }
            Ok(())
        }))?;
        let mut path = OsString::from(ledger);
        path.push("-wal");
        Ok(LogSpace { path: path.into(), file: None, page: u64::from(page), pages, len: 0 })
    }

    /// Whether this connection committed anything.
    pub(crate) fn was_used(&self) -> bool {
        self.pages.load(Ordering::Relaxed) > 0
    }

    /// Makes space for the next commit. Call it inside a write transaction, when nobody else appends to the file. SQLite
    /// ignores the zeros: they have no valid checksum.
    pub(crate) fn ensure(&mut self) {
        let pages = self.pages.load(Ordering::Relaxed);
        let needed = HEADER + (pages + STEP) * (FRAME + self.page);
        // A connection that commits only once would never use it.
        if pages > 0 && needed > self.len {
            // Without the space a commit only takes longer.
            let _ = self.extend(needed);
        }
    }

    fn extend(&mut self, needed: u64) -> std::io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(OpenOptions::new().write(true).open(&self.path)?),
        };
        self.len = file.seek(SeekFrom::End(0))?;
        if needed > self.len {
            file.write_all(&vec![0; STRIDE])?;
            self.len += STRIDE as u64;
        }
        Ok(())
    }
}
