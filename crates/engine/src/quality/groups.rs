//! The defects of a run, grouped by the phase that injected them.

use super::figures::phase_order;
use remand_ledger::query::{DefectRow, RunRow};
use remand_ledger::{LedgerError, Reader};
use serde::{Serialize, Serializer};

/// The defects that one phase injected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseDefects<'d> {
    /// The earliest origin; `None` if it is unknown.
    pub phase: Option<&'d str>,
    /// In the order in which they were reported; serialized as ids.
    #[serde(serialize_with = "ids")]
    pub defects: Vec<&'d DefectRow>,
}

/// Groups defects in the order of the run's workflow. Defects of unknown origin come last.
pub fn by_phase<'d>(
    reader: &Reader,
    row: &RunRow,
    defects: &'d [DefectRow],
) -> Result<Vec<PhaseDefects<'d>>, LedgerError> {
    let order = phase_order(reader, row)?.unwrap_or_default();
    let position = |phase: Option<&str>| match phase {
        Some(phase) => (false, order.iter().position(|known| known == phase)),
        None => (true, None),
    };
    let mut groups: Vec<PhaseDefects<'d>> = Vec::new();
    for defect in defects {
        let phase = defect.injected.first().map(String::as_str);
        match groups.iter_mut().find(|group| group.phase == phase) {
            Some(group) => group.defects.push(defect),
            None => groups.push(PhaseDefects { phase, defects: vec![defect] }),
        }
    }
    groups.sort_by_key(|group| position(group.phase));
    Ok(groups)
}

fn ids<S: Serializer>(defects: &[&DefectRow], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(defects.iter().map(|defect| &defect.id))
}
