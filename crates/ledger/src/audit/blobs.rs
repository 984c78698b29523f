//! Checks that each blob matches its id, and that every blob that an event refers to exists.

use super::problem::AuditProblem;
use super::{Audit, AuditPart};
use crate::error::Fault;
use crate::fact::{BlobId, RunId};
use crate::history::decode_facts;
use std::collections::HashSet;

const BLOBS: &str = "SELECT id, body, size FROM blobs";
const FACTS: &str = "SELECT run, seq, facts FROM events WHERE facts <> '' ORDER BY id";

impl Audit<'_> {
    pub(super) fn check_blobs(&mut self) -> Result<(), Fault> {
        let mut present: HashSet<BlobId> = HashSet::new();
        let mut statement = self.conn.prepare(BLOBS)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let blob: BlobId = row.get(0)?;
            let body = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            let size: i64 = row.get(2)?;
            if BlobId::of(body) != blob || i64::try_from(body.len()) != Ok(size) {
                self.problems.push(AuditProblem::BlobChanged { blob });
            }
            present.insert(blob);
        }
        let mut statement = self.conn.prepare(FACTS)?;
        let mut rows = statement.query([])?;
        let mut done = 0;
        while let Some(row) = rows.next()? {
            let (run, seq): (RunId, i64) = (row.get(0)?, row.get(1)?);
            let facts = decode_facts(&run, seq, row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?)?;
            if let Some(blob) = facts.blobs().find(|blob| !present.contains(blob)) {
                let seq = u64::try_from(seq).unwrap_or(0);
                self.problems.push(AuditProblem::BlobMissing { blob, run, seq });
                return Ok(());
            }
            done += 1;
            self.report_progress(AuditPart::Blobs, done);
        }
        Ok(())
    }
}
