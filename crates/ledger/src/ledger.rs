//! The writing side of a ledger: appends entries, many to a commit, and stores requests for other processes.

use crate::chain::{GENESIS, Link};
use crate::entry::JournalEntry;
use crate::error::{Fault, LedgerError};
use crate::fact::{BlobId, Facts, Millis, RunId};
use crate::follow;
use crate::history::{Purpose, RunReplays};
use crate::log_space::LogSpace;
use crate::project::{EventSlot, ReplayedEvent};
use crate::replay_error::{ReplayError, ReplayFailure};
use crate::schema;
use remand_kernel::{Event, Program, State};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Initial size of the encoding buffer in bytes. Most rows fit.
const BUFFER_SIZE: usize = 4096;

const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const END: &str = "SELECT id, hash FROM events ORDER BY id DESC LIMIT 1";
const LAST: &str = "SELECT seq, at FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1";
const UNDER_WAY: &str =
    "SELECT run FROM runs WHERE file = ?1 AND stage IN ('running', 'waiting', 'paused') LIMIT 1";
const APPEND: &str = "INSERT INTO events (id, run, seq, at, kind, body, facts, rulings, commands, hash)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const HAS_BLOB: &str = "SELECT 1 FROM blobs WHERE id = ?1";
const STORE_BLOB: &str = "INSERT INTO blobs (id, size, body) VALUES (?1, ?2, ?3)";
const REQUEST: &str = "INSERT INTO requests (run, at, body) VALUES (?1, ?2, ?3)";
const CONSUME: &str = "DELETE FROM requests WHERE id = ?1 AND run = ?2 AND refused IS NULL";
const RECORD_REFUSAL: &str = "INSERT INTO requests (run, at, body, refused) VALUES (?1, ?2, ?3, ?4)";
const REFUSE: &str = "UPDATE requests SET refused = ?2 WHERE id = ?1 AND refused IS NULL";

/// Writes the log back into the database, as far as readers permit.
const WRITE_BACK: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// A connection that writes.
#[derive(Debug)]
pub struct Ledger {
    conn: Connection,
    path: PathBuf,
    log_space: LogSpace,
    /// The last event of each run that this process has seen. If the journal has more, another process continued the
    /// run.
    last_events: HashMap<RunId, LastEvent>,
    /// The end of the journal when this process last appended. Others may have appended since.
    end: Option<JournalEnd>,
    /// The replay of each run, up to the last event that the tables show.
    replays: RunReplays,
    /// Events appended by this process that the tables do not show yet.
    lag: usize,
    /// The slots of the last commit's entries.
    slots: Vec<EventSlot>,
}

impl Ledger {
    /// Opens a ledger, or creates one that only its owner can read.
    pub fn open(path: &Path) -> Result<Ledger, LedgerError> {
        create(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags).map_err(Fault::from).and_then(|mut conn| {
            schema::prepare(&mut conn, path)?;
            let log_space = LogSpace::of(&mut conn, path)?;
            Ok((conn, log_space))
        });
        let (conn, log_space) = opened.map_err(|fault| LedgerError::from_fault(path, fault))?;
        let mut ledger = Ledger {
            conn,
            path: path.to_path_buf(),
            log_space,
            last_events: HashMap::new(),
            end: None,
            replays: RunReplays::default(),
            lag: 0,
            slots: Vec::new(),
        };
        // A killed process may have left events that the tables do not show.
        if follow::has_lag(&ledger.conn).map_err(|fault| LedgerError::from_fault(path, fault))? {
            ledger.project_all()?;
        }
        Ok(ledger)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.conn
    }

    /// Appends entries of any runs in one synced commit, and returns each entry's number in its run. On an error
    /// nothing is written. `catch_up` or `catch_up_with` projects the entries.
    pub fn append(&mut self, entries: &[JournalEntry<'_>]) -> Result<Vec<u64>, LedgerError> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let remembered = self.end.take();
        let written = match (self.write(entries, remembered), remembered) {
            // The remembered end may be out of date. If the write also fails with the real end, the run was overtaken.
            (Err(LedgerError::Overtaken { .. }), Some(_)) => self.write(entries, None),
            (written, _) => written,
        };
        let Written { slots, end, runs } = written?;
        self.end = Some(end);
        self.last_events.extend(runs.into_iter().map(|(run, last)| (run.clone(), last)));
        self.lag += entries.len();
        self.slots = slots;
        Ok(self.slots.iter().map(|slot| u64::try_from(slot.seq).unwrap_or(0)).collect())
    }

    /// Writes entries after this end of the journal. If `end` is `None`, reads the end first.
    fn write<'e>(
        &mut self,
        entries: &'e [JournalEntry<'e>],
        end: Option<JournalEnd>,
    ) -> Result<Written<'e>, LedgerError> {
        let (conn, log_space) = (&self.conn, &mut self.log_space);
        let mut batch =
            Batch { last_events: &self.last_events, replays: &mut self.replays, runs: BTreeMap::new() };
        let written = transact(conn, || {
            log_space.ensure_space();
            let end = end.map_or_else(|| read_end(conn), Ok)?;
            let (slots, end) = batch.write(conn, entries, end)?;
            Ok(Written { slots, end, runs: std::mem::take(&mut batch.runs) })
        });
        written.map_err(|fault| LedgerError::from_fault(&self.path, fault))
    }

    /// Projection lag: events appended by this process that the tables do not show yet.
    pub fn lag(&self) -> usize {
        self.lag
    }

    /// Projects everything that was appended. Readers wait briefly for this, then project it themselves.
    pub fn catch_up(&mut self) -> Result<(), LedgerError> {
        if self.lag == 0 { Ok(()) } else { self.project_all() }
    }

    /// Projects everything that was appended; `entries` are the last append. If the tables lack nothing else and
    /// `state_of` returns the state after each entry, nothing is replayed.
    pub fn catch_up_with<'s>(
        &mut self,
        entries: &[JournalEntry<'_>],
        state_of: impl Fn(&RunId) -> Option<(&'s Program, &'s State)>,
    ) -> Result<(), LedgerError> {
        let in_memory: Option<Vec<ReplayedEvent<'_>>> = entries
            .iter()
            .map(|JournalEntry { run, event, facts, step, .. }| {
                let (program, state) = state_of(run)?;
                Some(ReplayedEvent { run, program, event, facts, step, state })
            })
            .collect();
        match in_memory {
            Some(replayed) if self.lag == replayed.len() && self.slots.len() == replayed.len() => {
                let (slots, replays) = (&self.slots, &mut self.replays);
                self.lag = project_unsynced(&self.conn, &self.path, || {
                    follow::catch_up_with(&self.conn, replays, &replayed, slots)
                })?;
                Ok(())
            }
            Some(_) | None => self.catch_up(),
        }
    }

    fn project_all(&mut self) -> Result<(), LedgerError> {
        let replays = &mut self.replays;
        self.lag = project_unsynced(&self.conn, &self.path, || {
            follow::catch_up(&self.conn, replays, Purpose::CatchUp)
        })?;
        Ok(())
    }

    /// Sets the event up to which the caller has replayed a run. An append fails if the journal has a later event.
    pub fn continue_from(&mut self, run: &RunId, seq: u64, at: Millis) {
        self.last_events.insert(run.clone(), LastEvent { seq: i64::try_from(seq).unwrap_or(i64::MAX), at });
    }

    /// Stores a request for the process that drives the run, and returns its id.
    pub fn request(&mut self, run: &RunId, at: Millis, event: &Event) -> Result<i64, LedgerError> {
        let store = || -> Result<i64, Fault> {
            let body = serde_json::to_string(event)?;
            self.conn.prepare_cached(REQUEST)?.execute(params![run, at, body])?;
            Ok(self.conn.last_insert_rowid())
        };
        store().map_err(|fault| LedgerError::from_fault(&self.path, fault))
    }

    /// Refuses a request, with a reason for the process that made it.
    pub fn refuse(&mut self, request: i64, reason: &str) -> Result<(), LedgerError> {
        let update = || -> Result<usize, Fault> {
            Ok(self.conn.prepare_cached(REFUSE)?.execute(params![request, reason])?)
        };
        match update().map_err(|fault| LedgerError::from_fault(&self.path, fault))? {
            0 => Err(LedgerError::RequestGone { id: request }),
            _ => Ok(()),
        }
    }

    /// Records a request that was refused before any process could accept it.
    pub fn record_refusal(
        &mut self,
        run: &RunId,
        at: Millis,
        event: &Event,
        reason: &str,
    ) -> Result<(), LedgerError> {
        let store = || -> Result<(), Fault> {
            let body = serde_json::to_string(event)?;
            self.conn.prepare_cached(RECORD_REFUSAL)?.execute(params![run, at, body, reason])?;
            Ok(())
        };
        store().map_err(|fault| LedgerError::from_fault(&self.path, fault))
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

    /// Rebuilds all tables from the journal, and returns the number of events.
    pub fn rebuild(&mut self) -> Result<u64, ReplayError> {
        let rebuilt = transact(&self.conn, || {
            follow::rebuild(&self.conn, &mut self.replays)?;
            Ok(follow::last_projected(&self.conn)?)
        });
        let count = rebuilt.map_err(|failure: ReplayFailure| failure.at_path(&self.path))?;
        self.lag = 0;
        Ok(u64::try_from(count).unwrap_or(0))
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        // If this fails, the next reader projects the rest.
        let _ = self.catch_up();
        if self.log_space.has_commits() {
            // This makes the database file complete without its log. SQLite does the same when the last connection
            // closes, but a reader may stay open. On failure the rest stays in the log, and nothing is lost.
            let _ = self.conn.query_row(WRITE_BACK, [], |_| Ok(()));
        }
    }
}

/// Creates the file with the right mode. SQLite gives its companion files the same mode.
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

/// Projects in an unsynced commit: the journal is synced, and the tables can be rebuilt from it. Returns the new lag,
/// which is zero.
fn project_unsynced(
    conn: &Connection,
    path: &Path,
    work: impl FnOnce() -> Result<(), ReplayFailure>,
) -> Result<usize, LedgerError> {
    let done = schema::unsynced(conn, || transact(conn, work).map_err(ReplayFailure::into_fault));
    done.map(|()| 0).map_err(|fault| LedgerError::from_fault(path, fault))
}

/// The id and hash of the last event of the journal.
#[derive(Clone, Copy, Debug)]
struct JournalEnd {
    id: i64,
    hash: [u8; 32],
}

fn read_end(conn: &Connection) -> Result<JournalEnd, Fault> {
    let end =
        conn.prepare_cached(END)?.query_row([], |row| Ok(JournalEnd { id: row.get(0)?, hash: row.get(1)? }));
    Ok(end.optional()?.unwrap_or(JournalEnd { id: 0, hash: GENESIS }))
}

/// The result of a commit.
struct Written<'e> {
    slots: Vec<EventSlot>,
    end: JournalEnd,
    runs: BTreeMap<&'e RunId, LastEvent>,
}

/// The last event of a run.
#[derive(Clone, Copy, Debug)]
struct LastEvent {
    seq: i64,
    at: Millis,
}

/// A commit in progress, with the runs that it touches.
struct Batch<'l, 'e> {
    last_events: &'l HashMap<RunId, LastEvent>,
    replays: &'l mut RunReplays,
    runs: BTreeMap<&'e RunId, LastEvent>,
}

/// Runs `work` in a transaction. `BEGIN` and `COMMIT` are cached like other statements.
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
        // The caller needs the first error.
        let _ = conn.execute_batch("ROLLBACK");
    }
    done
}

impl<'e> Batch<'_, 'e> {
    fn write(
        &mut self,
        conn: &Connection,
        entries: &'e [JournalEntry<'e>],
        mut end: JournalEnd,
    ) -> Result<(Vec<EventSlot>, JournalEnd), Fault> {
        let mut slots = Vec::with_capacity(entries.len());
        let mut buffer = Vec::with_capacity(BUFFER_SIZE);
        for entry in entries {
            let last = self.last_event_mut(conn, entry)?;
            last.seq += 1;
            last.at = last.at.max(entry.at);
            let slot = EventSlot { id: end.id + 1, seq: last.seq, at: last.at };
            store_blobs(conn, entry)?;
            let hash = append_row(conn, entry, slot, &end.hash, &mut buffer)?;
            end = JournalEnd { id: slot.id, hash };
            consume_request(conn, entry)?;
            slots.push(slot);
        }
        Ok((slots, end))
    }

    /// The last event of the entry's run. It may be out of date if another process continued the run; the journal then
    /// refuses a second event with the same number.
    fn last_event_mut(
        &mut self,
        conn: &Connection,
        entry: &JournalEntry<'e>,
    ) -> Result<&mut LastEvent, Fault> {
        let run = entry.run;
        if !self.runs.contains_key(run) {
            let last = match (entry.event, self.last_events.get(run)) {
                (Event::Started(_), _) => {
                    self.refuse_second_run_on_file(conn, entry)?;
                    LastEvent { seq: 0, at: Millis(i64::MIN) }
                }
                (_, Some(last)) => *last,
                (_, None) => last_event(conn, run)?.unwrap_or(LastEvent { seq: 0, at: Millis(i64::MIN) }),
            };
            self.runs.insert(run, last);
        }
        self.runs.get_mut(run).ok_or_else(|| LedgerError::Overtaken { run: run.clone() }.into())
    }

    /// Refuses a second run on the same file. If two start at the same instant, the later transaction fails.
    fn refuse_second_run_on_file(
        &mut self,
        conn: &Connection,
        entry: &JournalEntry<'_>,
    ) -> Result<(), Fault> {
        let Some(opened) = &entry.facts.opened else {
            return Err(LedgerError::NotOpened { run: entry.run.clone() }.into());
        };
        let Some(file) = &opened.file else {
            return Ok(());
        };
        follow::catch_up(conn, self.replays, Purpose::CatchUp).map_err(ReplayFailure::into_fault)?;
        let other: Option<RunId> =
            conn.prepare_cached(UNDER_WAY)?.query_row([file], |row| row.get(0)).optional()?;
        match other {
            Some(run) => Err(LedgerError::UnderWay { run, file: file.clone() }.into()),
            None => Ok(()),
        }
    }
}

/// The last event of a run in the journal.
fn last_event(conn: &Connection, run: &RunId) -> Result<Option<LastEvent>, Fault> {
    let row = conn
        .prepare_cached(LAST)?
        .query_row([run], |row| Ok(LastEvent { seq: row.get(0)?, at: row.get(1)? }));
    Ok(row.optional()?)
}

fn store_blobs(conn: &Connection, entry: &JournalEntry<'_>) -> Result<(), Fault> {
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
    entry: &JournalEntry<'_>,
    slot: EventSlot,
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
        id: slot.id,
        run: &entry.run.0,
        seq: slot.seq,
        at: slot.at,
        kind: event_kind(entry.event),
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

/// Appends a value as JSON, and returns the length of the buffer.
fn encode(buffer: &mut Vec<u8>, value: &impl Serialize) -> Result<usize, Fault> {
    serde_json::to_writer(&mut *buffer, value)?;
    Ok(buffer.len())
}

fn consume_request(conn: &Connection, entry: &JournalEntry<'_>) -> Result<(), Fault> {
    let Some(id) = entry.request else {
        return Ok(());
    };
    match conn.prepare_cached(CONSUME)?.execute(params![id, entry.run])? {
        0 => Err(LedgerError::RequestGone { id }.into()),
        _ => Ok(()),
    }
}

/// The word for an event in the column `kind`.
fn event_kind(event: &Event) -> &'static str {
    match event {
        Event::Started(_) => "started",
        Event::Ended { .. } => "ended",
        Event::Interrupted { .. } => "interrupted",
        Event::Answered { .. } => "answered",
        Event::Cancelled { .. } => "cancelled",
        Event::Paused { .. } => "paused",
        Event::Resumed { .. } => "resumed",
        Event::Retried { .. } => "retried",
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
