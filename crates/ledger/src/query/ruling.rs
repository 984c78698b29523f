//! Rulings of a run, as text.

use super::Reader;
use crate::cell::RulingKind;
use crate::column::{Count, Json, Word};
use crate::error::LedgerError;
use crate::fact::{Millis, RunId};
use remand_kernel::view::{ChargeView, RulingView};
use serde::{Deserialize, Serialize};

const RULINGS: &str = "SELECT events.seq, n, rulings.at, rulings.body, rulings.kind
    FROM events JOIN rulings ON rulings.id BETWEEN events.id << 16 AND events.id << 16 | 65535
    WHERE events.run = ?1 AND events.seq > ?2 ORDER BY events.seq, n";

/// One ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RulingRow {
    /// The event that it followed from.
    pub seq: u64,
    /// Its index among the rulings of the event.
    pub n: u64,
    pub at: Millis,
    #[serde(flatten)]
    pub ruling: RulingView,
    /// `None` if the ledger could not be rebuilt when the column was added.
    #[serde(skip)]
    pub kind: Option<RulingKind>,
}

/// A ruling as its column stores it.
#[derive(Deserialize)]
struct StoredRuling {
    phase: String,
    #[serde(default)]
    task: Option<String>,
    signal: String,
    rule: String,
    action: String,
    #[serde(default)]
    target: Option<String>,
    budgets: Vec<StoredCharge>,
    #[serde(default)]
    exhausted: Vec<String>,
    #[serde(default)]
    effects: Vec<String>,
    confidence: String,
    why: String,
    #[serde(default)]
    limit: Option<String>,
}

#[derive(Deserialize)]
struct StoredCharge {
    budget: String,
    before: u16,
    after: u16,
}

impl From<StoredCharge> for ChargeView {
    fn from(stored: StoredCharge) -> ChargeView {
        ChargeView { budget: stored.budget, before: stored.before, after: stored.after }
    }
}

impl From<StoredRuling> for RulingView {
    fn from(stored: StoredRuling) -> RulingView {
        RulingView {
            phase: stored.phase,
            task: stored.task,
            signal: stored.signal,
            rule: stored.rule.into(),
            action: stored.action,
            target: stored.target,
            budgets: stored.budgets.into_iter().map(ChargeView::from).collect(),
            exhausted: stored.exhausted,
            effects: stored.effects,
            confidence: stored.confidence,
            why: stored.why,
            limit: stored.limit,
        }
    }
}

impl Reader {
    /// The rulings of a run after the event with this number, in order.
    pub fn rulings(&self, run: &RunId, after: u64) -> Result<Vec<RulingRow>, LedgerError> {
        self.rows(RULINGS, (run, crate::column::sql_integer(after)), |row| {
            Ok(RulingRow {
                seq: row.get::<_, Count>(0)?.0,
                n: row.get::<_, Count>(1)?.0,
                at: row.get(2)?,
                ruling: row.get::<_, Json<StoredRuling>>(3)?.0.into(),
                kind: row.get::<_, Option<Word<RulingKind>>>(4)?.map(|word| word.0),
            })
        })
    }
}
