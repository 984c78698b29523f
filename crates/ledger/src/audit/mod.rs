//! Whether a ledger is what was written: file, schema, chain, blobs, and projections made again (CORE-08).

mod blobs;
mod links;
mod problem;
mod tables;

use crate::chain::Head;
use crate::error::{Fault, LedgerError};
use crate::query::Reader;
use crate::schema;
use rusqlite::Connection;
use serde::Serialize;
use std::path::Path;

pub use problem::{Problem, RowFault};

/// So many rows pass between two reports of progress.
const REPORT_EVERY: u64 = 1024;

/// What an audit found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// How the journal ends now.
    pub head: Head,
    /// Of each part the first, in the order of the parts.
    pub problems: Vec<Problem>,
}

impl AuditReport {
    /// Tells whether everything is as it was written.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
}

/// The parts of an audit, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditPart {
    File,
    Schema,
    Chain,
    Blobs,
    Projections,
}

/// How far an audit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AuditProgress {
    pub part: AuditPart,
    pub done: u64,
    pub of: u64,
}

/// Checks a whole ledger, against a head that is known from elsewhere where there is one: a tail that was cut off
/// leaves no other trace.
pub fn audit(
    reader: &Reader,
    expected: Option<Head>,
    mut progress: impl FnMut(AuditProgress),
) -> Result<AuditReport, LedgerError> {
    let head = reader.head()?;
    let mut audit = Audit {
        conn: reader.connection(),
        path: reader.path(),
        head,
        progress: &mut progress,
        problems: Vec::new(),
    };
    let tx = reader.view()?;
    audit.head = reader.head()?;
    audit.part(AuditPart::File, |audit| audit.file())?;
    audit.part(AuditPart::Schema, |audit| audit.schema())?;
    audit.part(AuditPart::Chain, |audit| audit.links(expected))?;
    audit.part(AuditPart::Blobs, |audit| audit.blobs())?;
    audit.part(AuditPart::Projections, |audit| audit.tables())?;
    let report = AuditReport { head: audit.head, problems: audit.problems };
    drop(tx);
    Ok(report)
}

/// An audit under way.
struct Audit<'a> {
    conn: &'a Connection,
    path: &'a Path,
    head: Head,
    progress: &'a mut dyn FnMut(AuditProgress),
    problems: Vec<Problem>,
}

impl Audit<'_> {
    /// Runs one part. What cannot be read is a problem of the ledger, not an end of the audit.
    fn part(
        &mut self,
        part: AuditPart,
        check: impl FnOnce(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), LedgerError> {
        (self.progress)(AuditProgress { part, done: 0, of: self.head.count });
        match check(self).map_err(|fault| LedgerError::from_fault(self.path, fault)) {
            Ok(()) => Ok(()),
            Err(
                error @ (LedgerError::Corrupt { .. }
                | LedgerError::NotALedger { .. }
                | LedgerError::Undecodable { .. }),
            ) => {
                self.problems.push(Problem::Unreadable { part, detail: error.to_string() });
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn report(&mut self, part: AuditPart, done: u64) {
        if done.is_multiple_of(REPORT_EVERY) {
            (self.progress)(AuditProgress { part, done, of: self.head.count });
        }
    }

    fn file(&mut self) -> Result<(), Fault> {
        let mut statement = self.conn.prepare("PRAGMA integrity_check(10)")?;
        let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
        for line in lines {
            let line = line?;
            if line != "ok" {
                self.problems.push(Problem::File { detail: line });
            }
        }
        Ok(())
    }

    /// Tables, indexes, triggers and views are those of the format: without its triggers a journal can be changed.
    fn schema(&mut self) -> Result<(), Fault> {
        let fresh = schema::blank()?;
        let (found, known) = (schema::objects(self.conn)?, schema::objects(&fresh)?);
        for (name, sql) in &known {
            match found.get(name) {
                None => self.problems.push(Problem::SchemaMissing { object: name.clone() }),
                Some(other) if other != sql => {
                    self.problems.push(Problem::SchemaChanged { object: name.clone() });
                }
                Some(_) => {}
            }
        }
        for name in found.keys().filter(|name| !known.contains_key(*name)) {
            self.problems.push(Problem::SchemaAdded { object: name.clone() });
        }
        Ok(())
    }
}
