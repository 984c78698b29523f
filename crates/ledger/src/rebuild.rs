//! All projections made again from the journal.

use crate::history;
use crate::project::{self, Memo};
use crate::replay::Failed;
use crate::schema::PROJECTED;
use rusqlite::{Connection, TransactionBehavior};
use std::collections::HashMap;

/// Empties all projections and makes them again, in one commit. Snapshots are left to the runs.
pub(crate) fn rebuild(conn: &mut Connection) -> Result<u64, Failed> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for projected in PROJECTED {
        tx.execute(&format!("DELETE FROM {}", projected.table), [])?;
    }
    tx.execute("DELETE FROM snapshots", [])?;
    let count = project_all(&tx, &tx)?;
    tx.commit()?;
    Ok(count)
}

/// Makes the projections of the journal of one connection in the tables of another.
pub(crate) fn project_all(journal: &Connection, tables: &Connection) -> Result<u64, Failed> {
    let mut memos: HashMap<String, Memo> = HashMap::new();
    history::live_again(journal, |entry, placed, _| {
        let memo = memos.entry(entry.run.0.clone()).or_default();
        project::project(tables, entry, placed, memo)
    })
}
