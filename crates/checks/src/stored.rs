//! The stored form of results: facts of the ledger, rows of the gate, and results read back from the ledger.
//!
//! No other file converts between these forms.

use super::result::{CheckEnd, CheckResult, StoredBlobs, TestListing};
use remand_kernel::evidence::{EvidenceRow, RowPhase, RowSource};
use remand_ledger::fact::{Check, Reuse};
use remand_ledger::query::CheckRow;
use remand_ledger::{Blob, BlobId, LedgerError, Reader};
use std::time::Duration;

/// When and for which task checks ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occasion {
    /// `None` for the whole run.
    pub task: Option<String>,
    pub phase: RowPhase,
    pub round: u32,
    /// Counts from 1; 0 at the baseline.
    pub iteration: u32,
}

/// Facts for the ledger, with the content of the blobs that they name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckFacts {
    pub checks: Vec<Check>,
    pub blobs: Vec<Blob>,
}

/// Why a stored result cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("the stored test results of `{check}` cannot be read")]
    Tests { check: String, source: serde_json::Error },
}

/// Which blobs are read with a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadBack {
    /// The individual tests, which are enough for a comparison.
    Tests,
    /// Also the output of a failure, from which findings take the file and line.
    TestsAndFailures,
}

/// A result with its occasion and its blobs.
#[derive(Clone, Copy)]
struct Evidence<'e> {
    result: &'e CheckResult,
    occasion: &'e Occasion,
    blobs: StoredBlobs,
}

impl Occasion {
    /// The rows that the gate rules on. A check that did not run, or ran no test, belongs to no tier. It does not
    /// count at the gate, and if it is in the baseline, a later failure of the check still counts.
    pub fn rows(&self, results: &[CheckResult]) -> Vec<EvidenceRow> {
        let row =
            |result| EvidenceRow::from(Evidence { result, occasion: self, blobs: StoredBlobs::default() });
        results.iter().map(row).collect()
    }

    /// The fact of a result that has neither output nor tests.
    pub fn fact(&self, result: &CheckResult) -> Check {
        Check::from(Evidence { result, occasion: self, blobs: result.stored })
    }

    /// The facts that the ledger keeps, with outputs and individual tests as blobs.
    pub fn facts(&self, results: &[CheckResult]) -> CheckFacts {
        let mut facts = CheckFacts::default();
        for result in results {
            let blobs = if result.is_reused() { result.stored } else { facts.store(result) };
            facts.checks.push(Check::from(Evidence { result, occasion: self, blobs }));
        }
        facts
    }
}

impl From<Evidence<'_>> for EvidenceRow {
    fn from(Evidence { result, occasion, .. }: Evidence<'_>) -> EvidenceRow {
        EvidenceRow {
            check: result.name.clone(),
            phase: occasion.phase,
            tier: result.tier.filter(|_| result.counts()),
            passed: result.passed(),
            exit_code: result.exit_code,
            iteration: occasion.iteration,
            superseded: false,
            collected: result.collected,
            duration_ms: millis(result),
            reason: result.reason.clone(),
            source: RowSource::Engine,
            red_before: result.red_before,
        }
    }
}

impl From<Evidence<'_>> for Check {
    fn from(Evidence { result, occasion, blobs }: Evidence<'_>) -> Check {
        Check {
            task: occasion.task.clone(),
            phase: occasion.phase,
            name: result.name.clone(),
            tool: result.tool.clone(),
            command: result.command.clone(),
            exit_code: result.exit_code,
            snippet: result.snippet.clone(),
            output: blobs.output,
            passed: result.passed(),
            verdict: None,
            severity: None,
            round: occasion.round,
            tier: result.tier.filter(|_| result.counts()),
            iteration: occasion.iteration,
            collected: result.collected,
            duration_ms: millis(result),
            reason: result.reason.clone(),
            tests: blobs.tests,
            reuse: result.reuse.clone(),
        }
    }
}

/// Converts a row that the kernel made.
impl From<EvidenceRow> for CheckResult {
    fn from(row: EvidenceRow) -> CheckResult {
        let end = if row.passed { CheckEnd::Passed } else { CheckEnd::Failed };
        CheckResult {
            exit_code: row.exit_code,
            collected: row.collected,
            duration: Duration::from_millis(row.duration_ms),
            ..CheckResult::of_engine(&row.check, row.tier, end, row.reason)
        }
    }
}

/// Converts a row of the ledger, without reading its blobs.
impl From<&CheckRow> for CheckResult {
    fn from(row: &CheckRow) -> CheckResult {
        let end = match (row.passed, row.tier) {
            (true, _) => CheckEnd::Passed,
            (false, Some(_)) => CheckEnd::Failed,
            (false, None) => CheckEnd::Vacuous,
        };
        // The built-in check, which looks at individual files, has no command. Other results without a command list no
        // tests.
        let listing = if row.command.is_none() { TestListing::ChangedFiles } else { TestListing::All };
        CheckResult {
            tool: row.tool.clone(),
            command: row.command.clone(),
            exit_code: row.exit_code,
            snippet: row.snippet.clone(),
            collected: row.collected,
            duration: Duration::from_millis(row.duration_ms),
            listing,
            reuse: Some(Reuse::Taken { run: row.run.clone(), seq: row.seq, at: row.at }),
            stored: StoredBlobs { output: row.output, tests: row.tests },
            ..CheckResult::of_engine(&row.name, row.tier, end, row.reason.clone())
        }
    }
}

/// Reads a result back from the ledger.
pub fn read_back(reader: &Reader, row: &CheckRow, read: ReadBack) -> Result<CheckResult, StoredError> {
    let mut result = CheckResult::from(row);
    if let Some(blob) = row.tests {
        let unreadable = |source| StoredError::Tests { check: row.name.clone(), source };
        result.tests = serde_json::from_slice(&reader.blob(blob)?).map_err(unreadable)?;
    }
    if let Some(blob) = row.output
        && result.end == CheckEnd::Failed
        && read == ReadBack::TestsAndFailures
    {
        result.output = reader.blob(blob)?;
    }
    Ok(result)
}

impl CheckFacts {
    /// Adds more facts.
    pub fn extend(&mut self, more: CheckFacts) {
        self.checks.extend(more.checks);
        self.blobs.extend(more.blobs);
    }

    /// Stores the whole output and the individual tests.
    fn store(&mut self, result: &CheckResult) -> StoredBlobs {
        let output = (!result.output.is_empty()).then(|| self.keep(result.output.clone()));
        // Names and ends are plain text, so serializing them cannot fail.
        let tests = serde_json::to_vec(&result.tests).ok().filter(|_| !result.tests.is_empty());
        StoredBlobs { output, tests: tests.map(|bytes| self.keep(bytes)) }
    }

    fn keep(&mut self, bytes: Vec<u8>) -> BlobId {
        let id = BlobId::of(&bytes);
        if !self.blobs.iter().any(|blob| blob.id == id) {
            self.blobs.push(Blob { id, bytes });
        }
        id
    }
}

fn millis(result: &CheckResult) -> u64 {
    u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX)
}
