//! The rows of the ledger that an export is made from.

use remand_ledger::fact::Delivery;
use remand_ledger::query::{
    CheckFilter, CheckRow, DispatchRow, FindingRow, GateRow, OperationRow, RulingKind, RunRow,
};
use remand_ledger::{LedgerError, Reader, RunId};

/// One run.
#[derive(Clone, Debug)]
pub struct RunRecord {
    pub row: RunRow,
    pub dispatches: Vec<DispatchRow>,
    pub operations: Vec<OperationRow>,
    pub checks: Vec<CheckRow>,
    pub gates: Vec<GateRow>,
    pub findings: Vec<FindingRow>,
    pub delivery: Option<Delivery>,
    /// How often work was sent back.
    pub remands: u64,
}

impl RunRecord {
    pub fn read(reader: &Reader, run: &RunId) -> Result<RunRecord, LedgerError> {
        let rulings = reader.rulings(run, 0)?;
        let remands = rulings.iter().filter(|row| row.kind == Some(RulingKind::Remand)).count();
        Ok(RunRecord {
            row: reader.run(&run.0)?,
            dispatches: reader.dispatches(run)?,
            operations: reader.operations(run)?,
            checks: reader.checks(run, CheckFilter::default())?,
            gates: reader.gates(run)?,
            findings: reader.findings(run)?,
            delivery: reader.deliveries(run)?.pop().map(|row| row.delivery),
            remands: remands as u64,
        })
    }
}
