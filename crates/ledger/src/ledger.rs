//! The one writer of a process: appends entries, many to a commit, and takes requests of other processes.

use crate::chain::{GENESIS, Link};
use crate::entry::Entry;
use crate::error::{Fault, LedgerError};
use crate::fact::{BlobId, Facts, Millis, RunId};
use crate::follow;
use crate::history::{Lives, Purpose};
use crate::project::{Lived, Placed};
use crate::query::Reader;
use crate::replay::{Failed, ReplayError};
use crate::room::Room;
use crate::schema;
use remand_kernel::{Event, Program, State};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a row takes at least while it is encoded; most take no more.
const BUFFER: usize = 4096;

const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const END: &str = "SELECT id, hash FROM events ORDER BY id DESC LIMIT 1";
const LAST: &str = "SELECT seq, at FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1";
const UNDER_WAY: &str = "SELECT run FROM runs WHERE file = ?1 AND ended IS NULL LIMIT 1";
const APPEND: &str = "INSERT INTO events (id, run, seq, at, kind, body, facts, rulings, commands, hash)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const HAS_BLOB: &str = "SELECT 1 FROM blobs WHERE id = ?1";
const STORE_BLOB: &str = "INSERT INTO blobs (id, size, body) VALUES (?1, ?2, ?3)";
const REQUEST: &str = "INSERT INTO requests (run, at, body) VALUES (?1, ?2, ?3)";
const CONSUME: &str = "DELETE FROM requests WHERE id = ?1 AND run = ?2 AND refused IS NULL";
const REFUSE: &str = "UPDATE requests SET refused = ?2 WHERE id = ?1 AND refused IS NULL";

/// Writes the log back into the file, as far as no reader is in the way.
const WRITE_BACK: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// The writing connection.
#[derive(Debug)]
pub struct Ledger {
    conn: Connection,
    path: PathBuf,
    room: Room,
    /// How far this process took each run; a run that is further was taken on by another one.
    taken: HashMap<RunId, Taken>,
    /// How the journal ended when this process last appended to it; another one may have gone on since.
    end: Option<End>,
    /// The runs as the tables show them.
    lives: Lives,
    /// Events of this process that the tables do not show yet.
    behind: usize,
    /// Where the entries of the last commit stand.
    placed: Vec<Placed>,
}

impl Ledger {
    /// Opens a ledger, or makes one that only its owner can read.
    pub fn open(path: &Path) -> Result<Ledger, LedgerError> {
        create(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags).map_err(Fault::from).and_then(|mut conn| {
            schema::prepare(&mut conn, path)?;
            let room = Room::of(&mut conn, path)?;
            Ok((conn, room))
        });
        let (conn, room) = opened.map_err(|fault| LedgerError::from_fault(path, fault))?;
        let mut ledger = Ledger {
            conn,
            path: path.to_path_buf(),
            room,
            taken: HashMap::new(),
            end: None,
            lives: Lives::default(),
            behind: 0,
            placed: Vec::new(),
        };
        // What another process appended last may not be shown, if it was killed.
        if follow::is_behind(&ledger.conn).map_err(|fault| LedgerError::from_fault(path, fault))? {
            ledger.catch_up()?;
        }
        Ok(ledger)
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
    /// nothing of it was written. Tables show it when they follow.
    pub fn append(&mut self, entries: &[Entry<'_>]) -> Result<Vec<u64>, LedgerError> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let believed = self.end.take();
        let written = match (self.write(entries, believed), believed) {
            // Of the event that is in the way it is not known yet whose it is.
            (Err(LedgerError::Overtaken { .. }), Some(_)) => self.write(entries, None),
            (written, _) => written,
        };
        let Written { placed, end, runs } = written?;
        self.end = Some(end);
        self.taken.extend(runs.into_iter().map(|(run, taken)| (run.clone(), taken)));
        self.behind += entries.len();
        self.placed = placed;
        Ok(self.placed.iter().map(|placed| u64::try_from(placed.seq).unwrap_or(0)).collect())
    }

    /// Writes entries behind this end of the journal, or behind the one that is read.
    fn write<'e>(&mut self, entries: &'e [Entry<'e>], end: Option<End>) -> Result<Written<'e>, LedgerError> {
        let (conn, room) = (&self.conn, &mut self.room);
        let mut batch = Batch { taken: &self.taken, lives: &mut self.lives, runs: BTreeMap::new() };
        let written = transact(conn, || {
            room.make();
            let end = end.map_or_else(|| end_of(conn), Ok)?;
            let (placed, end) = batch.write(conn, entries, end)?;
            Ok(Written { placed, end, runs: std::mem::take(&mut batch.runs) })
        });
        written.map_err(|fault| LedgerError::from_fault(&self.path, fault))
    }

    /// How many events of this process the tables do not show yet.
    pub fn behind(&self) -> usize {
        self.behind
    }

    /// Has the tables show all that was appended. Readers wait a moment for this, and then do it themselves.
    pub fn follow(&mut self) -> Result<(), LedgerError> {
        if self.behind == 0 { Ok(()) } else { self.catch_up() }
    }

    /// Has the tables show all that was appended, these entries at last; where the caller has the states after them at
    /// hand, and nothing else is to be shown, they are not lived through again.
    pub fn show<'s>(
        &mut self,
        entries: &[Entry<'_>],
        state_of: impl Fn(&RunId) -> Option<(&'s Program, &'s State)>,
    ) -> Result<(), LedgerError> {
        let at_hand: Option<Vec<Lived<'_>>> = entries
            .iter()
            .map(|Entry { run, event, facts, step, .. }| {
                let (program, state) = state_of(run)?;
                Some(Lived { run, program, event, facts, step, state })
            })
            .collect();
        match at_hand {
            Some(lived) if self.behind == lived.len() && self.placed.len() == lived.len() => {
                let (placed, lives) = (&self.placed, &mut self.lives);
                self.behind =
                    unsynced(&self.conn, &self.path, || follow::show(&self.conn, lives, &lived, placed))?;
                Ok(())
            }
            Some(_) | None => self.follow(),
        }
    }

    fn catch_up(&mut self) -> Result<(), LedgerError> {
        let lives = &mut self.lives;
        self.behind =
            unsynced(&self.conn, &self.path, || follow::follow(&self.conn, lives, Purpose::Follow))?;
        Ok(())
    }

    /// Says how far the caller knows a run, after a replay; an append after that fails when the run is further.
    pub fn take_up(&mut self, run: &RunId, seq: u64, at: Millis) {
        self.taken.insert(run.clone(), Taken { seq: i64::try_from(seq).unwrap_or(i64::MAX), at });
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

    /// Makes all tables again from the journal, and gives the number of events.
    pub fn rebuild(&mut self) -> Result<u64, ReplayError> {
        let rebuilt = transact(&self.conn, || {
            follow::rebuild(&self.conn, &mut self.lives)?;
            Ok(follow::followed(&self.conn)?)
        });
        let count = rebuilt.map_err(|failed: Failed| failed.at(&self.path))?;
        self.behind = 0;
        Ok(u64::try_from(count).unwrap_or(0))
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        // Whoever reads next does it otherwise.
        let _ = self.follow();
        if self.room.was_used() {
            // Who copies the file alone then has all of it; SQLite does this itself unless a reader is closed later. What
            // is not written back is in the log, and nothing is lost.
            let _ = self.conn.query_row(WRITE_BACK, [], |_| Ok(()));
        }
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

/// Brings the tables up with the journal, which is synced: they can be made again from it, so their commit need not
/// reach the disk. Nothing is left to be shown then.
fn unsynced(
    conn: &Connection,
    path: &Path,
    work: impl FnOnce() -> Result<(), Failed>,
) -> Result<usize, LedgerError> {
    let done = schema::unsynced(conn, || transact(conn, work).map_err(Failed::into_fault));
    done.map(|()| 0).map_err(|fault| LedgerError::from_fault(path, fault))
}

/// The last event of the journal, and its hash.
#[derive(Clone, Copy, Debug)]
struct End {
    id: i64,
    hash: [u8; 32],
}

fn end_of(conn: &Connection) -> Result<End, Fault> {
    let end = conn.prepare_cached(END)?.query_row([], |row| Ok(End { id: row.get(0)?, hash: row.get(1)? }));
    Ok(end.optional()?.unwrap_or(End { id: 0, hash: GENESIS }))
}

/// What a commit has written.
struct Written<'e> {
    placed: Vec<Placed>,
    end: End,
    runs: BTreeMap<&'e RunId, Taken>,
}

/// How far a process or a batch has come with a run.
#[derive(Clone, Copy, Debug)]
struct Taken {
    seq: i64,
    at: Millis,
}

/// What a batch knows of the runs that it touches.
struct Batch<'l, 'e> {
    taken: &'l HashMap<RunId, Taken>,
    lives: &'l mut Lives,
    runs: BTreeMap<&'e RunId, Taken>,
}

/// One transaction. Its first and its last statement are kept prepared, as the others are.
fn transact<T, E: From<rusqlite::Error>>(
    conn: &Connection,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    conn.prepare_cached(BEGIN)?.execute([])?;
    let done = work().and_then(|done| {
        conn.prepare_cached(COMMIT)?.execute([])?;
        Ok(done)
    });
    if done.is_err() && !conn.is_autocommit() {
        // What failed first is what the caller must know.
        let _ = conn.execute_batch("ROLLBACK");
    }
    done
}

impl<'e> Batch<'_, 'e> {
    fn write(
        &mut self,
        conn: &Connection,
        entries: &'e [Entry<'e>],
        mut end: End,
    ) -> Result<(Vec<Placed>, End), Fault> {
        let mut all = Vec::with_capacity(entries.len());
        let mut buffer = Vec::with_capacity(BUFFER);
        for entry in entries {
            let run = self.find(conn, entry)?;
            run.seq += 1;
            run.at = run.at.max(entry.at);
            let placed = Placed { id: end.id + 1, seq: run.seq, at: run.at };
            store_blobs(conn, entry)?;
            let hash = append_row(conn, entry, placed, &end.hash, &mut buffer)?;
            end = End { id: placed.id, hash };
            consume(conn, entry)?;
            all.push(placed);
        }
        Ok((all, end))
    }

    /// Where the run of an entry stands. A process that knows less of it than the journal does must not go on with it;
    /// the journal refuses a second event of the same number.
    fn find(&mut self, conn: &Connection, entry: &Entry<'e>) -> Result<&mut Taken, Fault> {
        let run = entry.run;
        if !self.runs.contains_key(run) {
            let taken = match (entry.event, self.taken.get(run)) {
                (Event::Started(_), _) => {
                    self.refuse_second(conn, entry)?;
                    Taken { seq: 0, at: Millis(i64::MIN) }
                }
                (_, Some(taken)) => *taken,
                (_, None) => last(conn, run)?.unwrap_or(Taken { seq: 0, at: Millis(i64::MIN) }),
            };
            self.runs.insert(run, taken);
        }
        self.runs.get_mut(run).ok_or_else(|| LedgerError::Overtaken { run: run.clone() }.into())
    }

    /// One run at a time works on a file; of two that begin at the same instant, the transaction of one is the first.
    fn refuse_second(&mut self, conn: &Connection, entry: &Entry<'_>) -> Result<(), Fault> {
        let Some(opened) = &entry.facts.opened else {
            return Err(LedgerError::NotOpened { run: entry.run.clone() }.into());
        };
        let Some(file) = &opened.file else {
            return Ok(());
        };
        follow::follow(conn, self.lives, Purpose::Follow).map_err(Failed::into_fault)?;
        let other: Option<RunId> =
            conn.prepare_cached(UNDER_WAY)?.query_row([file], |row| row.get(0)).optional()?;
        match other {
            Some(run) => Err(LedgerError::UnderWay { run, file: file.clone() }.into()),
            None => Ok(()),
        }
    }
}

/// How far a run is, by the journal.
fn last(conn: &Connection, run: &RunId) -> Result<Option<Taken>, Fault> {
    let row =
        conn.prepare_cached(LAST)?.query_row([run], |row| Ok(Taken { seq: row.get(0)?, at: row.get(1)? }));
    Ok(row.optional()?)
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
    buffer: &mut Vec<u8>,
) -> Result<[u8; 32], Fault> {
    buffer.clear();
    let body_end = encode(buffer, entry.event)?;
    let facts_end = if *entry.facts == Facts::default() { body_end } else { encode(buffer, entry.facts)? };
    let rulings_end = encode(buffer, &entry.step.rulings)?;
    encode(buffer, &entry.step.commands)?;
    let text = std::str::from_utf8(buffer).map_err(rusqlite::Error::from)?;
    let (text, commands) = text.split_at(rulings_end);
    let (text, rulings) = text.split_at(facts_end);
    let (body, facts) = text.split_at(body_end);
    let link = Link {
        id: placed.id,
        run: &entry.run.0,
        seq: placed.seq,
        at: placed.at,
        kind: kind(entry.event),
        body,
        facts,
        rulings,
        commands,
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

/// Appends JSON, and says where it ends.
fn encode(buffer: &mut Vec<u8>, value: &impl Serialize) -> Result<usize, Fault> {
    serde_json::to_writer(&mut *buffer, value)?;
    Ok(buffer.len())
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
        Event::Reverted { .. } => "reverted",
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]
#[path = "ledger_tests.rs"]
mod tests;
