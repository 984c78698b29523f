//! When a phase does worse than it used to.

use serde::Serialize;

/// How many earlier runs a phase is compared with.
const RUNS: usize = 20;

/// With fewer earlier runs nothing is known of what is usual.
const FEWEST: usize = 3;

/// A rate that is far above what it used to be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alert {
    pub phase: String,
    pub rate: f64,
    pub mean: f64,
    /// The mean and two standard deviations.
    pub limit: f64,
    /// How many earlier runs this rests on.
    pub runs: usize,
}

/// Compares the last of a phase's rates with those of up to twenty runs before it, oldest first.
pub fn alert(phase: &str, rates: &[f64]) -> Option<Alert> {
    let (rate, earlier) = rates.split_last()?;
    let earlier = &earlier[earlier.len().saturating_sub(RUNS)..];
    if earlier.len() < FEWEST {
        return None;
    }
    let (mean, deviation) = mean_and_deviation(earlier);
    let limit = mean + 2.0 * deviation;
    (*rate > limit).then(|| Alert { phase: phase.to_string(), rate: *rate, mean, limit, runs: earlier.len() })
}

/// The mean, and the standard deviation of a sample.
#[allow(clippy::cast_precision_loss, reason = "at most twenty")]
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
    fn a_rate_above_the_mean_and_two_deviations_is_told() {
        // Mean 0.3, deviation 0.1.
        let usual = [0.2, 0.3, 0.4];
        assert_eq!(alert("code", &[usual.as_slice(), &[0.499]].concat()), None);
        let told = alert("code", &[usual.as_slice(), &[0.501]].concat()).expect("an alert");
        assert!((told.limit - 0.5).abs() < 1e-12 && told.runs == 3, "{told:?}");
    }

    // PF-10
    #[test]
    fn only_the_last_twenty_runs_count_and_three_at_least() {
        assert_eq!(alert("code", &[]), None);
        assert_eq!(alert("code", &[0.0, 0.0, 9.0]), None);
        let long_ago = vec![5.0; 30];
        let since = vec![0.0; 20];
        let told = alert("code", &[long_ago, since, vec![0.1]].concat()).expect("an alert");
        assert_eq!((told.mean, told.runs), (0.0, 20));
    }
}
