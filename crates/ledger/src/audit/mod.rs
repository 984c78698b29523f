//! Audits a ledger: file, schema, chain, blobs, and projections compared with a rebuild.

mod blobs;
mod links;
mod problem;
mod tables;

use crate::chain::ChainHead;
use crate::error::{Fault, LedgerError};
use crate::query::Reader;
use crate::schema;
use rusqlite::Connection;
use serde::Serialize;
use std::path::Path;

pub use problem::{AuditProblem, RowFault};

/// Rows between two progress reports.
const REPORT_EVERY: u64 = 1024;

/// What an audit found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// The end of the journal at the time of the audit.
    pub head: ChainHead,
    /// The first problem of each part, in the order of the parts.
    pub problems: Vec<AuditProblem>,
}

impl AuditReport {
    /// Whether no problem was found.
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

/// The progress of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AuditProgress {
    pub part: AuditPart,
    pub done: u64,
    pub of: u64,
}

/// Audits a ledger. A head that was kept elsewhere reveals a truncated journal, which leaves no other trace.
pub fn audit(
    reader: &Reader,
    expected: Option<ChainHead>,
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

/// A running audit.
struct Audit<'a> {
    conn: &'a Connection,
    path: &'a Path,
    head: ChainHead,
    progress: &'a mut dyn FnMut(AuditProgress),
    problems: Vec<AuditProblem>,
}

impl Audit<'_> {
    /// Runs one part. Unreadable data is a problem to report; the audit continues.
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
                self.problems.push(AuditProblem::Unreadable { part, detail: error.to_string() });
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
                self.problems.push(AuditProblem::File { detail: line });
            }
        }
        Ok(())
    }

    /// Compares tables, indexes, triggers and views with the format. Triggers matter: without them a journal can be changed.
    fn schema(&mut self) -> Result<(), Fault> {
        let fresh = schema::in_memory()?;
        let (found, known) = (schema::objects(self.conn)?, schema::objects(&fresh)?);
        for (name, sql) in &known {
            match found.get(name) {
                None => self.problems.push(AuditProblem::SchemaMissing { object: name.clone() }),
                Some(other) if other != sql => {
                    self.problems.push(AuditProblem::SchemaChanged { object: name.clone() });
                }
                Some(_) => {}
            }
        }
        for name in found.keys().filter(|name| !known.contains_key(*name)) {
            self.problems.push(AuditProblem::SchemaAdded { object: name.clone() });
        }
        Ok(())
    }
}
