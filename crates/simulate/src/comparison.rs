//! The difference between two variants, run by run with the same random numbers.

use crate::run::{RunSample, SampleEnd};
use crate::simulation::{flaws, money, to_f64};
use crate::statistics::mean_and_error;
use serde::Serialize;

/// How a variant differs from another one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct VariantDifference {
    /// Units of the currency for each run.
    pub money: MeanDifference,
    /// Seconds of work.
    pub time: MeanDifference,
    pub dispatches: MeanDifference,
    /// Runs that commit: a share.
    pub committed: MeanDifference,
    /// Defects worse than minor in a commit, over the runs that commit in both.
    pub flaws: MeanDifference,
}

/// A mean difference with the interval that contains the real one in 95 of 100 cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanDifference {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

impl MeanDifference {
    fn of(differences: &[f64]) -> MeanDifference {
        let (mean, error) = mean_and_error(differences);
        MeanDifference { mean, low: mean - 1.96 * error, high: mean + 1.96 * error }
    }

    /// Whether the interval contains no difference.
    pub fn is_noise(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

/// Compares the runs of two variants that have the same seed.
pub fn compare(first: &[RunSample], other: &[RunSample]) -> VariantDifference {
    let difference = |value: &dyn Fn(&RunSample) -> f64| {
        let pairs = first.iter().zip(other).map(|(first, other)| value(other) - value(first));
        MeanDifference::of(&pairs.collect::<Vec<f64>>())
    };
    let is_committed = |sample: &RunSample| sample.end == SampleEnd::Committed;
    let in_both = first.iter().zip(other).filter(|(first, other)| is_committed(first) && is_committed(other));
    let flawed: Vec<f64> = in_both.map(|(first, other)| flaws(other) - flaws(first)).collect();
    VariantDifference {
        money: difference(&money),
        time: difference(&|sample| to_f64(sample.time) / 1e3),
        dispatches: difference(&|sample| to_f64(sample.dispatches)),
        committed: difference(&|sample| f64::from(u8::from(is_committed(sample)))),
        flaws: MeanDifference::of(&flawed),
    }
}
