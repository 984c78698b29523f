//! Versions of artifacts, and the content of blobs.

use super::Reader;
use crate::column::Count;
use crate::error::LedgerError;
use crate::fact::{BlobId, Millis, RunId};
use remand_kernel::change::Digest;
use rusqlite::{OptionalExtension, Row};
use serde::Serialize;

const COLUMNS: &str = "name, part, version, seq, at, digest, blob, by, format";

const LATEST: &str = "SELECT name, part, max(version), seq, at, digest, blob, by, format FROM artifacts
    WHERE run = ?1 GROUP BY name, part ORDER BY name, part";

/// One version of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArtifactRow {
    pub name: String,
    /// Empty for the whole artifact.
    pub part: String,
    /// The number of the version, from 1 for each name and part.
    pub version: u32,
    pub seq: u64,
    pub at: Millis,
    pub digest: Digest,
    pub blob: BlobId,
    pub by: String,
    pub format: String,
}

impl Reader {
    /// The latest version of each artifact and part, by name.
    pub fn artifacts(&self, run: &RunId) -> Result<Vec<ArtifactRow>, LedgerError> {
        self.rows(LATEST, [run], decode)
    }

    /// All versions of an artifact, ordered by part and then oldest first.
    pub fn artifact_versions(&self, run: &RunId, name: &str) -> Result<Vec<ArtifactRow>, LedgerError> {
        let sql =
            format!("SELECT {COLUMNS} FROM artifacts WHERE run = ?1 AND name = ?2 ORDER BY part, version");
        self.rows(&sql, (run, name), decode)
    }

    /// The latest version with this digest.
    pub fn artifact_by_digest(
        &self,
        run: &RunId,
        name: &str,
        digest: Digest,
    ) -> Result<Option<ArtifactRow>, LedgerError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM artifacts WHERE run = ?1 AND name = ?2 AND digest = ?3
            ORDER BY seq DESC LIMIT 1"
        );
        Ok(self.rows(&sql, (run, name, digest.0.cast_signed()), decode)?.into_iter().next())
    }

    /// The content of a blob.
    pub fn blob(&self, id: BlobId) -> Result<Vec<u8>, LedgerError> {
        let body = self.read(|conn| {
            let mut statement = conn.prepare_cached("SELECT body FROM blobs WHERE id = ?1")?;
            Ok(statement.query_row([id], |row| row.get::<_, Vec<u8>>(0)).optional()?)
        })?;
        body.ok_or(LedgerError::NoSuchBlob { id })
    }

    /// Whether the ledger has a blob, so its content need not be passed again.
    pub fn has_blob(&self, id: BlobId) -> Result<bool, LedgerError> {
        self.read(|conn| Ok(conn.prepare_cached("SELECT 1 FROM blobs WHERE id = ?1")?.exists([id])?))
    }
}

fn decode(row: &Row<'_>) -> rusqlite::Result<ArtifactRow> {
    Ok(ArtifactRow {
        name: row.get(0)?,
        part: row.get(1)?,
        version: row.get(2)?,
        seq: row.get::<_, Count>(3)?.0,
        at: row.get(4)?,
        digest: Digest(row.get::<_, i64>(5)?.cast_unsigned()),
        blob: row.get(6)?,
        by: row.get(7)?,
        format: row.get(8)?,
    })
}
