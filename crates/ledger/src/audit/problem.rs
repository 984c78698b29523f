//! The problems that an audit can find.

use super::AuditPart;
use crate::fact::{BlobId, RunId};
use serde::Serialize;
use std::fmt;

/// A difference between a ledger and the data that Remand wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "problem")]
#[non_exhaustive]
pub enum AuditProblem {
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
    /// The first row of the journal that breaks the chain. The run of a removed row is inferred from other rows, if
    /// they show it.
    Row {
        id: i64,
        run: Option<RunId>,
        seq: Option<u64>,
        fault: RowFault,
    },
    /// The journal is shorter than the expected head says.
    CutOff {
        expected: u64,
        found: u64,
    },
    /// The journal has a different row at the position of the expected head.
    OtherHistory {
        count: u64,
    },
    /// The content of a blob does not match its id.
    BlobChanged {
        blob: BlobId,
    },
    /// An event refers to a missing blob.
    BlobMissing {
        blob: BlobId,
        run: RunId,
        seq: u64,
    },
    /// A replay gives rulings or commands that differ from the recorded ones, or fails.
    RuledOtherwise {
        detail: String,
    },
    /// A projection row differs from a rebuild.
    Projection {
        table: &'static str,
        row: String,
        /// `None` if the whole row is missing or should not exist.
        column: Option<String>,
        found: String,
        made: String,
    },
    /// A snapshot differs from the state that a replay gives.
    Snapshot {
        run: RunId,
        seq: u64,
    },
    /// A part of the ledger could not be read.
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

impl AuditProblem {
    /// Whether a rebuild of the projections repairs the problem.
    pub fn is_in_projections(&self) -> bool {
        match self {
            AuditProblem::Projection { .. } | AuditProblem::Snapshot { .. } => true,
            AuditProblem::File { .. }
            | AuditProblem::SchemaMissing { .. }
            | AuditProblem::SchemaChanged { .. }
            | AuditProblem::SchemaAdded { .. }
            | AuditProblem::Row { .. }
            | AuditProblem::CutOff { .. }
            | AuditProblem::OtherHistory { .. }
            | AuditProblem::BlobChanged { .. }
            | AuditProblem::BlobMissing { .. }
            | AuditProblem::RuledOtherwise { .. }
            | AuditProblem::Unreadable { .. } => false,
        }
    }
}

impl fmt::Display for AuditProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuditProblem::File { detail } => write!(f, "the file is damaged: {detail}"),
            AuditProblem::SchemaMissing { object } => write!(f, "{object} of the schema is missing"),
            AuditProblem::SchemaChanged { object } => write!(f, "{object} of the schema was changed"),
            AuditProblem::SchemaAdded { object } => write!(f, "{object} does not belong to the schema"),
            AuditProblem::Row { id, run, seq, fault } => {
                write!(f, "row {id} of the journal was {fault}")?;
                match (run, seq) {
                    (Some(run), Some(seq)) => write!(f, ": event {seq} of run {run}"),
                    (Some(run), None) => write!(f, ": an event of run {run}"),
                    (None, _) => Ok(()),
                }
            }
            AuditProblem::CutOff { expected, found } => {
                write!(f, "the journal is truncated: it has {found} rows, but had {expected}")
            }
            AuditProblem::OtherHistory { count } => {
                write!(f, "row {count} of the journal differs from the expected head")
            }
            AuditProblem::BlobChanged { blob } => write!(f, "the content of blob {blob} was changed"),
            AuditProblem::BlobMissing { blob, run, seq } => {
                write!(f, "blob {blob} is missing; event {seq} of run {run} refers to it")
            }
            AuditProblem::RuledOtherwise { detail } => f.write_str(detail),
            AuditProblem::Projection { table, row, column: Some(column), found, made } => write!(
                f,
                "in table {table}, row {row}, column {column} holds {found}, but the journal gives {made}"
            ),
            AuditProblem::Projection { table, row, column: None, found, made } => {
                write!(
                    f,
                    "in table {table}, row {row} is {found}, but should be {made} according to the journal"
                )
            }
            AuditProblem::Snapshot { run, seq } => {
                write!(f, "the snapshot of run {run} at event {seq} differs from a replay of its journal")
            }
            AuditProblem::Unreadable { detail, .. } => f.write_str(detail),
        }
    }
}
