//! Costs of dispatches, summed by role, agent, model, phase or run.

use super::Reader;
use crate::column::Whole;
use crate::error::LedgerError;
use crate::fact::{RunId, TokenCounts};
use rusqlite::Row;
use serde::Serialize;

/// What costs are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostBy {
    Role,
    Agent,
    Model,
    Phase,
    Run,
}

impl CostBy {
    fn column(self) -> &'static str {
        match self {
            CostBy::Role => "role",
            CostBy::Agent => "driver",
            CostBy::Model => "model",
            CostBy::Phase => "phase",
            CostBy::Run => "run",
        }
    }
}

/// What a group of dispatches used. Sums cover what is known; counts say how many dispatches are missing from them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CostRow {
    /// None if the ledger does not know it, such as the model of a dispatch that never ended.
    pub name: Option<String>,
    pub dispatches: u64,
    /// Dispatches that have not ended.
    pub running: u64,
    /// Milliseconds.
    pub time: u64,
    pub tokens: u64,
    /// Of the dispatches that report their tokens by kind.
    pub kinds: TokenCounts,
    /// Dispatches that ended without reporting their tokens.
    pub untold: u64,
    /// Dispatches that reported only the sum of their tokens.
    pub unsorted: u64,
    /// Micro-units of the currency, reported by agents.
    pub said: u64,
    /// Micro-units of the currency, computed from prices.
    pub reckoned: u64,
    /// Dispatches that ended with an unknown cost.
    pub unpriced: u64,
}

impl CostRow {
    /// Micro-units of the currency, of all dispatches with a known cost.
    pub fn money(&self) -> u64 {
        self.said.saturating_add(self.reckoned)
    }

    /// Dispatches that have ended.
    pub fn ended(&self) -> u64 {
        self.dispatches.saturating_sub(self.running)
    }

    /// The sum of all rows.
    pub fn total(rows: &[CostRow]) -> CostRow {
        let sum = |of: fn(&CostRow) -> u64| rows.iter().map(of).fold(0, u64::saturating_add);
        CostRow {
            name: None,
            dispatches: sum(|row| row.dispatches),
            running: sum(|row| row.running),
            time: sum(|row| row.time),
            tokens: sum(|row| row.tokens),
            kinds: rows.iter().fold(TokenCounts::default(), |all, row| all.and(row.kinds)),
            untold: sum(|row| row.untold),
            unsorted: sum(|row| row.unsorted),
            said: sum(|row| row.said),
            reckoned: sum(|row| row.reckoned),
            unpriced: sum(|row| row.unpriced),
        }
    }
}

impl Reader {
    /// The costs of one run, or of all, the largest first.
    pub fn costs(&self, run: Option<&RunId>, by: CostBy) -> Result<Vec<CostRow>, LedgerError> {
        let sql = format!(
            "SELECT {}, count(*), coalesce(sum(status = 'running'), 0), coalesce(sum(time), 0),
            coalesce(sum(tokens), 0), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),
            coalesce(sum(tokens_cached), 0), coalesce(sum(tokens_stored), 0),
            coalesce(sum(status <> 'running' AND tokens IS NULL), 0),
            coalesce(sum(tokens IS NOT NULL AND tokens_in IS NULL), 0),
            coalesce(sum(CASE WHEN price IS NULL THEN money END), 0),
            coalesce(sum(CASE WHEN price IS NOT NULL THEN money END), 0),
            coalesce(sum(status <> 'running' AND money IS NULL), 0)
            FROM dispatches WHERE ?1 IS NULL OR run = ?1
            GROUP BY 1 ORDER BY sum(money) DESC NULLS LAST, sum(tokens) DESC NULLS LAST, count(*) DESC, 1",
            by.column()
        );
        self.rows(&sql, [run], decode)
    }
}

fn decode(row: &Row<'_>) -> rusqlite::Result<CostRow> {
    let count = |at: usize| row.get::<_, Whole>(at).map(|whole| whole.0);
    Ok(CostRow {
        name: row.get(0)?,
        dispatches: count(1)?,
        running: count(2)?,
        time: count(3)?,
        tokens: count(4)?,
        kinds: TokenCounts { input: count(5)?, output: count(6)?, cached: count(7)?, stored: count(8)? },
        untold: count(9)?,
        unsorted: count(10)?,
        said: count(11)?,
        reckoned: count(12)?,
        unpriced: count(13)?,
    })
}
