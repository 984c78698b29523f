//! What can be read: one read-only connection, one file for each kind of row.
//!
//! Tables follow the journal, so whoever reads them sees to it first that they have come up with it.

mod artifact;
mod check;
mod correction;
mod cost;
mod defect;
mod dispatch;
mod finding;
mod gate;
mod journal;
mod note;
mod operation;
mod request;
mod result;
mod ruling;
mod run;
mod summary;

use crate::error::{Fault, LedgerError};
use crate::fact::BlobId;
use crate::ledger::Ledger;
use crate::{follow, schema};
use remand_kernel::Program;
use rusqlite::{Connection, OpenFlags, Params, Row, Transaction};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

pub use artifact::ArtifactRow;
pub use check::{CheckFilter, CheckRow, Origin};
pub use correction::{CorrectionEnd, CorrectionRow};
pub use cost::{CostBy, CostRow};
pub use defect::{Attempts, DefectRow, ReattributionRow, Resolution, Shared};
pub use dispatch::{DispatchRow, DispatchStatus, interrupted};
pub use finding::FindingRow;
pub(crate) use gate::LIMIT_ASKED;
pub use gate::{GateKind, GateOption, GateRow, WithheldOption};
pub use journal::{JournalRow, SnapshotRow};
pub use note::NoteRow;
pub use operation::OperationRow;
pub use request::{RequestFate, RequestRow};
pub use result::PassRow;
pub use ruling::RulingRow;
pub use run::{RunLimits, RunRow, RunStage, RunUsed};
pub use summary::{TaskSummary, Totals};

/// How long whoever drives a run has to bring the tables up with what it appended, and how often a reader looks.
const LOOKS: u32 = 40;
const NAP: Duration = Duration::from_micros(250);

const VERSION: &str = "PRAGMA data_version";

/// A connection that cannot write.
#[derive(Debug)]
pub struct Reader {
    conn: Connection,
    path: PathBuf,
    /// Programs that somebody still uses: runs that were pinned to the same one share it.
    programs: RefCell<HashMap<BlobId, Weak<Program>>>,
    /// The version of the ledger at which the tables were last seen to have come up with the journal.
    abreast: Cell<Option<i64>>,
}

impl Reader {
    /// Opens a ledger for reading. One of an older format is brought up to date before.
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
        Ok(Reader { conn, path: path.to_path_buf(), programs: RefCell::default(), abreast: Cell::new(None) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A number that changes whenever another connection has written.
    pub fn data_version(&self) -> Result<i64, LedgerError> {
        self.read(version)
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.conn
    }

    /// A program by the blob that holds it, read only if nobody has it.
    pub(crate) fn program<E>(
        &self,
        pinned: BlobId,
        read: impl FnOnce() -> Result<Program, E>,
    ) -> Result<Arc<Program>, E> {
        let known = self.programs.borrow().get(&pinned).and_then(Weak::upgrade);
        if let Some(known) = known {
            return Ok(known);
        }
        let program = Arc::new(read()?);
        self.programs.borrow_mut().insert(pinned, Arc::downgrade(&program));
        Ok(program)
    }

    /// One view of the ledger, whatever other processes append meanwhile, in which the tables are as near to the journal
    /// as they come.
    pub(crate) fn view(&self) -> Result<Transaction<'_>, LedgerError> {
        let mut looks = LOOKS;
        loop {
            let come = self.come_abreast();
            let view = self.read(|conn| Ok(conn.unchecked_transaction()?))?;
            looks -= 1;
            if come.is_err() || looks == 0 || !self.read(follow::is_behind)? {
                return Ok(view);
            }
        }
    }

    /// Waits until the tables show all that is in the journal, and has them show it when nobody else does.
    fn come_abreast(&self) -> Result<(), LedgerError> {
        for _ in 0..LOOKS {
            let now = self.read(version)?;
            if self.abreast.get() == Some(now) {
                return Ok(());
            }
            if !self.read(follow::is_behind)? {
                self.abreast.set(Some(now));
                return Ok(());
            }
            std::thread::sleep(NAP);
        }
        Ledger::open(&self.path).map(drop)
    }

    /// Reads what cannot be made again: journal, blobs, requests, and what says how far the tables are.
    pub(crate) fn read<'r, T>(
        &'r self,
        read: impl FnOnce(&'r Connection) -> Result<T, Fault>,
    ) -> Result<T, LedgerError> {
        read(&self.conn).map_err(|fault| LedgerError::from_fault(&self.path, fault))
    }

    /// Reads tables that are made from the journal.
    pub(crate) fn tables<'r, T>(
        &'r self,
        read: impl FnOnce(&'r Connection) -> Result<T, Fault>,
    ) -> Result<T, LedgerError> {
        self.come_abreast()?;
        self.read(read)
    }

    /// All rows that a query of tables gives.
    fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        decode: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, LedgerError> {
        self.come_abreast()?;
        self.records(sql, params, decode)
    }

    /// All rows that a query of the journal, of requests or of snapshots gives.
    fn records<T>(
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

fn version(conn: &Connection) -> Result<i64, Fault> {
    Ok(conn.prepare_cached(VERSION)?.query_row([], |row| row.get(0))?)
}
