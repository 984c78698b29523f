//! What can be read: one read-only connection, one file for each kind of row.

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
use crate::schema;
use remand_kernel::Program;
use rusqlite::{Connection, OpenFlags, Params, Row};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

pub use artifact::ArtifactRow;
pub use check::{CheckFilter, CheckRow, Origin};
pub use correction::{CorrectionEnd, CorrectionRow};
pub use cost::{CostBy, CostRow};
pub use defect::{Attempts, DefectRow, ReattributionRow, Resolution, Shared};
pub use dispatch::{DispatchRow, DispatchStatus, interrupted};
pub use finding::FindingRow;
pub use gate::{GateKind, GateOption, GateRow, WithheldOption};
pub use journal::{JournalRow, SnapshotRow};
pub use note::NoteRow;
pub use operation::OperationRow;
pub use request::{RequestFate, RequestRow};
pub use result::PassRow;
pub use ruling::RulingRow;
pub use run::{RunLimits, RunRow, RunStage, RunUsed};
pub use summary::{TaskSummary, Totals};

/// A connection that cannot write.
#[derive(Debug)]
pub struct Reader {
    conn: Connection,
    path: PathBuf,
    /// Programs that somebody still uses: runs that were pinned to the same one share it.
    programs: RefCell<HashMap<BlobId, Weak<Program>>>,
}

impl Reader {
    /// Opens a ledger for reading.
    pub fn open(path: &Path) -> Result<Reader, LedgerError> {
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
        Ok(Reader { conn, path: path.to_path_buf(), programs: RefCell::default() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A number that changes whenever another connection has written.
    pub fn data_version(&self) -> Result<i64, LedgerError> {
        self.read(|conn| Ok(conn.pragma_query_value(None, "data_version", |row| row.get(0))?))
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

    pub(crate) fn read<'r, T>(
        &'r self,
        read: impl FnOnce(&'r Connection) -> Result<T, Fault>,
    ) -> Result<T, LedgerError> {
        read(&self.conn).map_err(|fault| LedgerError::from_fault(&self.path, fault))
    }

    /// All rows that a query gives.
    fn rows<T>(
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
