//! What a run will probably take: dispatches, time and money, each with what it rests on.

use remand_ledger::query::{DispatchRow, RunRow};
use remand_ledger::{LedgerError, Reader};
use serde::Serialize;

/// Minimum number of earlier runs of the same workflow for a forecast from them.
const MIN_RUNS: usize = 3;

/// Maximum number of earlier runs that a forecast considers.
const MAX_RUNS: usize = 20;

/// Minimum number of earlier dispatches of any workflow for a forecast from them.
const MIN_DISPATCHES: usize = 10;

/// Maximum number of runs whose dispatches a forecast considers.
const MAX_DISPATCH_RUNS: usize = 10;

/// What a run will probably take. `None` is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Forecast {
    pub dispatches: Option<Likely>,
    /// Milliseconds of work.
    pub time: Option<Likely>,
    /// Millionths of a dollar.
    pub money: Option<Likely>,
}

/// A likely value with its range, and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Likely {
    pub expected: u64,
    pub low: u64,
    pub high: u64,
    pub basis: ForecastBasis,
}

/// What a likely value rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForecastBasis {
    /// Earlier runs of the same workflow in this repository.
    Runs { runs: usize },
    /// Earlier dispatches of any workflow in this repository, multiplied by the number of dispatches in the best and in
    /// the expected case.
    Dispatches { dispatches: usize },
    /// The number of dispatches if nothing is sent back, for one and for three tasks.
    HappyPath,
    /// List prices and an assumed number of tokens for each dispatch.
    ListPrices { tokens: u64 },
}

/// What is known about a run before it starts, without its history.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prospect {
    /// Dispatches if nothing is sent back, for one and for three tasks.
    pub happy: Option<(u64, u64)>,
    /// The list price of an assumed dispatch; `None` if a model or its price is unknown.
    pub list_price: Option<AssumedCost>,
}

/// The cost of a dispatch with an assumed number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssumedCost {
    pub tokens: u64,
    /// Millionths of a dollar.
    pub money: u64,
}

impl Forecast {
    /// The forecast for a run of this workflow. `reader` is `None` before the first run of a repository.
    pub fn read(
        reader: Option<&Reader>,
        workflow: &str,
        prospect: Prospect,
    ) -> Result<Forecast, LedgerError> {
        let all = reader.map(Reader::runs).transpose()?.unwrap_or_default();
        let of_workflow = all.iter().filter(|row| row.workflow == workflow && row.stage.is_finished());
        let runs: Vec<&RunRow> = of_workflow.take(MAX_RUNS).collect();
        let mut dispatches = Vec::new();
        for row in all.iter().take(MAX_DISPATCH_RUNS) {
            dispatches
                .extend(reader.map(|reader| reader.dispatches(&row.run)).transpose()?.unwrap_or_default());
        }
        Ok(Forecast::new(&runs, &dispatches, prospect))
    }

    fn new(runs: &[&RunRow], dispatches: &[DispatchRow], prospect: Prospect) -> Forecast {
        let of_runs = |value: fn(&RunRow) -> Option<u64>| {
            let values: Vec<u64> = runs.iter().filter_map(|row| value(row)).collect();
            let basis = ForecastBasis::Runs { runs: values.len() };
            (values.len() >= MIN_RUNS).then(|| spread(values, basis)).flatten()
        };
        let of_dispatches = |value: fn(&DispatchRow) -> Option<u64>| {
            let (few, many) = prospect.happy?;
            let values: Vec<u64> = dispatches.iter().filter_map(value).collect();
            let basis = ForecastBasis::Dispatches { dispatches: values.len() };
            let each = (values.len() >= MIN_DISPATCHES).then(|| spread(values, basis)).flatten()?.expected;
            Some(between(each.saturating_mul(few), each.saturating_mul(many), basis))
        };
        let from_list = || {
            let ((few, many), assumed) = (prospect.happy?, prospect.list_price?);
            let basis = ForecastBasis::ListPrices { tokens: assumed.tokens };
            Some(between(assumed.money.saturating_mul(few), assumed.money.saturating_mul(many), basis))
        };
        Forecast {
            dispatches: of_runs(|row| Some(row.used.dispatches))
                .or_else(|| prospect.happy.map(|(few, many)| between(few, many, ForecastBasis::HappyPath))),
            time: of_runs(|row| Some(row.used.time)).or_else(|| of_dispatches(|row| row.time)),
            // A sum with an unknown part is unknown.
            money: of_runs(|row| (row.used.unpriced == 0).then_some(row.used.money))
                .or_else(|| of_dispatches(|row| row.money))
                .or_else(from_list),
        }
    }
}

/// A range between two values, of which the lower one is expected.
fn between(low: u64, high: u64, basis: ForecastBasis) -> Likely {
    Likely { expected: low, low, high: high.max(low), basis }
}

/// The median, and the range without the lowest and highest tenth.
fn spread(mut values: Vec<u64>, basis: ForecastBasis) -> Option<Likely> {
    values.sort_unstable();
    let cut = values.len() / 10;
    let kept = values.get(cut..values.len() - cut)?;
    let expected = *kept.get(kept.len() / 2)?;
    Some(Likely { expected, low: *kept.first()?, high: *kept.last()?, basis })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HAPPY: Option<(u64, u64)> = Some((6, 12));

    fn likely(expected: u64, low: u64, high: u64, basis: ForecastBasis) -> Option<Likely> {
        Some(Likely { expected, low, high, basis })
    }

    // UP-12
    #[test]
    fn without_history_a_forecast_rests_only_on_list_prices_and_the_workflow() {
        let nothing = Forecast::new(&[], &[], Prospect { happy: HAPPY, list_price: None });
        assert_eq!(nothing.dispatches, likely(6, 6, 12, ForecastBasis::HappyPath));
        assert_eq!((nothing.time, nothing.money), (None, None));
        let list_price = Some(AssumedCost { tokens: 1_000, money: 50_000 });
        let priced = Forecast::new(&[], &[], Prospect { happy: HAPPY, list_price });
        let basis = ForecastBasis::ListPrices { tokens: 1_000 };
        assert_eq!(priced.money, likely(300_000, 300_000, 600_000, basis));
        let unknown = Forecast::new(&[], &[], Prospect { happy: None, list_price });
        assert_eq!((unknown.dispatches, unknown.money), (None, None));
    }

    // UP-12
    #[test]
    fn the_range_of_many_values_leaves_out_the_extremes() {
        let basis = ForecastBasis::Runs { runs: 20 };
        let mut values: Vec<u64> = (1..=18).rev().collect();
        values.extend([0, 900]);
        assert_eq!(spread(values, basis), likely(10, 2, 17, basis));
        assert_eq!(spread(vec![9, 1, 5], basis), likely(5, 1, 9, basis));
        assert_eq!(spread(Vec::new(), basis), None);
    }
}
