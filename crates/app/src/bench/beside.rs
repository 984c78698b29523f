//! Raw commits beside durable steps: what the disk does in a while is the same for both.

use super::sample::Sample;
use super::track::{Timing, Track};
use crate::exit::Failure;
use crate::workplace::of_ledger;
use remand_kernel::Command;
use remand_ledger::measure::BareCommits;
use remand_ledger::{Reader, RunId};
use remand_runtime::host::{News, Watch};
use std::path::Path;
use std::time::{Duration, Instant};

/// Steps and raw commits in turns.
pub struct Beside {
    bare: BareCommits,
    body: Vec<u8>,
    /// A raw commit follows every so many steps.
    every: usize,
    steps: Sample,
    commits: Sample,
    last: Instant,
    failed: Option<Failure>,
}

impl Beside {
    /// Raw commits of so many bytes, into a file of their own in this folder.
    pub fn open(folder: &Path, size: usize, every: usize) -> Result<Beside, Failure> {
        let bare = BareCommits::open(&folder.join("bare.db")).map_err(|error| of_ledger(&error))?;
        let (steps, commits) = (Sample::default(), Sample::default());
        Ok(Beside { bare, body: vec![b'x'; size], every, steps, commits, last: Instant::now(), failed: None })
    }

    /// How many steps were taken.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Steps and raw commits, each in the order of time.
    pub fn taken(self) -> Result<(Sample, Sample), Failure> {
        match self.failed {
            None => Ok((self.steps, self.commits)),
            Some(failure) => Err(failure),
        }
    }

    fn commit(&self) -> Result<Duration, Failure> {
        let begun = Instant::now();
        self.bare.commit(&self.body).map_err(|error| of_ledger(&error))?;
        Ok(begun.elapsed())
    }
}

impl Timing for Beside {
    fn begin(&mut self) {
        self.last = Instant::now();
    }
}

impl Watch for Beside {
    fn published(&mut self, _: &News<'_>) {
        self.steps.take(self.last.elapsed());
        if self.steps.len().is_multiple_of(self.every) {
            match self.commit() {
                Ok(took) => self.commits.take(took),
                Err(failure) => self.failed = Some(failure),
            }
        }
        self.last = Instant::now();
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
