//! What an audit can find, each with its place.

use super::AuditPart;
use crate::fact::{BlobId, RunId};
use serde::Serialize;
use std::fmt;

/// One thing that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "problem")]
#[non_exhaustive]
pub enum Problem {
    /// The file itself is damaged.
    File {
        detail: String,
    },
    SchemaMissing {
        object: String,
    },
    SchemaChanged {
        object: String,
    },
    SchemaAdded {
        object: String,
    },
    /// The first row of the journal that does not fit the chain. Of a removed row the run is known when others of the
    /// run tell.
    Row {
        id: i64,
        run: Option<RunId>,
        seq: Option<u64>,
        fault: RowFault,
    },
    /// The journal is shorter than a head that was quoted says.
    CutOff {
        expected: u64,
        found: u64,
    },
    /// The journal has another row where a quoted head says how it ended.
    OtherHistory {
        count: u64,
    },
    /// The content of a blob is not what its name says.
    BlobChanged {
        blob: BlobId,
    },
    /// An event names a blob that is not there.
    BlobMissing {
        blob: BlobId,
        run: RunId,
        seq: u64,
    },
    /// The kernel rules otherwise on a recorded event than was recorded.
    RuledOtherwise {
        detail: String,
    },
    /// A row of a projection is not what the journal makes of it.
    Projection {
        table: &'static str,
        row: String,
        /// None when the whole row is missing or should not be there.
        column: Option<String>,
        found: String,
        made: String,
    },
    /// A snapshot is not the state that the journal leads to.
    Snapshot {
        run: RunId,
        seq: u64,
    },
    /// Something could not be read at all.
    Unreadable {
        part: AuditPart,
        detail: String,
    },
}

/// What is wrong with a row of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowFault {
    Changed,
    Removed,
    Inserted,
}

impl fmt::Display for RowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RowFault::Changed => "changed",
            RowFault::Removed => "removed",
            RowFault::Inserted => "inserted",
        })
    }
}

impl Problem {
    /// Tells whether making the projections again from the journal mends it.
    pub fn is_of_projections(&self) -> bool {
        match self {
            Problem::Projection { .. } | Problem::Snapshot { .. } => true,
            Problem::File { .. }
            | Problem::SchemaMissing { .. }
            | Problem::SchemaChanged { .. }
            | Problem::SchemaAdded { .. }
            | Problem::Row { .. }
            | Problem::CutOff { .. }
            | Problem::OtherHistory { .. }
            | Problem::BlobChanged { .. }
            | Problem::BlobMissing { .. }
            | Problem::RuledOtherwise { .. }
            | Problem::Unreadable { .. } => false,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::File { detail } => write!(f, "the file is damaged: {detail}"),
            Problem::SchemaMissing { object } => write!(f, "{object} of the schema is missing"),
            Problem::SchemaChanged { object } => write!(f, "{object} of the schema was changed"),
            Problem::SchemaAdded { object } => write!(f, "{object} does not belong to the schema"),
            Problem::Row { id, run, seq, fault } => {
                write!(f, "row {id} of the journal was {fault}")?;
                match (run, seq) {
                    (Some(run), Some(seq)) => write!(f, ": event {seq} of run {run}"),
                    (Some(run), None) => write!(f, ": an event of run {run}"),
                    (None, _) => Ok(()),
                }
            }
            Problem::CutOff { expected, found } => {
                write!(f, "the journal was cut off: it has {found} rows, and had {expected}")
            }
            Problem::OtherHistory { count } => {
                write!(f, "row {count} of the journal is not the one that was quoted as its end")
            }
            Problem::BlobChanged { blob } => write!(f, "the content of blob {blob} was changed"),
            Problem::BlobMissing { blob, run, seq } => {
                write!(f, "blob {blob}, which event {seq} of run {run} names, is missing")
            }
            Problem::RuledOtherwise { detail } => f.write_str(detail),
            Problem::Projection { table, row, column: Some(column), found, made } => write!(
                f,
                "in table {table}, row {row}, column {column} holds {found}, and the journal makes {made}"
            ),
            Problem::Projection { table, row, column: None, found, made } => {
                write!(f, "in table {table}, row {row} is {found}, and the journal makes it {made}")
            }
            Problem::Snapshot { run, seq } => {
                write!(f, "the snapshot of run {run} at event {seq} is not where its journal leads")
            }
            Problem::Unreadable { detail, .. } => f.write_str(detail),
        }
    }
}
