//! Space in the write-ahead log. A commit that overwrites existing bytes syncs about twice as fast as one that extends
//! the file, so the file is extended ahead of time, by enough for many commits.

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
/// times, so it runs only once in several hundred steps.
const CHECKPOINT_PAGES: u64 = 4_000;

/// Bytes added to the file at a time.
const EXTENSION: usize = 256 * 1024;

/// Pages to keep free. One step writes fewer pages.
const SPARE_PAGES: u64 = 16;

/// Bytes of the header of the log, and of the header of each page in it.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// The write-ahead log of a writing connection.
#[derive(Debug)]
pub(crate) struct LogSpace {
    path: PathBuf,
    file: Option<File>,
    page_size: u64,
    /// Pages in the log after this connection's last commit; zero before the first.
    pages: Arc<AtomicU64>,
    /// Last known length of the file.
    len: u64,
}

impl LogSpace {
    /// Counts the pages in the log of a ledger from now on.
    pub(crate) fn of(conn: &mut Connection, ledger: &Path) -> Result<LogSpace, Fault> {
        let page_size: u32 = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = Arc::new(AtomicU64::new(0));
        let page_count = Arc::clone(&pages);
        conn.wal_hook(Some(move |log: &mut Wal, pages: c_int| {
            let pages = u64::try_from(pages).unwrap_or(0);
            page_count.store(pages, Ordering::Relaxed);
            if pages >= CHECKPOINT_PAGES {
                // The commit is done; a later checkpoint writes back what this one could not.
                let _ = log.checkpoint();
            }
            Ok(())
        }))?;
        let mut path = OsString::from(ledger);
        path.push("-wal");
        Ok(LogSpace { path: path.into(), file: None, page_size: u64::from(page_size), pages, len: 0 })
    }

    /// Whether this connection has committed anything.
    pub(crate) fn has_commits(&self) -> bool {
        self.pages.load(Ordering::Relaxed) > 0
    }

    /// Makes space for the next commit. Call it inside a write transaction: then no other process appends to the file.
    /// SQLite ignores the added zeros: they have no valid checksum.
    pub(crate) fn ensure_space(&mut self) {
        let pages = self.pages.load(Ordering::Relaxed);
        let needed = LOG_HEADER + (pages + SPARE_PAGES) * (FRAME_HEADER + self.page_size);
        // A connection that commits only once would never use the space.
        if pages > 0 && needed > self.len {
            // On failure, commits only take longer.
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
            file.write_all(&vec![0; EXTENSION])?;
            self.len += EXTENSION as u64;
        }
        Ok(())
    }
}
