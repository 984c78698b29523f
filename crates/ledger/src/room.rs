//! Room in the write-ahead log. A commit that writes over what is there waits for the disk about half as long as one that
//! makes the file longer, so the file is made longer ahead, for many commits at once.

use crate::error::Fault;
use rusqlite::Connection;
use rusqlite::hooks::Wal;
use std::ffi::{OsString, c_int};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pages of the log after which it is written back, and begun again at its first byte. A checkpoint syncs three times:
/// once in some hundred steps.
const CHECKPOINT: u64 = 4_000;

/// Bytes by which the file is made longer.
const STRIDE: usize = 256 * 1024;

/// Pages for which there must be room: a step writes fewer.
const STEP: u64 = 16;

/// What the log has before the first page, and before each.
const HEADER: u64 = 32;
const FRAME: u64 = 24;

/// The log of one connection that writes.
#[derive(Debug)]
pub(crate) struct Room {
    path: PathBuf,
    file: Option<File>,
    page: u64,
    /// How many pages were in the log after the last commit of this connection; none before its first.
    pages: Arc<AtomicU64>,
    /// How long the file was when it was last looked at.
    len: u64,
}

impl Room {
    /// Watches over the log of a ledger.
    pub(crate) fn of(conn: &mut Connection, ledger: &Path) -> Result<Room, Fault> {
        let page: u32 = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&pages);
        conn.wal_hook(Some(move |log: &mut Wal, pages: c_int| {
            let pages = u64::try_from(pages).unwrap_or(0);
            counted.store(pages, Ordering::Relaxed);
            if pages >= CHECKPOINT {
                // The commit is done; what could not be written back now is so later.
                let _ = log.checkpoint();
            }
            Ok(())
        }))?;
        let mut path = OsString::from(ledger);
        path.push("-wal");
        Ok(Room { path: path.into(), file: None, page: u64::from(page), pages, len: 0 })
    }

    /// Whether this connection committed anything.
    pub(crate) fn was_used(&self) -> bool {
        self.pages.load(Ordering::Relaxed) > 0
    }

    /// Sees to it that there is room for the next commit. To be called in a transaction that writes: nobody else writes
    /// behind the end of the file then. What is put there counts for nothing: zeros are no page with a right checksum.
    pub(crate) fn make(&mut self) {
        let pages = self.pages.load(Ordering::Relaxed);
        let needed = HEADER + (pages + STEP) * (FRAME + self.page);
        // Whoever commits once does not come to use it.
        if pages > 0 && needed > self.len {
            // Without room a commit takes longer, and that is all.
            let _ = self.lengthen(needed);
        }
    }

    fn lengthen(&mut self, needed: u64) -> std::io::Result<()> {
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
