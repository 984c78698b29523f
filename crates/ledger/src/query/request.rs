//! Requests from other processes to the process that drives a run.

use super::Reader;
use crate::column::Json;
use crate::error::LedgerError;
use crate::fact::{Millis, RunId};
use remand_kernel::Event;
use rusqlite::OptionalExtension;
use serde::Serialize;

const OF_RUN: &str = "SELECT id, run, at, body FROM requests WHERE run = ?1 AND refused IS NULL ORDER BY id";
const ALL: &str = "SELECT id, run, at, body FROM requests WHERE refused IS NULL ORDER BY id";
const REFUSED: &str =
    "SELECT id, run, at, body, refused FROM requests WHERE run = ?1 AND refused IS NOT NULL ORDER BY id";
const FATE: &str = "SELECT refused FROM requests WHERE id = ?1";

/// A request that no driving process has handled yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestRow {
    pub id: i64,
    pub run: RunId,
    pub at: Millis,
    pub event: Event,
}

/// A request that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedRequest {
    #[serde(flatten)]
    pub request: RequestRow,
    pub why: String,
}

/// What happened to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestFate {
    Waiting,
    /// It has become an event of the run.
    #[serde(rename = "taken")]
    Accepted,
    Refused(String),
}

impl Reader {
    /// The waiting requests for a run, oldest first.
    pub fn requests(&self, run: &RunId) -> Result<Vec<RequestRow>, LedgerError> {
        self.direct_rows(OF_RUN, [run], decode)
    }

    /// The waiting requests for all runs, oldest first.
    pub fn all_requests(&self) -> Result<Vec<RequestRow>, LedgerError> {
        self.direct_rows(ALL, [], decode)
    }

    /// The refused requests of a run, oldest first.
    pub fn refused_requests(&self, run: &RunId) -> Result<Vec<RefusedRequest>, LedgerError> {
        self.direct_rows(REFUSED, [run], |row| Ok(RefusedRequest { request: decode(row)?, why: row.get(4)? }))
    }

    /// What happened to a request. An accepted request is deleted and its id is never used again, so an id without a
    /// row was accepted.
    pub fn fate(&self, request: i64) -> Result<RequestFate, LedgerError> {
        self.read(|conn| {
            let refused: Option<Option<String>> =
                conn.prepare_cached(FATE)?.query_row([request], |row| row.get(0)).optional()?;
            Ok(match refused {
                None => RequestFate::Accepted,
                Some(None) => RequestFate::Waiting,
                Some(Some(reason)) => RequestFate::Refused(reason),
            })
        })
    }
}

fn decode(row: &rusqlite::Row<'_>) -> rusqlite::Result<RequestRow> {
    Ok(RequestRow {
        id: row.get(0)?,
        run: row.get(1)?,
        at: row.get(2)?,
        event: row.get::<_, Json<Event>>(3)?.0,
    })
}
