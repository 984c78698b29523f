//! Audits a ledger: checks file, schema, chain and blobs, and compares the projections with a rebuild.

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

/// The result of an audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// The end of the journal at the time of the audit.
    pub head: ChainHead,
    /// The problems, in the order of the parts.
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

/// Audits a ledger. An `expected` head that was kept elsewhere reveals a truncated journal, which leaves no other
/// trace.
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
    let tx = reader.begin_read()?;
    audit.head = reader.head()?;
    audit.run_part(AuditPart::File, |audit| audit.check_file())?;
    audit.run_part(AuditPart::Schema, |audit| audit.check_schema())?;
    audit.run_part(AuditPart::Chain, |audit| audit.check_chain(expected))?;
    audit.run_part(AuditPart::Blobs, |audit| audit.check_blobs())?;
    audit.run_part(AuditPart::Projections, |audit| audit.check_projections())?;
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
    fn run_part(
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

    fn report_progress(&mut self, part: AuditPart, done: u64) {
        if done.is_multiple_of(REPORT_EVERY) {
            (self.progress)(AuditProgress { part, done, of: self.head.count });
        }
    }

    fn check_file(&mut self) -> Result<(), Fault> {
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

    /// Compares tables, indexes, triggers and views with those of a new ledger. Triggers matter: they protect the
    /// journal.
    fn check_schema(&mut self) -> Result<(), Fault> {
        let new_ledger = schema::in_memory()?;
        let (found, expected) = (schema::objects(self.conn)?, schema::objects(&new_ledger)?);
        for (name, sql) in &expected {
            match found.get(name) {
                None => self.problems.push(AuditProblem::SchemaMissing { object: name.clone() }),
                Some(found_sql) if found_sql != sql => {
                    self.problems.push(AuditProblem::SchemaChanged { object: name.clone() });
                }
                Some(_) => {}
            }
        }
        for name in found.keys().filter(|name| !expected.contains_key(*name)) {
            self.problems.push(AuditProblem::SchemaAdded { object: name.clone() });
        }
        Ok(())
    }
}
