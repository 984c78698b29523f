//! The transcript of a running dispatch: everything that its agent prints, line by line, with secrets removed.
//!
//! When the dispatch ends, the ledger holds the whole output; this file is for readers until then.

use super::folder::Folder;
use crate::redact::Redactor;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

const FILE: &str = "transcript.txt";

/// The file with the lines of a running dispatch, inside the folder of its run.
pub fn transcript_path(run: &Path, command: &str) -> PathBuf {
    Folder::path_in(run, command).join(FILE)
}

/// Writes the lines of one agent. A line that cannot be written is only missing for readers.
pub(super) struct Transcript {
    file: Option<File>,
    redactor: Redactor,
}

impl Transcript {
    pub(super) fn open(folder: &Folder, redactor: &Redactor) -> Transcript {
        let file = OpenOptions::new().create(true).append(true).open(folder.root().join(FILE));
        Transcript { file: file.ok(), redactor: redactor.clone() }
    }

    pub(super) fn add(&mut self, line: &[u8]) {
        if let Some(file) = &mut self.file {
            let mut line = self.redactor.redact_bytes(line).into_owned();
            if !line.ends_with(b"\n") {
                line.push(b'\n');
            }
            let _ = file.write_all(&line);
        }
    }
}
