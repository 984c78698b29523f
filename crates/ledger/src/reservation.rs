//! Issue numbers. All work trees of a repository share the ledger, so no two runs get the same number.

use crate::error::{Fault, LedgerError};
use crate::fact::Millis;
use crate::ledger::Ledger;
use rusqlite::{Connection, TransactionBehavior, params};

const HELD: &str = "SELECT number FROM reservations WHERE holder = ?1 AND prefix = ?2 ORDER BY place";
const HIGHEST: &str = "SELECT coalesce(max(number), 0) FROM reservations WHERE prefix = ?1";
const TAKE: &str = "INSERT INTO reservations (prefix, number, holder, place, at) VALUES (?1, ?2, ?3, ?4, ?5)";

/// A request for numbers.
#[derive(Clone, Copy, Debug)]
pub struct Reserve<'r> {
    pub prefix: &'r str,
    /// Who asks. The same holder gets the same numbers again.
    pub holder: &'r str,
    pub count: usize,
    /// The highest number known to be in use.
    pub above: u32,
    pub at: Millis,
}

impl Ledger {
    /// Reserves numbers that nobody else has, in rising order.
    pub fn reserve(&mut self, asked: Reserve<'_>) -> Result<Vec<u32>, LedgerError> {
        let path = self.path().to_path_buf();
        reserve(self.connection(), asked).map_err(|fault| LedgerError::from_fault(&path, fault))
    }
}

fn reserve(conn: &mut Connection, asked: Reserve<'_>) -> Result<Vec<u32>, Fault> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut numbers: Vec<u32> = tx
        .prepare_cached(HELD)?
        .query_map([asked.holder, asked.prefix], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let highest: u32 = tx.prepare_cached(HIGHEST)?.query_row([asked.prefix], |row| row.get(0))?;
    let mut next = highest.max(asked.above);
    while numbers.len() < asked.count {
        next += 1;
        let place = i64::try_from(numbers.len()).unwrap_or(i64::MAX);
        tx.prepare_cached(TAKE)?.execute(params![asked.prefix, next, asked.holder, place, asked.at])?;
        numbers.push(next);
    }
    tx.commit()?;
    numbers.truncate(asked.count);
    Ok(numbers)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::thread;

    fn asked(holder: &str, count: usize, above: u32) -> Reserve<'_> {
        Reserve { prefix: "ABC", holder, count, above, at: Millis(0) }
    }

    // OT-24
    #[test]
    fn a_number_goes_to_one_holder_who_gets_it_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
        assert_eq!(ledger.reserve(asked("one", 2, 41)).unwrap(), [42, 43]);
        assert_eq!(ledger.reserve(asked("two", 1, 41)).unwrap(), [44]);
        assert_eq!(ledger.reserve(asked("one", 2, 90)).unwrap(), [42, 43]);
        assert_eq!(ledger.reserve(asked("one", 3, 90)).unwrap(), [42, 43, 91]);
        let other = Reserve { prefix: "XY", ..asked("one", 1, 0) };
        assert_eq!(ledger.reserve(other).unwrap(), [1]);
        let gone = ledger.connection().execute("DELETE FROM reservations", []);
        assert!(gone.is_err_and(|error| error.to_string().contains("never given back")));
    }

    // OT-24
    #[test]
    fn concurrent_processes_get_different_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        drop(Ledger::open(&path).unwrap());
        let mut all: Vec<u32> = thread::scope(|scope| {
            let of = |holder: usize| {
                let path = path.clone();
                scope.spawn(move || {
                    let mut ledger = Ledger::open(&path).unwrap();
                    ledger.reserve(asked(&format!("holder {holder}"), 5, 7)).unwrap()
                })
            };
            let asking: Vec<_> = (0..8).map(of).collect();
            asking.into_iter().flat_map(|asked| asked.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert_eq!(all, (8..48).collect::<Vec<u32>>());
    }
}
