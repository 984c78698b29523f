//! The one writer of a process: appends entries, many to a commit, and takes requests of other processes.

use crate::chain::{GENESIS, Link};
use crate::entry::Entry;
use crate::error::{Fault, LedgerError};
use crate::fact::{BlobId, Facts, Millis, RunId};
use crate::project::{self, Memo, Placed};
use crate::query::Reader;
use crate::replay::ReplayError;
use crate::{rebuild, schema};
use remand_kernel::Event;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::collections::{BTreeMap, HashMap};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The state of a run is kept every so many events, so that a resume reads at most as many.
pub const SNAPSHOT_EVERY: i64 = 128;

const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const HEAD: &str = "SELECT id, hash FROM events ORDER BY id DESC LIMIT 1";
const LAST: &str = "SELECT seq, at FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1";
const UNDER_WAY: &str = "SELECT run FROM runs WHERE file = ?1 AND ended IS NULL LIMIT 1";
const APPEND: &str = "INSERT INTO events (id, run, seq, at, kind, body, facts, rulings, commands, hash)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const HAS_BLOB: &str = "SELECT 1 FROM blobs WHERE id = ?1";
const STORE_BLOB: &str = "INSERT INTO blobs (id, size, body) VALUES (?1, ?2, ?3)";
const SNAP: &str = "INSERT OR REPLACE INTO snapshots (run, seq, state, open) VALUES (?1, ?2, ?3, ?4)";
const FORGET: &str = "DELETE FROM snapshots WHERE run = ?1 AND seq <= ?2";
const REQUEST: &str = "INSERT INTO requests (run, at, body) VALUES (?1, ?2, ?3)";
const CONSUME: &str = "DELETE FROM requests WHERE id = ?1 AND run = ?2 AND refused IS NULL";
const REFUSE: &str = "UPDATE requests SET refused = ?2 WHERE id = ?1 AND refused IS NULL";

/// The writing connection.
#[derive(Debug)]
pub struct Ledger {
    conn: Connection,
    path: PathBuf,
    /// How far this process took each run; a run that is further was taken on by another one.
    taken: HashMap<RunId, i64>,
    memos: HashMap<RunId, Memo>,
}

impl Ledger {
    /// Opens a ledger, or makes one that only its owner can read.
    pub fn open(path: &Path) -> Result<Ledger, LedgerError> {
        create(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags).map_err(Fault::from).and_then(|mut conn| {
            schema::prepare(&mut conn, path)?;
            Ok(conn)
        });
        let conn = opened.map_err(|fault| LedgerError::from_fault(path, fault))?;
        Ok(Ledger { conn, path: path.to_path_buf(), taken: HashMap::new(), memos: HashMap::new() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.conn
    }

    /// A connection of its own for reading.
    pub fn reader(&self) -> Result<Reader, LedgerError> {
        Reader::open(&self.path)
    }

    /// Appends entries of any runs in one commit with one sync, and gives the number of each in its run. On an error
    /// nothing of it was written.
    pub fn append(&mut self, entries: &[Entry<'_>]) -> Result<Vec<u64>, LedgerError> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let mut batch = Batch { taken: &self.taken, memos: &mut self.memos, runs: BTreeMap::new() };
        let written = commit(&self.conn, &mut batch, entries);
        let runs = std::mem::take(&mut batch.runs);
        let seqs = written.map_err(|fault| LedgerError::from_fault(&self.path, fault))?;
        for (run, progress) in runs {
            self.taken.insert(run.clone(), progress.seq);
            if !progress.over {
                self.memos.insert(run.clone(), progress.memo);
            }
        }
        Ok(seqs)
    }

    /// Says how far the caller knows a run, after a replay; an append after that fails when the run is further.
    pub fn take_up(&mut self, run: &RunId, seq: u64) {
        self.taken.insert(run.clone(), i64::try_from(seq).unwrap_or(i64::MAX));
        self.memos.remove(run);
    }

    /// Forgets what is only kept to write less, of a run that nothing is appended to for long.
    pub fn lay_aside(&mut self, run: &RunId) {
        self.memos.remove(run);
    }

    /// Leaves a request for the process that drives the run.
    pub fn request(&mut self, run: &RunId, at: Millis, event: &Event) -> Result<i64, LedgerError> {
        let asked = || -> Result<i64, Fault> {
            let body = serde_json::to_string(event)?;
            self.conn.prepare_cached(REQUEST)?.execute(params![run, at, body])?;
            Ok(self.conn.last_insert_rowid())
        };
        asked().map_err(|fault| LedgerError::from_fault(&self.path, fault))
    }

    /// Turns a request down for a reason that the process that asked can read.
    pub fn refuse(&mut self, request: i64, reason: &str) -> Result<(), LedgerError> {
        let refused = || -> Result<usize, Fault> {
            Ok(self.conn.prepare_cached(REFUSE)?.execute(params![request, reason])?)
        };
        match refused().map_err(|fault| LedgerError::from_fault(&self.path, fault))? {
            0 => Err(LedgerError::RequestGone { id: request }),
            _ => Ok(()),
        }
    }

    /// Counts the commits of this connection from now on.
    pub fn count_commits(&mut self) -> Result<Arc<AtomicU64>, LedgerError> {
        let commits = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&commits);
        let hook = move || {
            counter.fetch_add(1, Ordering::Relaxed);
            false
        };
        let hooked = self.conn.commit_hook(Some(hook));
        hooked.map(|()| commits).map_err(|error| LedgerError::from_fault(&self.path, error.into()))
    }

    /// Makes all projections again from the journal, and gives the number of events.
    pub fn rebuild(&mut self) -> Result<u64, ReplayError> {
        self.memos.clear();
        rebuild::rebuild(&mut self.conn).map_err(|error| error.at(&self.path))
    }
}

/// Makes the file with the right mode before SQLite does, which gives its companions the same mode.
fn create(path: &Path) -> Result<(), LedgerError> {
    let unwritable = |error: std::io::Error| LedgerError::Unwritable {
        path: path.to_path_buf(),
        detail: error.to_string(),
    };
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let file = options.open(path).map_err(unwritable)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = file.metadata().map_err(unwritable)?.permissions().mode();
        if mode & 0o077 != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(unwritable)?;
        }
    }
    Ok(())
}

/// What a batch knows of the runs that it touches.
struct Batch<'l, 'e> {
    taken: &'l HashMap<RunId, i64>,
    memos: &'l mut HashMap<RunId, Memo>,
    runs: BTreeMap<&'e RunId, Taken>,
}

/// How far a batch has come with a run.
struct Taken {
    seq: i64,
    at: Millis,
    memo: Memo,
    over: bool,
}

/// One transaction. Its first and its last statement are kept prepared, as the others are.
fn commit<'e>(
    conn: &Connection,
    batch: &mut Batch<'_, 'e>,
    entries: &'e [Entry<'e>],
) -> Result<Vec<u64>, Fault> {
    conn.prepare_cached(BEGIN)?.execute([])?;
    let written = write(conn, batch, entries).and_then(|seqs| {
        conn.prepare_cached(COMMIT)?.execute([])?;
        Ok(seqs)
    });
    if written.is_err() && !conn.is_autocommit() {
        // What failed first is what the caller must know.
        let _ = conn.execute_batch("ROLLBACK");
    }
    written
}

fn write<'e>(
    conn: &Connection,
    batch: &mut Batch<'_, 'e>,
    entries: &'e [Entry<'e>],
) -> Result<Vec<u64>, Fault> {
    let head = conn.prepare_cached(HEAD)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (mut id, mut hash): (i64, [u8; 32]) = head.unwrap_or((0, GENESIS));
    let mut seqs = Vec::with_capacity(entries.len());
    for entry in entries {
        id += 1;
        let run = batch.find(conn, entry)?;
        run.seq += 1;
        run.at = run.at.max(entry.at);
        run.over = entry.state.end().is_some();
        let placed = Placed { id, seq: run.seq, at: run.at };
        store_blobs(conn, entry)?;
        hash = append_row(conn, entry, placed, &hash)?;
        project::project(conn, entry, placed, &mut run.memo)?;
        consume(conn, entry)?;
        if placed.seq % SNAPSHOT_EVERY == 0 {
            snap(conn, entry, placed, &run.memo)?;
        }
        seqs.push(u64::try_from(placed.seq).unwrap_or(0));
    }
    Ok(seqs)
}

/// One run at a time works on a file; of two that begin at the same instant, the transaction of one is the first.
fn refuse_second(conn: &Connection, entry: &Entry<'_>) -> Result<(), Fault> {
    let Some(file) = entry.facts.opened.as_ref().and_then(|opened| opened.file.as_ref()) else {
        return Ok(());
    };
    let other: Option<RunId> =
        conn.prepare_cached(UNDER_WAY)?.query_row([file], |row| row.get(0)).optional()?;
    match other {
        Some(run) => Err(LedgerError::UnderWay { run, file: file.clone() }.into()),
        None => Ok(()),
    }
}

impl<'e> Batch<'_, 'e> {
    /// Where the run of an entry stands. A process that knows less of it than the journal does must not go on with it.
    fn find(&mut self, conn: &Connection, entry: &Entry<'e>) -> Result<&mut Taken, Fault> {
        let run = entry.run;
        if let std::collections::btree_map::Entry::Vacant(vacant) = self.runs.entry(run) {
            let last: Option<(i64, Millis)> = conn
                .prepare_cached(LAST)?
                .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let (seq, at) = last.unwrap_or((0, Millis(i64::MIN)));
            let believed = match entry.event {
                Event::Started(_) => Some(0),
                _ => self.taken.get(run).copied(),
            };
            if believed.is_some_and(|believed| believed != seq) {
                return Err(LedgerError::Overtaken { run: run.clone() }.into());
            }
            refuse_second(conn, entry)?;
            let memo = match self.memos.remove(run) {
                Some(memo) => memo,
                None if seq == 0 => Memo::default(),
                None => Memo::load(conn, &run.0)?,
            };
            vacant.insert(Taken { seq, at, memo, over: false });
        }
        self.runs.get_mut(run).ok_or_else(|| LedgerError::Overtaken { run: run.clone() }.into())
    }
}

fn store_blobs(conn: &Connection, entry: &Entry<'_>) -> Result<(), Fault> {
    let has = |id: &BlobId| -> Result<bool, Fault> { Ok(conn.prepare_cached(HAS_BLOB)?.exists([id])?) };
    for blob in entry.blobs {
        if !has(&blob.id)? {
            let size = i64::try_from(blob.bytes.len()).unwrap_or(i64::MAX);
            conn.prepare_cached(STORE_BLOB)?.execute(params![blob.id, size, blob.bytes])?;
        }
    }
    for id in entry.facts.blobs() {
        if !entry.blobs.iter().any(|blob| blob.id == id) && !has(&id)? {
            return Err(LedgerError::BlobMissing { run: entry.run.clone(), id }.into());
        }
    }
    Ok(())
}

fn append_row(
    conn: &Connection,
    entry: &Entry<'_>,
    placed: Placed,
    previous: &[u8; 32],
) -> Result<[u8; 32], Fault> {
    let body = serde_json::to_string(entry.event)?;
    let facts =
        if *entry.facts == Facts::default() { String::new() } else { serde_json::to_string(entry.facts)? };
    let rulings = serde_json::to_string(&entry.step.rulings)?;
    let commands = serde_json::to_string(&entry.step.commands)?;
    let link = Link {
        id: placed.id,
        run: &entry.run.0,
        seq: placed.seq,
        at: placed.at,
        kind: kind(entry.event),
        body: &body,
        facts: &facts,
        rulings: &rulings,
        commands: &commands,
    };
    let hash = link.hash(previous);
    let inserted = conn.prepare_cached(APPEND)?.execute(params![
        link.id, link.run, link.seq, link.at, link.kind, body, facts, rulings, commands, hash
    ]);
    match inserted {
        Ok(_) => Ok(hash),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {
            Err(LedgerError::Overtaken { run: entry.run.clone() }.into())
        }
        Err(error) => Err(error.into()),
    }
}

fn consume(conn: &Connection, entry: &Entry<'_>) -> Result<(), Fault> {
    let Some(id) = entry.request else {
        return Ok(());
    };
    match conn.prepare_cached(CONSUME)?.execute(params![id, entry.run])? {
        0 => Err(LedgerError::RequestGone { id }.into()),
        _ => Ok(()),
    }
}

fn snap(conn: &Connection, entry: &Entry<'_>, placed: Placed, memo: &Memo) -> Result<(), Fault> {
    let state = serde_json::to_string(entry.state)?;
    let open = serde_json::to_string(&memo.open_commands(conn, &entry.run.0)?)?;
    conn.prepare_cached(SNAP)?.execute(params![entry.run, placed.seq, state, open])?;
    conn.prepare_cached(FORGET)?.execute(params![entry.run, placed.seq - 2 * SNAPSHOT_EVERY])?;
    Ok(())
}

/// The word for an event in its column.
fn kind(event: &Event) -> &'static str {
    match event {
        Event::Started(_) => "started",
        Event::Ended { .. } => "ended",
        Event::Interrupted { .. } => "interrupted",
        Event::Answered { .. } => "answered",
        Event::Cancelled { .. } => "cancelled",
        Event::Paused { .. } => "paused",
        Event::Resumed { .. } => "resumed",
        Event::RolledBack { .. } => "rolled-back",
        Event::ApproachRemoved { .. } => "approach-removed",
        Event::Reattributed { .. } => "reattributed",
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]
#[path = "ledger_tests.rs"]
mod tests;
