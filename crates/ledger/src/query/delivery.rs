//! What happened to a run's work: the commit, or the reason why there is none.

use super::Reader;
use crate::column::{Count, Json};
use crate::error::LedgerError;
use crate::fact::{Delivery, Millis, RunId};
use serde::Serialize;

const DELIVERIES: &str = "SELECT seq, at, body FROM deliveries WHERE run = ?1 ORDER BY id";

/// One report of what happened to the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeliveryRow {
    /// The event that ended the operation.
    pub seq: u64,
    pub at: Millis,
    #[serde(flatten)]
    pub delivery: Delivery,
}

impl Reader {
    /// The reports of a run's operations about its work, in order. The last one counts.
    pub fn deliveries(&self, run: &RunId) -> Result<Vec<DeliveryRow>, LedgerError> {
        self.rows(DELIVERIES, [run], |row| {
            Ok(DeliveryRow {
                seq: row.get::<_, Count>(0)?.0,
                at: row.get(1)?,
                delivery: row.get::<_, Json<Delivery>>(2)?.0,
            })
        })
    }
}
