//! The files of an entry in the log of a run, and what all entries of a log say together.

use super::error::HubError;
use crate::turn::AgentStart;
use remand_git::{CommitId, GitError, References, Repository};
use remand_ledger::transfer::{START_OF_RUN, verify};
use remand_ledger::{Blob, BlobId, ChainHash, Millis, ReservedNumber, RunCopy, RunId, RunRow};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format of entries. Entries of another format are refused.
const FORMAT: u32 = 1;

const HEAD: &str = "entry";
const ROWS: &str = "rows";
const START: &str = "start";
const NUMBERS: &str = "numbers";
const REFERENCES: &str = "references";

/// Why an entry was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EntryAction {
    /// The journal of the run has a new row.
    Row,
    /// An agent is about to start.
    Start,
    /// Only the work of the run has changed.
    Work,
    /// Another machine continues the run from here.
    Claim,
}

/// What every entry says about itself and the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EntryHead {
    pub(super) format: u32,
    pub(super) run: RunId,
    pub(super) action: EntryAction,
    pub(super) machine: String,
    pub(super) at: Millis,
    pub(super) version: String,
    /// The number and the hash of the last row of the run.
    pub(super) seq: u64,
    pub(super) hash: ChainHash,
    /// The blobs in this entry.
    pub(super) blobs: Vec<BlobId>,
    /// Makes entries of different processes differ, whatever they contain.
    pub(super) process: String,
}

/// The content of an entry besides its head.
#[derive(Clone, Debug, Default)]
pub(super) struct EntryContent {
    pub(super) row: Option<RunRow>,
    pub(super) blobs: Vec<Blob>,
    pub(super) start: Option<AgentStart>,
    /// All numbers of the run, if they changed.
    pub(super) numbers: Option<Vec<ReservedNumber>>,
}

/// What the log of a run says, up to one of its entries.
#[derive(Clone, Debug)]
pub(super) struct RunLog {
    /// The head of the newest entry.
    pub(super) head: EntryHead,
    pub(super) rows: Vec<RunRow>,
    /// The entry of each blob.
    pub(super) blobs: BTreeMap<BlobId, CommitId>,
    /// The last start for each command.
    pub(super) starts: BTreeMap<String, AgentStart>,
    pub(super) numbers: Vec<ReservedNumber>,
    pub(super) references: References,
}

impl EntryHead {
    pub(super) fn new(
        run: &RunId,
        action: EntryAction,
        machine: &str,
        process: &str,
        at: Millis,
    ) -> EntryHead {
        EntryHead {
            format: FORMAT,
            run: run.clone(),
            action,
            machine: machine.to_string(),
            at,
            version: env!("CARGO_PKG_VERSION").to_string(),
            seq: 0,
            hash: START_OF_RUN,
            blobs: Vec::new(),
            process: process.to_string(),
        }
    }

    /// One line for people who look at the hub with git.
    pub(super) fn message(&self) -> String {
        let what = match self.action {
            EntryAction::Row => format!("row {}", self.seq),
            EntryAction::Start => "an agent starts".to_string(),
            EntryAction::Work => "work".to_string(),
            EntryAction::Claim => format!("continued by {}", self.machine),
        };
        format!("Run {}: {what} ({})", self.run, self.process)
    }
}

/// The files of an entry.
pub(super) fn files(
    head: &EntryHead,
    content: &EntryContent,
    references: &References,
) -> Result<Vec<(String, Vec<u8>)>, serde_json::Error> {
    let mut files = vec![(HEAD.to_string(), serde_json::to_vec(head)?)];
    if let Some(row) = &content.row {
        files.push((ROWS.to_string(), serde_json::to_vec(row)?));
    }
    if let Some(start) = &content.start {
        files.push((START.to_string(), serde_json::to_vec(start)?));
    }
    if let Some(numbers) = &content.numbers {
        files.push((NUMBERS.to_string(), serde_json::to_vec(numbers)?));
    }
    let lines: String = references.iter().map(|(name, object)| format!("{object} {name}\n")).collect();
    files.push((REFERENCES.to_string(), lines.into_bytes()));
    files.extend(content.blobs.iter().map(|blob| (blob_file(&blob.id), blob.bytes.clone())));
    Ok(files)
}

fn blob_file(id: &BlobId) -> String {
    format!("blobs/{id}")
}

/// The head of an entry.
pub(super) fn head(repository: &Repository, run: &RunId, entry: &CommitId) -> Result<EntryHead, HubError> {
    let file = repository.log_files(&[(entry.clone(), HEAD.to_string())])?.pop().flatten();
    let damaged = || HubError::Damaged { run: run.clone(), detail: format!("entry {entry} has no head") };
    parsed(run, HEAD, &file.ok_or_else(damaged)?)
}

fn parsed<T: DeserializeOwned>(run: &RunId, file: &str, bytes: &[u8]) -> Result<T, HubError> {
    serde_json::from_slice(bytes)
        .map_err(|error| HubError::Damaged { run: run.clone(), detail: format!("`{file}`: {error}") })
}

impl RunLog {
    /// Reads the log of a run up to an entry, and verifies the chain of its rows.
    pub(super) fn read(repository: &Repository, run: &RunId, newest: &CommitId) -> Result<RunLog, HubError> {
        let damaged = |detail: String| HubError::Damaged { run: run.clone(), detail };
        let entries = repository.log_entries(newest, None)?;
        let names = [HEAD, ROWS, START, NUMBERS];
        let wanted: Vec<(CommitId, String)> = entries
            .iter()
            .flat_map(|entry| names.map(|name| (entry.clone(), name.to_string())))
            .chain([(newest.clone(), REFERENCES.to_string())])
            .collect();
        let mut found = repository.log_files(&wanted)?;
        let references =
            found.pop().flatten().ok_or_else(|| damaged("its references are missing".to_string()))?;
        let mut log: Option<RunLog> = None;
        for (entry, files) in entries.iter().zip(found.chunks_exact(names.len())) {
            let [head, row, start, numbers] = files else { continue };
            let Some(head) = head else {
                // The root of the chain is empty.
                match log {
                    None => continue,
                    Some(_) => return Err(damaged(format!("entry {entry} has no head"))),
                }
            };
            let head: EntryHead = parsed(run, HEAD, head)?;
            if head.format != FORMAT {
                return Err(damaged(format!(
                    "its format {} is unknown; it was written by Remand {}",
                    head.format, head.version
                )));
            }
            if head.run != *run {
                return Err(damaged(format!("an entry belongs to run {}", head.run)));
            }
            let log = log.get_or_insert_with(|| RunLog {
                head: head.clone(),
                rows: Vec::new(),
                blobs: BTreeMap::new(),
                starts: BTreeMap::new(),
                numbers: Vec::new(),
                references: References::new(),
            });
            if let Some(row) = row {
                log.rows.push(parsed(run, ROWS, row)?);
            }
            if let Some(start) = start {
                let start: AgentStart = parsed(run, START, start)?;
                log.starts.insert(start.command.to_string(), start);
            }
            if let Some(numbers) = numbers {
                log.numbers = parsed(run, NUMBERS, numbers)?;
            }
            log.blobs.extend(head.blobs.iter().map(|id| (*id, entry.clone())));
            log.head = head;
        }
        let mut log = log.ok_or_else(|| damaged("it is empty".to_string()))?;
        verify(run, &log.rows)?;
        let last = log.rows.last().map_or((0, START_OF_RUN), |row| (row.seq, row.hash));
        if last != (log.head.seq, log.head.hash) {
            return Err(damaged("rows are missing at its end".to_string()));
        }
        log.references = parse_references(&references)?;
        Ok(log)
    }

    /// A copy of the run for a ledger that has this many of its rows.
    pub(super) fn copy(&self, repository: &Repository, rows: u64) -> Result<RunCopy, HubError> {
        let known = usize::try_from(rows).unwrap_or(usize::MAX).min(self.rows.len());
        let mut wanted: Vec<(BlobId, CommitId)> = Vec::new();
        if known < self.rows.len() {
            wanted.extend(self.blobs.iter().map(|(id, entry)| (*id, entry.clone())));
        }
        let files: Vec<(CommitId, String)> =
            wanted.iter().map(|(id, entry)| (entry.clone(), blob_file(id))).collect();
        let contents = repository.log_files(&files)?;
        let blobs = wanted.into_iter().zip(contents).map(|((id, _), bytes)| match bytes {
            Some(bytes) => Ok(Blob { id, bytes }),
            None => {
                Err(HubError::Damaged { run: self.head.run.clone(), detail: format!("blob {id} is missing") })
            }
        });
        Ok(RunCopy {
            rows: self.rows.clone(),
            blobs: blobs.collect::<Result<_, _>>()?,
            numbers: self.numbers.clone(),
        })
    }
}

fn parse_references(text: &[u8]) -> Result<References, GitError> {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(object, name)| Ok((name.to_string(), object.parse()?))).collect()
}
