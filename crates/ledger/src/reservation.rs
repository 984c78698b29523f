//! Issue numbers. All work trees of a repository share the ledger, so no two runs get the same number.

use crate::error::{Fault, LedgerError};
use crate::fact::Millis;
use crate::ledger::Ledger;
use rusqlite::{Connection, TransactionBehavior, params};

const HELD_NUMBERS: &str = "SELECT number FROM reservations WHERE holder = ?1 AND prefix = ?2 ORDER BY place";
const HIGHEST_NUMBER: &str = "SELECT coalesce(max(number), 0) FROM reservations WHERE prefix = ?1";
const RESERVE: &str =
    "INSERT INTO reservations (prefix, number, holder, place, at) VALUES (?1, ?2, ?3, ?4, ?5)";

/// A request for issue numbers.
#[derive(Clone, Copy, Debug)]
pub struct Reserve<'r> {
    pub prefix: &'r str,
    /// Identifies the request; a repeated request returns the same numbers.
    pub holder: &'r str,
    pub count: usize,
    /// The highest number known to be in use.
    pub above: u32,
    pub at: Millis,
}

impl Ledger {
    /// Reserves numbers that no other holder has, in ascending order.
    pub fn reserve(&mut self, request: Reserve<'_>) -> Result<Vec<u32>, LedgerError> {
        let path = self.path().to_path_buf();
        reserve(self.connection(), request).map_err(|fault| LedgerError::from_fault(&path, fault))
    }
}

fn reserve(conn: &mut Connection, request: Reserve<'_>) -> Result<Vec<u32>, Fault> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut numbers: Vec<u32> = tx
        .prepare_cached(HELD_NUMBERS)?
        .query_map([request.holder, request.prefix], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let highest: u32 = tx.prepare_cached(HIGHEST_NUMBER)?.query_row([request.prefix], |row| row.get(0))?;
    let mut next = highest.max(request.above);
    while numbers.len() < request.count {
        next += 1;
        let index = i64::try_from(numbers.len()).unwrap_or(i64::MAX);
        tx.prepare_cached(RESERVE)?.execute(params![
            request.prefix,
            next,
            request.holder,
            index,
            request.at
        ])?;
        numbers.push(next);
    }
    tx.commit()?;
    numbers.truncate(request.count);
    Ok(numbers)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::thread;

    fn request_of(holder: &str, count: usize, above: u32) -> Reserve<'_> {
        Reserve { prefix: "ABC", holder, count, above, at: Millis(0) }
    }

    // OT-24
    #[test]
    fn a_number_belongs_to_one_holder_and_is_returned_to_it_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
        assert_eq!(ledger.reserve(request_of("one", 2, 41)).unwrap(), [42, 43]);
        assert_eq!(ledger.reserve(request_of("two", 1, 41)).unwrap(), [44]);
        assert_eq!(ledger.reserve(request_of("one", 2, 90)).unwrap(), [42, 43]);
        assert_eq!(ledger.reserve(request_of("one", 3, 90)).unwrap(), [42, 43, 91]);
        let other = Reserve { prefix: "XY", ..request_of("one", 1, 0) };
        assert_eq!(ledger.reserve(other).unwrap(), [1]);
        let deleted = ledger.connection().execute("DELETE FROM reservations", []);
        assert!(deleted.is_err_and(|error| error.to_string().contains("never given back")));
    }

    // OT-24
    #[test]
    fn concurrent_processes_get_different_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        drop(Ledger::open(&path).unwrap());
        let mut all: Vec<u32> = thread::scope(|scope| {
            let reserve_in_thread = |holder: usize| {
                let path = path.clone();
                scope.spawn(move || {
                    let mut ledger = Ledger::open(&path).unwrap();
                    ledger.reserve(request_of(&format!("holder {holder}"), 5, 7)).unwrap()
                })
            };
            let threads: Vec<_> = (0..8).map(reserve_in_thread).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert_eq!(all, (8..48).collect::<Vec<u32>>());
    }
}
