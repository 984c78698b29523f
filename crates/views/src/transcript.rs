//! What an agent printed: from the ledger once it has ended, from its file while it works.

use crate::problem::ViewProblem;
use crate::repository::RepositoryState;
use crate::site::RunSite;
use remand_engine::dispatch::transcript_path;
use remand_ledger::Reader;
use remand_ledger::query::DispatchRow;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};

/// The end of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    pub bytes: Vec<u8>,
    /// How many bytes come before.
    pub start: u64,
}

/// Reads the last bytes of the transcript of a dispatch, without secrets; nothing if it has none yet.
pub fn transcript(
    site: &RunSite,
    repository: &RepositoryState,
    reader: &Reader,
    row: &DispatchRow,
    most: u64,
) -> Result<Transcript, ViewProblem> {
    if let Some(blob) = row.output {
        let mut bytes = reader.blob(blob)?;
        let start = (bytes.len() as u64).saturating_sub(most);
        bytes.drain(..usize::try_from(start).unwrap_or(0));
        return Ok(Transcript { bytes, start });
    }
    let path = transcript_path(&repository.home.run(&row.run), &row.command);
    let unreadable = |source| ViewProblem::File { what: path.display().to_string(), source };
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Transcript::default()),
        Err(error) => return Err(unreadable(error)),
    };
    let start = file.metadata().map_err(unreadable)?.len().saturating_sub(most);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start)).map_err(unreadable)?;
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    let bytes = (site.redactor)(&repository.home).redact_bytes(&bytes).into_owned();
    Ok(Transcript { bytes, start })
}
