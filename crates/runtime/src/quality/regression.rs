//! A straight line through the past, and what it foretells: PROBE (PF-11).

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// With fewer points any line fits.
const FEWEST: usize = 3;

/// A line that explains less than this of what varies is nothing to go by.
const LOOSEST: f64 = 0.5;

/// One run of the past.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    pub size: f64,
    pub effort: f64,
}

/// What the past allows to say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    TooFew {
        points: usize,
    },
    /// All plans were of the same size, so that nothing follows for another one.
    Alike {
        points: usize,
    },
    TooLoose {
        points: usize,
        r2: f64,
    },
    /// Larger plans took less.
    Falling {
        points: usize,
    },
    Good(Line),
}

/// The line of least squares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Line {
    pub points: usize,
    pub intercept: f64,
    pub slope: f64,
    /// The part of the variation that the line explains.
    pub r2: f64,
    /// The standard error of a point about the line.
    error: f64,
    mean: f64,
    /// The sum of the squared distances of the sizes from their mean.
    spread: f64,
}

/// What a size will take, and the range in which it falls with the confidence that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prediction {
    pub expected: f64,
    pub low: f64,
    pub high: f64,
}

/// Lays a line through the points, if that means anything.
pub fn fit(points: &[Point]) -> Fit {
    if points.len() < FEWEST {
        return Fit::TooFew { points: points.len() };
    }
    let Some(line) = Line::through(points) else {
        return Fit::Alike { points: points.len() };
    };
    // A larger plan does not take less: such a line is an accident, however well it fits.
    if line.slope < 0.0 && line.r2 >= LOOSEST {
        return Fit::Falling { points: line.points };
    }
    match line.r2 >= LOOSEST {
        true => Fit::Good(line),
        false => Fit::TooLoose { points: line.points, r2: line.r2 },
    }
}

impl Line {
    #[allow(clippy::cast_precision_loss, reason = "runs are far fewer than what a double holds exactly")]
    fn through(points: &[Point]) -> Option<Line> {
        let count = points.len() as f64;
        let mean = points.iter().map(|point| point.size).sum::<f64>() / count;
        let effort = points.iter().map(|point| point.effort).sum::<f64>() / count;
        let sum = |term: &dyn Fn(&Point) -> f64| points.iter().map(term).sum::<f64>();
        let spread = sum(&|point| (point.size - mean).powi(2));
        if spread <= 0.0 {
            return None;
        }
        let slope = sum(&|point| (point.size - mean) * (point.effort - effort)) / spread;
        let intercept = effort - slope * mean;
        let total = sum(&|point| (point.effort - effort).powi(2));
        let left = sum(&|point| (point.effort - intercept - slope * point.size).powi(2));
        // Efforts that are all the same are explained by any size, which is no explanation.
        let r2 = if total > 0.0 { 1.0 - left / total } else { 0.0 };
        let error = (left / (count - 2.0)).sqrt();
        Some(Line { points: points.len(), intercept, slope, r2, error, mean, spread })
    }

    /// The expected effort with its prediction interval; `confidence` lies between 0 and 1.
    #[allow(clippy::cast_precision_loss, reason = "runs are far fewer than what a double holds exactly")]
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

/// How many standard errors of a sample with this freedom hold this share of all values.
fn quantile(freedom: f64, share: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |student| student.inverse_cdf(share))
}

#[cfg(test)]
#[path = "regression_tests.rs"]
mod tests;
