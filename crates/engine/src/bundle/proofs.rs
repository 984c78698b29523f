//! What shows that the tests of the change can fail.

use super::{Page, cell};
use crate::row_names::{OLD_TESTS, PROOF};
use remand_ledger::proof::{MutantFate, TestOrigin, TestProof};
use remand_ledger::query::{CheckRow, MutantRow, TestProofRow};
use remand_ledger::{LedgerError, Reader, RunId};

/// Mutants that the page lists for each task; the others are in the JSON.
const MAX_MUTANTS: usize = 40;

impl Page {
    /// How the tests of the base ended on the changed code.
    pub(super) fn old_tests(&mut self, checks: &[CheckRow]) {
        let current: Vec<&CheckRow> =
            checks.iter().filter(|row| row.name.starts_with(OLD_TESTS) && !row.superseded).collect();
        if current.is_empty() {
            return;
        }
        self.section("Tests as they were");
        for row in current {
            let task = row.task.as_deref().unwrap_or("all");
            let check = row.name.strip_prefix(OLD_TESTS).unwrap_or(&row.name);
            self.line(format!("- {}, `{}`: {}", cell(task), cell(check), cell(&row.reason)));
        }
    }

    /// The last proof of each task.
    pub(super) fn proofs(
        &mut self,
        reader: &Reader,
        run: &RunId,
        checks: &[CheckRow],
    ) -> Result<(), LedgerError> {
        let current: Vec<&CheckRow> =
            checks.iter().filter(|row| row.name == PROOF && !row.superseded).collect();
        if current.is_empty() {
            return Ok(());
        }
        self.section("Tests that can fail");
        let (tests, mutants) = (reader.test_proofs(run)?, reader.mutants(run)?);
        for row in current {
            let task = row.task.as_deref().unwrap_or("all");
            self.line(format!("{}: {}.\n", cell(task), cell(&row.reason)));
            self.proven_tests(tests.iter().filter(|test| test.seq == row.seq).collect());
            self.tried_mutants(mutants.iter().filter(|mutant| mutant.seq == row.seq).collect());
        }
        Ok(())
    }

    fn proven_tests(&mut self, tests: Vec<&TestProofRow>) {
        if tests.is_empty() {
            return;
        }
        self.line("| test | the change | what shows that it can fail |\n| --- | --- | --- |");
        for TestProofRow { proven, .. } in tests {
            let origin = match proven.origin {
                TestOrigin::New => "adds it",
                TestOrigin::Changed => "edits it",
                TestOrigin::Fixed => "turned it green",
            };
            let proof = match proven.proof {
                TestProof::RedAtBase => "an assertion fails on the code before the change".to_string(),
                TestProof::MissingAtBase => "it needs what the change adds".to_string(),
                TestProof::KillsMutant => format!("an assertion fails if {}", proven.detail),
                TestProof::Nothing => format!("NOTHING: {}", proven.detail),
                TestProof::Untried => format!("not known: {}", proven.detail),
            };
            self.line(format!("| {} | {origin} | {} |", cell(&proven.test), cell(&proof)));
        }
        self.line("");
    }

    fn tried_mutants(&mut self, mutants: Vec<&MutantRow>) {
        if mutants.is_empty() {
            return;
        }
        self.line("| mutant | in | result |\n| --- | --- | --- |");
        for MutantRow { mutant, .. } in mutants.iter().take(MAX_MUTANTS) {
            let fate = match mutant.fate {
                MutantFate::Killed => format!("killed by {}", mutant.detail),
                MutantFate::Survived => "SURVIVED".to_string(),
                MutantFate::NotReached => "no test runs it".to_string(),
                MutantFate::Unjudged => format!("not judged: {}", mutant.detail),
            };
            let place = format!("{}:{}", mutant.file, mutant.line);
            self.line(format!("| {} | {} | {} |", cell(&mutant.alteration), cell(&place), cell(&fate)));
        }
        let more = mutants.len().saturating_sub(MAX_MUTANTS);
        if more > 0 {
            self.line(format!("\n{more} more are in `remand evidence --json`."));
        }
        self.line("");
    }
}
