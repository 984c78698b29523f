//! Queries over a read-only connection, one file for each kind of row.
//!
//! Tables lag behind the journal, so a reader waits for them, or projects the rest itself, before it queries them.

mod artifact;
mod check;
mod correction;
mod cost;
mod defect;
mod delivery;
mod dispatch;
mod finding;
mod gate;
mod journal;
mod note;
mod operation;
mod proof;
mod request;
mod result;
mod ruling;
mod run;
mod summary;

use crate::error::{Fault, LedgerError};
use crate::fact::{BlobId, RunId};
use crate::ledger::Ledger;
use crate::{follow, schema};
use remand_kernel::Program;
use rusqlite::{Connection, OpenFlags, Params, Row, Transaction};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

pub use crate::cell::{CorrectionEnd, GateOption, RulingKind, RunStage, WithheldOption, interruption_id};
pub use artifact::ArtifactRow;
pub use check::{CheckFilter, CheckRow, ReuseOrigin};
pub use correction::CorrectionRow;
pub use cost::{CostBy, CostRow};
pub use defect::{Attempts, DefectResolution, DefectRow, ReattributionRow, SharedCost};
pub use delivery::DeliveryRow;
pub use dispatch::{DispatchRow, DispatchStatus};
pub use finding::FindingRow;
pub use gate::{GateKind, GateRow};
pub use journal::{JournalRow, SnapshotRow};
pub use note::NoteRow;
pub use operation::OperationRow;
pub use proof::{MutantRow, TestProofRow};
pub use request::{RefusedRequest, RequestFate, RequestRow};
pub use result::PassRow;
pub use ruling::RulingRow;
pub use run::{RunLimits, RunRow, RunUsed};
pub use summary::{TaskSummary, Totals};

/// How often, and with what pause, a reader checks whether the driving process has projected its events.
const LAG_CHECKS: u32 = 40;
const LAG_PAUSE: Duration = Duration::from_micros(250);

const DATA_VERSION: &str = "PRAGMA data_version";

/// A connection that cannot write.
#[derive(Debug)]
pub struct Reader {
    conn: Connection,
    path: PathBuf,
    /// Programs in use. Runs pinned to the same program share it.
    programs: RefCell<HashMap<BlobId, Weak<Program>>>,
    /// The data version at which the tables last showed the whole journal.
    caught_up_at: Cell<Option<i64>>,
    drivers: Option<Drivers>,
}

/// Whether a process drives a run now.
struct Drivers(Box<dyn Fn(&RunId) -> bool + Send>);

impl std::fmt::Debug for Drivers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Drivers")
    }
}

impl Reader {
    /// Opens a ledger for reading. An older format is upgraded first.
    pub fn open(path: &Path) -> Result<Reader, LedgerError> {
        match Reader::open_current(path) {
            Err(LedgerError::Older { .. }) => {
                drop(Ledger::open(path)?);
                Reader::open_current(path)
            }
            opened => opened,
        }
    }

    fn open_current(path: &Path) -> Result<Reader, LedgerError> {
        match path.try_exists() {
            Ok(true) => {}
            Ok(false) => return Err(LedgerError::Missing { path: path.to_path_buf() }),
            Err(error) => {
                return Err(LedgerError::Unreadable { path: path.to_path_buf(), detail: error.to_string() });
            }
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags).map_err(Fault::from).and_then(|conn| {
            schema::prepare_reader(&conn, path)?;
            Ok(conn)
        });
        let conn = opened.map_err(|fault| LedgerError::from_fault(path, fault))?;
        Ok(Reader {
            conn,
            path: path.to_path_buf(),
            programs: RefCell::default(),
            caught_up_at: Cell::new(None),
            drivers: None,
        })
    }

    /// Lets the reader see which runs are driven. A run that nobody drives, and that does not wait, is then shown as
    /// interrupted.
    #[must_use]
    pub fn with_drivers(mut self, is_driven: impl Fn(&RunId) -> bool + Send + 'static) -> Reader {
        self.drivers = Some(Drivers(Box::new(is_driven)));
        self
    }

    /// Whether a process drives the run, as far as this reader knows.
    fn is_driven(&self, run: &RunId) -> bool {
        self.drivers.as_ref().is_none_or(|drivers| (drivers.0)(run))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A number that changes whenever another connection has written.
    pub fn data_version(&self) -> Result<i64, LedgerError> {
        self.read(read_data_version)
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.conn
    }

    /// The program in a blob; `read` runs only if the program is not in memory.
    pub(crate) fn program<E>(
        &self,
        pinned: BlobId,
        read: impl FnOnce() -> Result<Program, E>,
    ) -> Result<Arc<Program>, E> {
        let cached = self.programs.borrow().get(&pinned).and_then(Weak::upgrade);
        if let Some(program) = cached {
            return Ok(program);
        }
        let program = Arc::new(read()?);
        self.programs.borrow_mut().insert(pinned, Arc::downgrade(&program));
        Ok(program)
    }

    /// Starts a read transaction. It shows one state of the ledger, even if other processes append to it, with tables
    /// that are up to date if possible.
    pub(crate) fn begin_read(&self) -> Result<Transaction<'_>, LedgerError> {
        let mut checks = LAG_CHECKS;
        loop {
            let caught_up = self.catch_up();
            let transaction = self.read(|conn| Ok(conn.unchecked_transaction()?))?;
            checks -= 1;
            if caught_up.is_err() || checks == 0 || !self.read(follow::has_lag)? {
                return Ok(transaction);
            }
        }
    }

    /// Waits until the tables show the whole journal; if no writer projects it in time, projects it.
    fn catch_up(&self) -> Result<(), LedgerError> {
        for _ in 0..LAG_CHECKS {
            let now = self.read(read_data_version)?;
            if self.caught_up_at.get() == Some(now) {
                return Ok(());
            }
            if !self.read(follow::has_lag)? {
                self.caught_up_at.set(Some(now));
                return Ok(());
            }
            std::thread::sleep(LAG_PAUSE);
        }
        Ledger::open(&self.path).map(drop)
    }

    /// Reads data other than projections: journal, blobs, requests, and the projection lag.
    pub(crate) fn read<'r, T>(
        &'r self,
        read: impl FnOnce(&'r Connection) -> Result<T, Fault>,
    ) -> Result<T, LedgerError> {
        read(&self.conn).map_err(|fault| LedgerError::from_fault(&self.path, fault))
    }

    /// Reads projection tables, once they are up to date.
    pub(crate) fn read_tables<'r, T>(
        &'r self,
        read: impl FnOnce(&'r Connection) -> Result<T, Fault>,
    ) -> Result<T, LedgerError> {
        self.catch_up()?;
        self.read(read)
    }

    /// The rows of a query over projection tables, once they are up to date.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        decode: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, LedgerError> {
        self.catch_up()?;
        self.direct_rows(sql, params, decode)
    }

    /// The rows of a query over the journal, requests or snapshots.
    fn direct_rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        decode: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, LedgerError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map(params, decode)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

impl Ledger {
    /// Opens a separate connection for reading.
    pub fn reader(&self) -> Result<Reader, LedgerError> {
        Reader::open(self.path())
    }
}

fn read_data_version(conn: &Connection) -> Result<i64, Fault> {
    Ok(conn.prepare_cached(DATA_VERSION)?.query_row([], |row| row.get(0))?)
}
