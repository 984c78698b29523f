//! Proofs that tests can fail.

use super::Reader;
use crate::column::{Count, Word};
use crate::error::LedgerError;
use crate::fact::{Millis, RunId};
use crate::proof::{ProvenTest, TriedMutant};
use serde::Serialize;

const TESTS: &str =
    "SELECT run, seq, at, task, iteration, check_name, test, origin, proof, detail FROM test_proofs
    WHERE run = ?1 ORDER BY id";
const MUTANTS: &str =
    "SELECT run, seq, at, task, iteration, identity, file, line, function, kind, alteration, fate, detail
    FROM mutants WHERE run = ?1 ORDER BY id";

/// A test with what shows that it can fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestProofRow {
    pub run: RunId,
    pub seq: u64,
    pub at: Millis,
    /// `None` for the whole run.
    pub task: Option<String>,
    pub iteration: u32,
    #[serde(flatten)]
    pub proven: ProvenTest,
}

/// A mutant with what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MutantRow {
    pub run: RunId,
    pub seq: u64,
    pub at: Millis,
    /// `None` for the whole run.
    pub task: Option<String>,
    pub iteration: u32,
    #[serde(flatten)]
    pub mutant: TriedMutant,
}

impl Reader {
    /// The tests of a run that had to be able to fail, in order.
    pub fn test_proofs(&self, run: &RunId) -> Result<Vec<TestProofRow>, LedgerError> {
        self.rows(TESTS, [run], |row| {
            Ok(TestProofRow {
                run: row.get(0)?,
                seq: row.get::<_, Count>(1)?.0,
                at: row.get(2)?,
                task: row.get(3)?,
                iteration: row.get(4)?,
                proven: ProvenTest {
                    check: row.get(5)?,
                    test: row.get(6)?,
                    origin: row.get::<_, Word<_>>(7)?.0,
                    proof: row.get::<_, Word<_>>(8)?.0,
                    detail: row.get(9)?,
                },
            })
        })
    }

    /// The mutants of a run that were tried, in order.
    pub fn mutants(&self, run: &RunId) -> Result<Vec<MutantRow>, LedgerError> {
        self.rows(MUTANTS, [run], |row| {
            Ok(MutantRow {
                run: row.get(0)?,
                seq: row.get::<_, Count>(1)?.0,
                at: row.get(2)?,
                task: row.get(3)?,
                iteration: row.get(4)?,
                mutant: TriedMutant {
                    identity: row.get(5)?,
                    file: row.get(6)?,
                    line: row.get(7)?,
                    function: row.get(8)?,
                    kind: row.get(9)?,
                    alteration: row.get(10)?,
                    fate: row.get::<_, Word<_>>(11)?.0,
                    detail: row.get(12)?,
                },
            })
        })
    }
}
