//! Means, percentiles and shares of samples.

use serde::Serialize;

/// How a quantity is spread over runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
    pub p10: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub max: f64,
}

impl Spread {
    pub fn of(values: impl Iterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.collect();
        let (mean, error) = mean_and_error(&values);
        values.sort_unstable_by(f64::total_cmp);
        let at = |permille: usize| percentile(&values, permille);
        Spread { mean, error, p10: at(100), p50: at(500), p90: at(900), p99: at(990), max: at(1000) }
    }

    /// The interval that contains the real mean in 95 of 100 cases.
    pub fn interval(&self) -> (f64, f64) {
        (self.mean - 1.96 * self.error, self.mean + 1.96 * self.error)
    }
}

fn percentile(sorted: &[f64], permille: usize) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last * permille).div_ceil(1000)).copied().unwrap_or_default()
}

/// The mean and its standard error; 0 without values.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = length(values);
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0) / count).sqrt())
}

/// The share of the values for which something holds; 0 without values.
pub(crate) fn share<T>(values: &[T], is: &dyn Fn(&T) -> bool) -> f64 {
    let count = values.iter().filter(|value| is(value)).count();
    ratio(count, values.len())
}

/// A quotient; 0 if the divisor is 0.
#[allow(clippy::cast_precision_loss, reason = "numbers of runs are small")]
pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[allow(clippy::cast_precision_loss, reason = "numbers of runs are small")]
pub(crate) fn length<T>(values: &[T]) -> f64 {
    values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_the_mean_its_error_and_percentiles() {
        let spread = Spread::of((1..=101).map(f64::from));
        assert_eq!(
            (spread.mean, spread.p10, spread.p50, spread.p90, spread.max),
            (51.0, 11.0, 51.0, 91.0, 101.0)
        );
        assert!((spread.error - 2.915).abs() < 1e-3, "{}", spread.error);
        assert_eq!(Spread::of(std::iter::empty()), Spread::default());
    }
}
