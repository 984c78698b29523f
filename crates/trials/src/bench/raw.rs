//! Raw commits, alternating with durable steps, so that both see the same state of the disk.

use super::sample::Durations;
use super::track::Track;
use remand_kernel::Command;
use remand_ledger::measure::BareCommits;
use remand_ledger::{Reader, RunId};
use remand_terminal::CommandFailure;
use std::path::Path;
use std::time::Instant;

/// Raw commits, each of a row of the same size.
pub struct Raw {
    bare: BareCommits,
    body: Vec<u8>,
    pub times: Durations,
}

impl Raw {
    /// Opens a separate file in this folder.
    pub fn open(folder: &Path, size: usize) -> Result<Raw, CommandFailure> {
        let bare = BareCommits::open(&folder.join("bare.db"))?;
        Ok(Raw { bare, body: vec![b'x'; size], times: Durations::default() })
    }

    /// Makes `count` commits, one after another.
    pub fn commit(&mut self, count: usize) -> Result<(), CommandFailure> {
        for _ in 0..count {
            let begun = Instant::now();
            self.bare.commit(&self.body)?;
            self.times.take(begun.elapsed());
        }
        Ok(())
    }
}

/// The average number of bytes that a step of this run adds to the journal, including blobs.
pub fn size_of(track: &Track<'_>, run: &RunId) -> Result<usize, CommandFailure> {
    let reader = Reader::open(&track.path())?;
    let (mut bytes, mut count) = (0, 0);
    let mut blobs = Vec::new();
    let text = |value: serde_json::Result<String>| value.map_or(0, |text| text.len());
    let seen = reader.each_event(run, 0, |row| {
        let commands: &[Command] = &row.commands;
        bytes += text(serde_json::to_string(&row.event)) + text(serde_json::to_string(&row.facts));
        bytes += text(serde_json::to_string(&row.rulings)) + text(serde_json::to_string(commands));
        blobs.extend(row.facts.artifacts.iter().map(|artifact| artifact.blob));
        count += 1;
    });
    seen?;
    for blob in blobs {
        bytes += reader.blob(blob)?.len();
    }
    Ok(bytes / count.max(1))
}
