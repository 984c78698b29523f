//! Proofs that tests can fail: one row for each test, and one for each mutant.

use super::Projection;
use crate::column::ColumnWord;
use crate::error::Fault;
use rusqlite::params;

const INSERT_TEST: &str =
    "INSERT INTO test_proofs (id, run, seq, at, task, iteration, check_name, test, origin, proof, detail)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
const INSERT_MUTANT: &str =
    "INSERT INTO mutants (id, run, seq, at, task, iteration, identity, file, line, function, kind,
    alteration, fate, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

impl Projection<'_> {
    pub(super) fn project_proof(&self) -> Result<(), Fault> {
        let Some(proof) = &self.replayed.facts.proof else {
            return Ok(());
        };
        for (test, n) in proof.tests.iter().zip(0..) {
            self.conn.prepare_cached(INSERT_TEST)?.execute(params![
                self.slot.row_id(n),
                self.replayed.run,
                self.slot.seq,
                self.slot.at,
                proof.task,
                proof.iteration,
                test.check,
                test.test,
                test.origin.word(),
                test.proof.word(),
                test.detail,
            ])?;
        }
        for (mutant, n) in proof.mutants.iter().zip(0..) {
            self.conn.prepare_cached(INSERT_MUTANT)?.execute(params![
                self.slot.row_id(n),
                self.replayed.run,
                self.slot.seq,
                self.slot.at,
                proof.task,
                proof.iteration,
                mutant.identity,
                mutant.file,
                mutant.line,
                mutant.function,
                mutant.kind,
                mutant.alteration,
                mutant.fate.word(),
                mutant.detail,
            ])?;
        }
        Ok(())
    }
}
