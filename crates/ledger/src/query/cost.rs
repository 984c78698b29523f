//! Costs of dispatches, summed by role, agent, model, phase or run.

use super::Reader;
use crate::column::{Count, sql_integer};
use crate::error::LedgerError;
use crate::fact::{Millis, RunId, TokenCounts};
use rusqlite::Row;
use serde::Serialize;

/// The property that costs are grouped by.
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

/// The usage of a group of dispatches. The sums leave out unknown values, and other fields count them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CostRow {
    /// `None` if unknown, such as the model of a dispatch that never ended.
    pub name: Option<String>,
    pub dispatches: u64,
    /// Dispatches that have not ended.
    pub running: u64,
    /// Milliseconds of work.
    pub time: u64,
    pub tokens: u64,
    /// Tokens by kind, of the dispatches that report them.
    pub kinds: TokenCounts,
    /// Dispatches that ended without reporting their tokens.
    #[serde(rename = "untold")]
    pub unmetered: u64,
    /// Dispatches that reported only the sum of their tokens.
    #[serde(rename = "unsorted")]
    pub without_kinds: u64,
    /// Micro-units of the currency, reported by agents.
    #[serde(rename = "said")]
    pub reported_money: u64,
    /// Micro-units of the currency, computed from prices.
    #[serde(rename = "reckoned")]
    pub computed_money: u64,
    /// Dispatches that ended with an unknown cost.
    pub unpriced: u64,
}

impl CostRow {
    /// Micro-units of the currency, of all dispatches with a known cost.
    pub fn money(&self) -> u64 {
        self.reported_money.saturating_add(self.computed_money)
    }

    /// Dispatches that have ended.
    pub fn ended(&self) -> u64 {
        self.dispatches.saturating_sub(self.running)
    }

    /// The sum of all rows.
    pub fn total(rows: &[CostRow]) -> CostRow {
        let sum = |field: fn(&CostRow) -> u64| rows.iter().map(field).fold(0, u64::saturating_add);
        CostRow {
            name: None,
            dispatches: sum(|row| row.dispatches),
            running: sum(|row| row.running),
            time: sum(|row| row.time),
            tokens: sum(|row| row.tokens),
            kinds: rows.iter().fold(TokenCounts::default(), |all, row| all.plus(row.kinds)),
            unmetered: sum(|row| row.unmetered),
            without_kinds: sum(|row| row.without_kinds),
            reported_money: sum(|row| row.reported_money),
            computed_money: sum(|row| row.computed_money),
            unpriced: sum(|row| row.unpriced),
        }
    }
}

/// What a dispatch had used, as it was at a time; what it reports at its end is unknown before.
const SPENT: &str =
    "SELECT run, role, driver, model, phase, status = 'running' AS running, time, tokens, tokens_in,
    tokens_out, tokens_cached, tokens_stored, money, price FROM dispatches WHERE ?1 IS NULL OR run = ?1";
const SPENT_BY: &str =
    "SELECT run, role, iif(ended, driver, NULL) AS driver, iif(ended, model, NULL) AS model, phase,
    NOT ended AS running, iif(ended, time, NULL) AS time, iif(ended, tokens, NULL) AS tokens,
    iif(ended, tokens_in, NULL) AS tokens_in, iif(ended, tokens_out, NULL) AS tokens_out,
    iif(ended, tokens_cached, NULL) AS tokens_cached, iif(ended, tokens_stored, NULL) AS tokens_stored,
    iif(ended, money, NULL) AS money, price
    FROM (SELECT *, status <> 'running' AND coalesce(completed_at, 0) <= ?3 AS ended FROM dispatches
        WHERE run = ?1 AND seq <= ?2)";

impl Reader {
    /// The costs of one run, or of all runs, the largest first.
    pub fn costs(&self, run: Option<&RunId>, by: CostBy) -> Result<Vec<CostRow>, LedgerError> {
        self.rows(&sums(SPENT, by), [run], decode)
    }

    /// The costs of a run as they were after the event with this number and time.
    pub fn past_costs(
        &self,
        run: &RunId,
        by: CostBy,
        seq: u64,
        at: Millis,
    ) -> Result<Vec<CostRow>, LedgerError> {
        self.rows(&sums(SPENT_BY, by), (run, sql_integer(seq), at), decode)
    }
}

fn sums(spent: &str, by: CostBy) -> String {
    format!(
        "SELECT {}, count(*), coalesce(sum(running), 0), coalesce(sum(time), 0),
        coalesce(sum(tokens), 0), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),
        coalesce(sum(tokens_cached), 0), coalesce(sum(tokens_stored), 0),
        coalesce(sum(NOT running AND tokens IS NULL), 0),
        coalesce(sum(tokens IS NOT NULL AND tokens_in IS NULL), 0),
        coalesce(sum(CASE WHEN price IS NULL THEN money END), 0),
        coalesce(sum(CASE WHEN price IS NOT NULL THEN money END), 0),
        coalesce(sum(NOT running AND money IS NULL), 0)
        FROM ({spent})
        GROUP BY 1 ORDER BY sum(money) DESC NULLS LAST, sum(tokens) DESC NULLS LAST, count(*) DESC, 1",
        by.column()
    )
}

fn decode(row: &Row<'_>) -> rusqlite::Result<CostRow> {
    let count = |column: usize| row.get::<_, Count>(column).map(|count| count.0);
    Ok(CostRow {
        name: row.get(0)?,
        dispatches: count(1)?,
        running: count(2)?,
        time: count(3)?,
        tokens: count(4)?,
        kinds: TokenCounts { input: count(5)?, output: count(6)?, cached: count(7)?, stored: count(8)? },
        unmetered: count(9)?,
        without_kinds: count(10)?,
        reported_money: count(11)?,
        computed_money: count(12)?,
        unpriced: count(13)?,
    })
}
