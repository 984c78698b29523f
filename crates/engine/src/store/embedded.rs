//! The store of one machine: the SQLite ledger, and start markers of agents in the folders of their runs.

use super::{SignsOfLife, StateOf, Store};
use crate::home::Home;
use crate::turn::AgentStart;
use remand_kernel::Event;
use remand_ledger::query::{JournalRow, RequestRow};
use remand_ledger::{BlobId, JournalEntry, Ledger, LedgerError, Millis, Reader, Reserve, RunId};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The folders of a run's dispatches, in the folder of the run.
pub(crate) const DISPATCHES: &str = "dispatches";

/// The start marker of an agent, in the folder of its dispatch, where no agent can write. The modification time of
/// the file is the last sign of life. Name and fields must stay as in version 0.1.0.
const START_MARKER: &str = "began.json";

/// Minimum time between two updates of the modification time.
const TOUCH_INTERVAL: Duration = Duration::from_secs(1);

/// The folders of the dispatch, of all dispatches, and of the run are synced after a start, because each may be new.
const FOLDERS_TO_SYNC: usize = 3;

/// The ledger of a repository, with the folders of its runs.
#[derive(Debug)]
pub struct EmbeddedStore {
    path: PathBuf,
    runs: PathBuf,
    /// `None` after `close`.
    ledger: Mutex<Option<Ledger>>,
    /// `None` until something is read.
    reader: Mutex<Option<Reader>>,
}

impl EmbeddedStore {
    /// Opens the ledger, or creates it.
    pub fn open(home: &Home) -> Result<EmbeddedStore, LedgerError> {
        EmbeddedStore::open_at(home.ledger(), home.runs())
    }

    /// Opens the ledger at this path, with this folder for all runs.
    pub fn open_at(ledger: PathBuf, runs: PathBuf) -> Result<EmbeddedStore, LedgerError> {
        let open = Ledger::open(&ledger)?;
        Ok(EmbeddedStore { path: ledger, runs, ledger: Mutex::new(Some(open)), reader: Mutex::default() })
    }

    /// Gives access to the ledger, for work that `Store` does not cover.
    pub fn with_ledger<T>(
        &self,
        work: impl FnOnce(&mut Ledger) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let mut slot = lock(&self.ledger);
        let ledger = match slot.take() {
            Some(ledger) => ledger,
            None => Ledger::open(&self.path)?,
        };
        work(slot.insert(ledger))
    }

    fn with_reader<T>(&self, read: impl FnOnce(&Reader) -> Result<T, LedgerError>) -> Result<T, LedgerError> {
        let mut slot = lock(&self.reader);
        let reader = match slot.take() {
            Some(reader) => reader,
            None => Reader::open(&self.path)?,
        };
        read(slot.insert(reader))
    }

    fn marker_path(&self, run: &RunId, command: &str) -> PathBuf {
        self.runs.join(&run.0).join(DISPATCHES).join(command).join(START_MARKER)
    }
}

impl Store for EmbeddedStore {
    fn append(&self, entries: &[JournalEntry<'_>]) -> Result<Vec<u64>, LedgerError> {
        self.with_ledger(|ledger| ledger.append(entries))
    }

    fn continue_from(&self, run: &RunId, seq: u64, at: Millis) -> Result<(), LedgerError> {
        self.with_ledger(|ledger| {
            ledger.continue_from(run, seq, at);
            Ok(())
        })
    }

    fn lag(&self) -> usize {
        lock(&self.ledger).as_ref().map_or(0, Ledger::lag)
    }

    fn catch_up(&self) -> Result<(), LedgerError> {
        self.with_ledger(Ledger::catch_up)
    }

    fn catch_up_with(&self, entries: &[JournalEntry<'_>], state_of: &StateOf<'_>) -> Result<(), LedgerError> {
        self.with_ledger(|ledger| ledger.catch_up_with(entries, state_of))
    }

    fn rows_after(&self, run: &RunId, seq: u64) -> Result<Vec<JournalRow>, LedgerError> {
        self.with_reader(|reader| reader.journal(run, seq))
    }

    fn blob(&self, id: BlobId) -> Result<Vec<u8>, LedgerError> {
        self.with_reader(|reader| reader.blob(id))
    }

    fn reader(&self) -> Result<Reader, LedgerError> {
        Reader::open(&self.path)
    }

    fn reserve(&self, request: Reserve<'_>) -> Result<Vec<u32>, LedgerError> {
        self.with_ledger(|ledger| ledger.reserve(request))
    }

    fn request(&self, run: &RunId, at: Millis, event: &Event) -> Result<i64, LedgerError> {
        self.with_ledger(|ledger| ledger.request(run, at, event))
    }

    fn requests(&self, run: &RunId) -> Result<Vec<RequestRow>, LedgerError> {
        self.with_reader(|reader| reader.requests(run))
    }

    fn refuse(&self, request: i64, reason: &str) -> Result<(), LedgerError> {
        self.with_ledger(|ledger| ledger.refuse(request, reason))
    }

    fn record_start(&self, run: &RunId, start: &AgentStart) -> io::Result<Box<dyn SignsOfLife>> {
        let path = self.marker_path(run, &start.command.to_string());
        let mut file = File::create(&path)?;
        file.write_all(&serde_json::to_vec(start)?)?;
        file.sync_all()?;
        for folder in path.ancestors().skip(1).take(FOLDERS_TO_SYNC) {
            File::open(folder)?.sync_all()?;
        }
        Ok(Box::new(StartMarker { file, touched: Instant::now() }))
    }

    fn last_start(&self, run: &RunId, command: &str) -> Option<(AgentStart, Millis)> {
        let path = self.marker_path(run, command);
        let start: AgentStart = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
        Some((start, modified(&path)?.max(start.at)))
    }

    fn close(&self) {
        drop(lock(&self.reader).take());
        drop(lock(&self.ledger).take());
    }
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

fn modified(path: &Path) -> Option<Millis> {
    let modified = path.metadata().and_then(|meta| meta.modified()).ok()?;
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Some(Millis(i64::try_from(since).unwrap_or(i64::MAX)))
}

/// The start marker of a running agent. It stays after the agent's end: nobody reads the marker of a command that has
/// ended.
struct StartMarker {
    file: File,
    touched: Instant,
}

impl SignsOfLife for StartMarker {
    fn record(&mut self) {
        if self.touched.elapsed() >= TOUCH_INTERVAL {
            self.touched = Instant::now();
            // The time is only a lower bound, so a failure does no harm.
            let _ = self.file.set_modified(SystemTime::now());
        }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use remand_kernel::ids::{CommandId, Lane, PhaseId};

    fn run() -> RunId {
        RunId("r1".to_string())
    }

    fn store(folder: &Path) -> EmbeddedStore {
        EmbeddedStore::open_at(folder.join("ledger.db"), folder.join("runs")).expect("a store")
    }

    // CORE-11
    #[test]
    fn the_start_of_an_agent_is_recorded_with_its_last_sign_of_life() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store(folder.path());
        let command = CommandId { phase: PhaseId(2), lane: Lane::Main, visit: 1, seat: 0, attempt: 1 };
        let name = command.to_string();
        assert_eq!(store.last_start(&run(), &name), None);
        std::fs::create_dir_all(folder.path().join("runs/r1/dispatches").join(&name)).expect("a folder");
        let start = AgentStart { command, number: 3, at: Millis(1_000) };
        let mut life = store.record_start(&run(), &start).expect("recorded");
        life.record();
        let (read, last_seen) = store.last_start(&run(), &name).expect("a start");
        assert_eq!(read, start);
        assert!(last_seen > start.at);
    }

    #[test]
    fn a_start_marker_of_version_0_1_0_is_read() {
        let text = r#"{"command":{"phase":2,"lane":"main","visit":1,"seat":0,"attempt":1},"nth":2,"at":5}"#;
        let start: AgentStart = serde_json::from_str(text).expect("an old marker");
        assert_eq!((start.number, start.at, start.command.phase), (2, Millis(5), PhaseId(2)));
    }

    #[test]
    fn a_closed_store_opens_again_and_keeps_its_requests() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store(folder.path());
        let event = Event::Paused { by: "ann".to_string() };
        let request = store.request(&run(), Millis(1), &event).expect("a request");
        store.close();
        let waiting = store.requests(&run()).expect("requests");
        assert_eq!(waiting.iter().map(|row| (row.id, &row.event)).collect::<Vec<_>>(), [(request, &event)]);
        store.refuse(request, "not now").expect("refused");
        assert!(store.requests(&run()).expect("requests").is_empty());
        let reservation = Reserve { prefix: "ABC", holder: "one", count: 2, above: 41, at: Millis(1) };
        assert_eq!(store.reserve(reservation).expect("numbers"), [42, 43]);
        assert!(store.rows_after(&run(), 0).expect("rows").is_empty());
        assert_eq!(store.lag(), 0);
    }
}
