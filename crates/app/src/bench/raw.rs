//! Raw commits in turns with durable steps: what the disk does in a while is the same for both.

use super::sample::Sample;
use super::track::Track;
use crate::exit::Failure;
use crate::workplace::of_ledger;
use remand_kernel::Command;
use remand_ledger::measure::BareCommits;
use remand_ledger::{Reader, RunId};
use std::path::Path;
use std::time::Instant;

/// Raw commits, each of a row of the same size.
pub struct Raw {
    bare: BareCommits,
    body: Vec<u8>,
    pub times: Sample,
}

impl Raw {
    /// With a file of their own in this folder.
    pub fn open(folder: &Path, size: usize) -> Result<Raw, Failure> {
        let bare = BareCommits::open(&folder.join("bare.db")).map_err(|error| of_ledger(&error))?;
        Ok(Raw { bare, body: vec![b'x'; size], times: Sample::default() })
    }

    /// Makes so many of them, one after another.
    pub fn commit(&mut self, count: usize) -> Result<(), Failure> {
        for _ in 0..count {
            let begun = Instant::now();
            self.bare.commit(&self.body).map_err(|error| of_ledger(&error))?;
            self.times.take(begun.elapsed());
        }
        Ok(())
    }
}

/// How many bytes a step of this run puts into the journal on average, its blobs among them.
pub fn size_of(track: &Track<'_>, run: &RunId) -> Result<usize, Failure> {
    let reader = Reader::open(&track.path()).map_err(|error| of_ledger(&error))?;
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
    seen.map_err(|error| of_ledger(&error))?;
    for blob in blobs {
        bytes += reader.blob(blob).map_err(|error| of_ledger(&error))?.len();
    }
    Ok(bytes / count.max(1))
}
