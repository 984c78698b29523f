//! Alerts about phases that get worse.

use serde::Serialize;

/// Maximum number of earlier runs to compare with.
const MAX_RUNS: usize = 20;

/// Minimum number of earlier runs for a comparison.
const MIN_RUNS: usize = 3;

/// A rate far above its earlier values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alert {
    pub phase: String,
    pub rate: f64,
    pub mean: f64,
    /// The mean plus two standard deviations.
    pub limit: f64,
    /// Number of earlier runs in the comparison.
    pub runs: usize,
}

/// Compares the last rate of a phase with up to twenty rates before it. `rates` starts with the oldest.
pub fn alert(phase: &str, rates: &[f64]) -> Option<Alert> {
    let (rate, earlier) = rates.split_last()?;
    let earlier = &earlier[earlier.len().saturating_sub(MAX_RUNS)..];
    if earlier.len() < MIN_RUNS {
        return None;
    }
    let (mean, deviation) = mean_and_deviation(earlier);
    let limit = mean + 2.0 * deviation;
    (*rate > limit).then(|| Alert { phase: phase.to_string(), rate: *rate, mean, limit, runs: earlier.len() })
}

/// The mean and the sample standard deviation.
#[allow(clippy::cast_precision_loss, reason = "at most twenty values")]
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    // PF-10
    #[test]
    fn a_rate_above_the_mean_plus_two_deviations_raises_an_alert() {
        // Mean 0.3, deviation 0.1.
        let usual = [0.2, 0.3, 0.4];
        assert_eq!(alert("code", &[usual.as_slice(), &[0.499]].concat()), None);
        let raised = alert("code", &[usual.as_slice(), &[0.501]].concat()).expect("an alert");
        assert!((raised.limit - 0.5).abs() < 1e-12 && raised.runs == 3, "{raised:?}");
    }

    // PF-10
    #[test]
    fn only_the_last_twenty_runs_count_and_at_least_three_are_needed() {
        assert_eq!(alert("code", &[]), None);
        assert_eq!(alert("code", &[0.0, 0.0, 9.0]), None);
        let long_ago = vec![5.0; 30];
        let since = vec![0.0; 20];
        let raised = alert("code", &[long_ago, since, vec![0.1]].concat()).expect("an alert");
        assert_eq!((raised.mean, raised.runs), (0.0, 20));
    }
}
