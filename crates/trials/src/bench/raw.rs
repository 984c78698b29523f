//! Raw commits, alternating with durable steps, so that both see the same state of the disk.

use super::sample::Durations;
use super::track::Track;
use remand_kernel::Command;
use remand_ledger::measure::BareCommits;
use remand_ledger::{Reader, RunId};
use remand_terminal::CommandFailure;
use std::path::Path;
use std::time::Instant;

/// Makes raw commits, each with one row of the same size.
pub struct RawCommits {
    bare: BareCommits,
    body: Vec<u8>,
    pub times: Durations,
}

impl RawCommits {
    /// Opens a separate file in this folder.
    pub fn open(folder: &Path, size: usize) -> Result<RawCommits, CommandFailure> {
        let bare = BareCommits::open(&folder.join("bare.db"))?;
        Ok(RawCommits { bare, body: vec![b'x'; size], times: Durations::default() })
    }

    /// Makes `count` commits, one after another.
    pub fn commit(&mut self, count: usize) -> Result<(), CommandFailure> {
        for _ in 0..count {
            let started = Instant::now();
            self.bare.commit(&self.body)?;
            self.times.add(started.elapsed());
        }
        Ok(())
    }
}

/// The average number of bytes that a step of this run adds to the journal, including blobs.
pub fn average_step_size(track: &Track<'_>, run: &RunId) -> Result<usize, CommandFailure> {
    let reader = Reader::open(&track.path())?;
    let (mut bytes, mut count) = (0, 0);
    let mut blobs = Vec::new();
    let length = |value: serde_json::Result<String>| value.map_or(0, |text| text.len());
    let read = reader.each_event(run, 0, |row| {
        let commands: &[Command] = &row.commands;
        bytes += length(serde_json::to_string(&row.event)) + length(serde_json::to_string(&row.facts));
        bytes += length(serde_json::to_string(&row.rulings)) + length(serde_json::to_string(commands));
        blobs.extend(row.facts.artifacts.iter().map(|artifact| artifact.blob));
        count += 1;
    });
    read?;
    for blob in blobs {
        bytes += reader.blob(blob)?.len();
    }
    Ok(bytes / count.max(1))
}
