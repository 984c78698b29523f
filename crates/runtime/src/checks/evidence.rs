//! Outcomes as evidence: rows for the gate, facts for the ledger (EP-16).

use super::outcome::{CheckOutcome, Known, Taken};
use remand_kernel::evidence::{Row, RowPhase, Source};
use remand_ledger::fact::{Check, Reuse};
use remand_ledger::{Blob, BlobId};

/// When and for whom checks were run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occasion {
    /// None for the whole run.
    pub task: Option<String>,
    pub phase: RowPhase,
    pub round: u32,
    /// From 1; 0 at the baseline.
    pub iteration: u32,
}

/// Facts, with the content of the blobs that they name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    pub checks: Vec<Check>,
    pub blobs: Vec<Blob>,
}

/// The rows that the gate rules on. What was not run, or ran no test, is in none of the tiers: neither a pass nor a
/// failure, and at the baseline no excuse for a failure later.
pub fn rows(outcomes: &[CheckOutcome], phase: RowPhase, iteration: u32) -> Vec<Row> {
    outcomes
        .iter()
        .map(|outcome| Row {
            check: outcome.name.clone(),
            phase,
            tier: outcome.counts().then_some(outcome.tier),
            passed: outcome.passed(),
            exit_code: outcome.exit_code,
            iteration,
            superseded: false,
            collected: outcome.collected,
            duration_ms: millis(outcome),
            reason: outcome.reason.clone(),
            source: Source::Engine,
        })
        .collect()
}

/// The facts that the ledger keeps, with whole outputs and single tests beside them.
pub fn checks(outcomes: &[CheckOutcome], occasion: &Occasion) -> Recorded {
    let mut recorded = Recorded::default();
    for outcome in outcomes {
        let (output, tests) = match &outcome.known {
            Known::Taken(taken) => (taken.output, taken.tests),
            Known::Unkept | Known::Keep(_) | Known::Withdraw(_) => recorded.keep_all(outcome),
        };
        recorded.checks.push(Check {
            task: occasion.task.clone(),
            phase: occasion.phase,
            name: outcome.name.clone(),
            tool: outcome.tool.clone(),
            command: outcome.command.clone(),
            exit_code: outcome.exit_code,
            snippet: outcome.snippet.clone(),
            output,
            passed: outcome.passed(),
            verdict: None,
            severity: None,
            round: occasion.round,
            tier: outcome.counts().then_some(outcome.tier),
            iteration: occasion.iteration,
            collected: outcome.collected,
            duration_ms: millis(outcome),
            reason: outcome.reason.clone(),
            tests,
            reuse: reuse(&outcome.known),
        });
    }
    recorded
}

fn reuse(known: &Known) -> Option<Reuse> {
    match known {
        Known::Unkept => None,
        Known::Keep(key) => Some(Reuse::Kept { key: *key }),
        Known::Withdraw(key) => Some(Reuse::Withdrawn { key: *key }),
        Known::Taken(Taken { run, seq, at, .. }) => {
            Some(Reuse::Taken { run: run.clone(), seq: *seq, at: *at })
        }
    }
}

impl Recorded {
    /// The whole output and the single tests.
    fn keep_all(&mut self, outcome: &CheckOutcome) -> (Option<BlobId>, Option<BlobId>) {
        let output = (!outcome.output.is_empty()).then(|| self.keep(outcome.output.clone()));
        // Names and ends are plain text, so that writing them cannot fail.
        let listed = serde_json::to_vec(&outcome.tests).ok().filter(|_| !outcome.tests.is_empty());
        (output, listed.map(|bytes| self.keep(bytes)))
    }

    fn keep(&mut self, bytes: Vec<u8>) -> BlobId {
        let id = BlobId::of(&bytes);
        if !self.blobs.iter().any(|blob| blob.id == id) {
            self.blobs.push(Blob { id, bytes });
        }
        id
    }
}

fn millis(outcome: &CheckOutcome) -> u64 {
    u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX)
}
