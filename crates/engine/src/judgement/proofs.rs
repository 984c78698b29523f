//! What the run found out about the tests of a judged change.

use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::Location;
use remand_ledger::proof::{MutantFate, TestProof, TriedMutant};
use remand_ledger::query::CheckRow;
use remand_ledger::{LedgerError, Reader, RunId};
use remand_reports::{
    MutantSummary, ProofSummary, ReportedFate as Fate, ReportedProof as Proof, ReportedTest,
};

/// The row that says what the proofs show.
use crate::row_names::PROOF;

/// The proofs of a run; `None` if it made none.
pub fn summary(reader: &Reader, run: &RunId, rows: &[CheckRow]) -> Result<Option<ProofSummary>, LedgerError> {
    let of_change = |row: &&CheckRow| row.name == PROOF && row.phase == RowPhase::After && !row.superseded;
    let Some(row) = rows.iter().rfind(of_change) else { return Ok(None) };
    let tests = reader.test_proofs(run)?.into_iter().map(|test| ReportedTest {
        test: test.proven.test,
        proof: match test.proven.proof {
            TestProof::RedAtBase => Proof::RedAtBase,
            TestProof::MissingAtBase => Proof::MissingAtBase,
            TestProof::KillsMutant => Proof::KillsMutant,
            TestProof::Nothing => Proof::None,
            TestProof::Untried => Proof::Untried,
        },
    });
    let mutants = reader.mutants(run)?.into_iter().map(|row| mutant(row.mutant));
    Ok(Some(ProofSummary {
        tests: tests.collect(),
        mutants: mutants.collect(),
        spent_ms: row.duration_ms,
        summary: row.reason.clone(),
    }))
}

fn mutant(tried: TriedMutant) -> MutantSummary {
    MutantSummary {
        identity: tried.identity,
        place: Location { file: tried.file, symbol: tried.function, line: tried.line },
        change: tried.alteration,
        fate: match tried.fate {
            MutantFate::Killed => Fate::Killed { test: tried.detail },
            MutantFate::Survived => Fate::Survived,
            MutantFate::NotReached => Fate::NotReached,
            MutantFate::Unjudged => Fate::Unjudged { why: tried.detail },
        },
    }
}
