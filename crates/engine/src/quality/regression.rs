//! Linear regression of effort on plan size over past runs, and predictions from it (PROBE).

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Minimum number of points. A line through two points always fits.
const MIN_POINTS: usize = 3;

/// Minimum share of the variation that a useful line explains.
const MIN_R2: f64 = 0.5;

/// Size and effort of a past run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RunEffort {
    pub size: f64,
    pub effort: f64,
}

/// The result of a regression.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RegressionResult {
    TooFew {
        points: usize,
    },
    /// All plans had the same size, so nothing can be predicted for another size.
    Alike {
        points: usize,
    },
    TooLoose {
        points: usize,
        r2: f64,
    },
    /// Larger plans took less effort.
    Falling {
        points: usize,
    },
    Good(RegressionLine),
}

/// The least-squares line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RegressionLine {
    pub points: usize,
    pub intercept: f64,
    pub slope: f64,
    /// The share of the variation that the line explains.
    pub r2: f64,
    /// The standard error of the regression.
    error: f64,
    mean: f64,
    /// The sum of squared deviations of the sizes from their mean.
    spread: f64,
}

/// The expected effort for a size, and its prediction interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prediction {
    pub expected: f64,
    pub low: f64,
    pub high: f64,
}

/// Fits a line to the points, if the result is meaningful.
pub fn fit_line(points: &[RunEffort]) -> RegressionResult {
    if points.len() < MIN_POINTS {
        return RegressionResult::TooFew { points: points.len() };
    }
    let Some(line) = RegressionLine::fit(points) else {
        return RegressionResult::Alike { points: points.len() };
    };
    // A larger plan does not take less effort, so a falling line is a coincidence, however well it fits.
    if line.slope < 0.0 && line.r2 >= MIN_R2 {
        return RegressionResult::Falling { points: line.points };
    }
    match line.r2 >= MIN_R2 {
        true => RegressionResult::Good(line),
        false => RegressionResult::TooLoose { points: line.points, r2: line.r2 },
    }
}

impl RegressionLine {
    #[allow(clippy::cast_precision_loss, reason = "the number of runs fits exactly into a double")]
    fn fit(points: &[RunEffort]) -> Option<RegressionLine> {
        let count = points.len() as f64;
        let mean = points.iter().map(|point| point.size).sum::<f64>() / count;
        let mean_effort = points.iter().map(|point| point.effort).sum::<f64>() / count;
        let sum = |term: &dyn Fn(&RunEffort) -> f64| points.iter().map(term).sum::<f64>();
        let spread = sum(&|point| (point.size - mean).powi(2));
        if spread <= 0.0 {
            return None;
        }
        let slope = sum(&|point| (point.size - mean) * (point.effort - mean_effort)) / spread;
        let intercept = mean_effort - slope * mean;
        let total = sum(&|point| (point.effort - mean_effort).powi(2));
        let residual = sum(&|point| (point.effort - intercept - slope * point.size).powi(2));
        // If all efforts are equal, the size explains nothing.
        let r2 = if total > 0.0 { 1.0 - residual / total } else { 0.0 };
        let error = (residual / (count - 2.0)).sqrt();
        Some(RegressionLine { points: points.len(), intercept, slope, r2, error, mean, spread })
    }

    /// The expected effort with its prediction interval; `confidence` is between 0 and 1.
    #[allow(clippy::cast_precision_loss, reason = "the number of runs fits exactly into a double")]
    pub fn predict(&self, size: f64, confidence: f64) -> Prediction {
        let count = self.points as f64;
        let expected = self.intercept + self.slope * size;
        let distance = (1.0 + 1.0 / count + (size - self.mean).powi(2) / self.spread).sqrt();
        let range = quantile(count - 2.0, 0.5 + confidence / 2.0) * self.error * distance;
        Prediction {
            expected: expected.max(0.0),
            low: (expected - range).max(0.0),
            high: (expected + range).max(0.0),
        }
    }
}

/// The quantile of Student's t-distribution.
fn quantile(degrees_of_freedom: f64, probability: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees_of_freedom)
        .map_or(f64::INFINITY, |student| student.inverse_cdf(probability))
}

#[cfg(test)]
#[path = "regression_tests.rs"]
mod tests;
