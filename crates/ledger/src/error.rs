//! The errors of opening, reading and writing a ledger, each with a hint.

use crate::fact::{BlobId, NotABlobId, RunId};
use std::path::{Path, PathBuf};

/// Why a ledger operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    #[error("there is no ledger at {}", path.display())]
    Missing { path: PathBuf },
    #[error("{} is not a ledger", path.display())]
    NotALedger { path: PathBuf },
    #[error("the ledger {} is damaged: {detail}", path.display())]
    Corrupt { path: PathBuf, detail: String },
    #[error("the ledger {} has format {found}, but this version of Remand reads formats up to {known}", path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("the ledger {} has format {found}, but this version of Remand reads format {known}", path.display())]
    Older { path: PathBuf, found: i64, known: i64 },
    #[error("the ledger {} cannot be written: {detail}", path.display())]
    Unwritable { path: PathBuf, detail: String },
    #[error("the ledger {} cannot be opened: {detail}", path.display())]
    Unreadable { path: PathBuf, detail: String },
    #[error("the disk is full, and the ledger {} could not grow", path.display())]
    DiskFull { path: PathBuf },
    #[error("another process has kept the ledger {} locked for more than 5 seconds", path.display())]
    Busy { path: PathBuf },
    #[error("another process has continued run {run}")]
    Overtaken { run: RunId },
    #[error("run {run} is already working on {file}")]
    UnderWay { run: RunId, file: String },
    #[error("request {id} was consumed or withdrawn by another process")]
    RequestGone { id: i64 },
    #[error("the first event of run {run} lacks the facts that open a run")]
    NotOpened { run: RunId },
    #[error("an event of run {run} refers to blob {id}, which is not in the ledger")]
    BlobMissing { run: RunId, id: BlobId },
    #[error("the ledger has no blob {id}")]
    NoSuchBlob { id: BlobId },
    #[error("there is no run `{name}`")]
    NoSuchRun { name: String },
    #[error("`{name}` matches several runs: {}", matches.join(", "))]
    AmbiguousRun { name: String, matches: Vec<String> },
    #[error("{what} in the ledger {} cannot be read: {detail}", path.display())]
    Undecodable { path: PathBuf, what: String, detail: String },
    #[error("{} already exists", path.display())]
    Exists { path: PathBuf },
    #[error("SQLite failed on the ledger {}", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}

impl LedgerError {
    /// What to do about it, in one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            LedgerError::Missing { .. } => "start a run first, or check the path of the state directory",
            LedgerError::NotALedger { .. } => "name another file, or move this one away",
            LedgerError::Corrupt { .. } => {
                "copy it together with its `-wal` and `-shm` files; `sqlite3 FILE .recover` extracts what is readable; \
                 move all three away to start with a new ledger"
            }
            LedgerError::Newer { .. } => "use the newer version of Remand that wrote it",
            LedgerError::Older { .. } => "run the command again: it upgrades the ledger",
            LedgerError::Unwritable { .. } => {
                "give yourself write permission on the file and its folder, or set another state directory"
            }
            LedgerError::Unreadable { .. } => "give yourself read permission on the file and its folder",
            LedgerError::DiskFull { .. } => "free some space and try again; nothing that was saved is lost",
            LedgerError::Busy { .. } => "wait for the other process, or end it, and try again",
            LedgerError::Overtaken { .. } => "leave the run to that process, or resume it from the ledger",
            LedgerError::UnderWay { .. } => {
                "continue that run with `remand resume`, or end it with `remand cancel`"
            }
            LedgerError::RequestGone { .. } => "read the requests of the run again",
            LedgerError::NotOpened { .. } => "start the run again; this is a bug in Remand",
            LedgerError::BlobMissing { .. } => "pass the content with the event; this is a bug in Remand",
            LedgerError::NoSuchBlob { .. } => "check the id, and the ledger with `remand audit`",
            LedgerError::NoSuchRun { .. } => "list the runs with `remand runs`",
            LedgerError::AmbiguousRun { .. } => "give more characters of the id",
            LedgerError::Undecodable { .. } => "check the ledger with `remand audit`",
            LedgerError::Exists { .. } => "choose a file that does not exist yet, or remove this one",
            LedgerError::Sqlite { .. } => "check the disk and the file, then try again",
        }
    }

    pub(crate) fn from_fault(path: &Path, fault: Fault) -> LedgerError {
        let path = path.to_path_buf();
        let error = match fault {
            Fault::Ledger(error) => return *error,
            Fault::Encode(error) => {
                let detail = error.to_string();
                return LedgerError::Undecodable { path, what: "the data to be written".to_string(), detail };
            }
            Fault::Decode { what, detail } => return LedgerError::Undecodable { path, what, detail },
            Fault::Sqlite(error) => error,
        };
        match &error {
            rusqlite::Error::SqliteFailure(failure, detail) => {
                let detail = detail.clone().unwrap_or_else(|| failure.to_string());
                LedgerError::from_code(path, failure.code, detail)
                    .unwrap_or_else(|path| LedgerError::Sqlite { path, source: error })
            }
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::InvalidColumnType(..) => {
                let detail = error.to_string();
                LedgerError::Undecodable { path, what: "a row".to_string(), detail }
            }
            _ => LedgerError::Sqlite { path, source: error },
        }
    }

    fn from_code(path: PathBuf, code: rusqlite::ErrorCode, detail: String) -> Result<LedgerError, PathBuf> {
        use rusqlite::ErrorCode;
        Ok(match code {
            ErrorCode::NotADatabase => LedgerError::NotALedger { path },
            ErrorCode::DatabaseCorrupt => LedgerError::Corrupt { path, detail },
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => LedgerError::Unwritable { path, detail },
            ErrorCode::CannotOpen => LedgerError::Unreadable { path, detail },
            ErrorCode::DiskFull => LedgerError::DiskFull { path },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => LedgerError::Busy { path },
            _ => return Err(path),
        })
    }
}

/// An error without the path of the ledger, which `from_fault` adds.
#[derive(Debug)]
pub(crate) enum Fault {
    Sqlite(rusqlite::Error),
    Encode(serde_json::Error),
    Decode { what: String, detail: String },
    Ledger(Box<LedgerError>),
}

impl Fault {
    pub(crate) fn decode(what: impl Into<String>, error: &serde_json::Error) -> Fault {
        Fault::Decode { what: what.into(), detail: error.to_string() }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sqlite(error)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Fault {
        Fault::Encode(error)
    }
}

impl From<LedgerError> for Fault {
    fn from(error: LedgerError) -> Fault {
        Fault::Ledger(Box::new(error))
    }
}

impl From<NotABlobId> for Fault {
    fn from(error: NotABlobId) -> Fault {
        Fault::Decode { what: "a blob id".to_string(), detail: error.to_string() }
    }
}
