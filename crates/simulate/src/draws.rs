//! Random numbers by what is drawn: the same question has the same answer in every variant of a workflow.
//!
//! A stream that is read in order gives a variant other numbers as soon as it asks one question more. Here each number is
//! a hash of the seed, the run and the question, so the difference between two variants is not drowned in noise.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use statrs::function::erf::erfc_inv;

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Drawn {
    Tasks = 1,
    Need,
    TaskSize,
    RunUsage,
    Usage,
    Failure,
    CannotDo,
    ClaimsSuccess,
    Verdict,
    DefectCount,
    Severity,
    Security,
    Difficulty,
    Look,
    FalseAlarm,
    Origin,
    OriginKnown,
    Fix,
    Renewal,
    CaughtByChecks,
    CaughtByNewTests,
    Luck,
    Flaky,
    OperationResult,
    OperationTime,
    Answer,
    AnswerTime,
    Flag,
    GapCount,
    GapCloses,
    GapAppears,
    GapConflict,
}

/// The random numbers of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    state: u64,
}

impl Draws {
    pub fn new(seed: u64, run: u64) -> Draws {
        Draws { state: mix(mix(0, seed), run) }
    }

    /// A number between 0 and 1, both excluded.
    pub fn uniform(&self, what: Drawn, key: &[u64]) -> f64 {
        let hash = key.iter().fold(mix(self.state, what as u64), |hash, part| mix(hash, *part));
        to_unit(hash)
    }

    pub fn happens(&self, probability: f64, what: Drawn, key: &[u64]) -> bool {
        self.uniform(what, key) < probability
    }

    /// A number from the standard normal distribution.
    pub fn normal(&self, what: Drawn, key: &[u64]) -> f64 {
        normal_quantile(self.uniform(what, key))
    }

    /// A number from the log-normal distribution with this mean; `spread` is the deviation of its logarithm.
    pub fn log_normal(&self, mean: f64, spread: f64, what: Drawn, key: &[u64]) -> f64 {
        mean * libm::exp(spread * self.normal(what, key) - spread * spread / 2.0)
    }

    /// A number from the Poisson distribution with this mean, by inversion: it grows with the mean.
    pub fn count(&self, mean: f64, what: Drawn, key: &[u64]) -> u16 {
        const MAX: u16 = 200;
        let drawn = self.uniform(what, key);
        let mut probability = libm::exp(-mean);
        let mut below = probability;
        let mut count = 0;
        while drawn > below && count < MAX {
            count += 1;
            probability *= mean / f64::from(count);
            below += probability;
        }
        count
    }

    /// One of the choices, by weight; the rest of the weight belongs to `None`.
    pub fn choose(&self, weights: impl Iterator<Item = f64>, what: Drawn, key: &[u64]) -> Option<usize> {
        let drawn = self.uniform(what, key);
        let mut below = 0.0;
        weights.enumerate().find_map(|(at, weight)| {
            below += weight;
            (drawn < below).then_some(at)
        })
    }
}

/// A key for a name that is the same in every variant.
pub(crate) fn name_key(name: &str) -> u64 {
    name.bytes().fold(0, |hash, byte| mix(hash, u64::from(byte)))
}

pub(crate) fn normal_quantile(probability: f64) -> f64 {
    -core::f64::consts::SQRT_2 * erfc_inv(2.0 * probability)
}

fn mix(hash: u64, part: u64) -> u64 {
    SplitMix64::seed_from_u64(hash.rotate_left(23) ^ part).next_u64()
}

#[allow(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
fn to_unit(hash: u64) -> f64 {
    ((hash >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_stay_the_same_in_every_version() {
        let draws = Draws::new(7, 3);
        assert_eq!(mix(mix(0, 7), 3), 9_372_509_549_710_828_272);
        assert_eq!(draws.count(2.0, Drawn::DefectCount, &[1, 2]), 4);
    }

    #[test]
    fn draws_have_the_distribution_that_they_promise() {
        let all: Vec<Draws> = (0..20_000).map(|run| Draws::new(1, run)).collect();
        let mean = |value: &dyn Fn(&Draws) -> f64| all.iter().map(value).sum::<f64>() / all.len() as f64;
        let is_near =
            |found: f64, expected: f64| assert!((found - expected).abs() < 0.02, "{found} {expected}");
        is_near(mean(&|draws| draws.uniform(Drawn::Look, &[5])), 0.5);
        is_near(mean(&|draws| draws.normal(Drawn::Look, &[6])), 0.0);
        is_near(mean(&|draws| draws.normal(Drawn::Look, &[6]).powi(2)), 1.0);
        is_near(mean(&|draws| draws.log_normal(1.0, 0.5, Drawn::Usage, &[7])), 1.0);
        is_near(mean(&|draws| f64::from(draws.count(0.7, Drawn::DefectCount, &[8]))), 0.7);
        let both = |draws: &Draws| {
            f64::from(u8::from(
                draws.happens(0.5, Drawn::Look, &[1, 2]) && draws.happens(0.5, Drawn::Look, &[2, 1]),
            ))
        };
        is_near(mean(&both), 0.25);
    }
}
