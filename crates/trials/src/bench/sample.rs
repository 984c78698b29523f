//! Durations and their statistics.

use std::time::Duration;

/// Durations in the order of measurement.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    all: Vec<Duration>,
}

impl Durations {
    pub fn add(&mut self, duration: Duration) {
        self.all.push(duration);
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn total(&self) -> Duration {
        self.all.iter().sum()
    }

    /// The mean; zero if there are no durations.
    pub fn mean(&self) -> Duration {
        let count = u32::try_from(self.len()).unwrap_or(u32::MAX);
        self.total().checked_div(count).unwrap_or_default()
    }

    /// The median; zero if there are no durations.
    pub fn median(&self) -> Duration {
        median(&self.all)
    }

    /// The median of each tenth, in the order of measurement.
    pub fn deciles(&self) -> Vec<Duration> {
        let tenth = self.all.len().div_ceil(10).max(1);
        self.all.chunks(tenth).map(median).collect()
    }
}

fn median(durations: &[Duration]) -> Duration {
    let mut sorted = durations.to_vec();
    let middle = sorted.len() / 2;
    if sorted.is_empty() {
        return Duration::ZERO;
    }
    *sorted.select_nth_unstable(middle).1
}

/// The ratio of two durations.
pub fn ratio(this: Duration, that: Duration) -> f64 {
    this.as_secs_f64() / that.as_secs_f64().max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_sync_does_not_change_the_median() {
        let mut sample = Durations::default();
        for millis in [3, 1, 900, 2, 4] {
            sample.add(Duration::from_millis(millis));
        }
        assert_eq!(sample.median(), Duration::from_millis(3));
        assert_eq!(sample.mean(), Duration::from_millis(182));
        assert_eq!(Durations::default().mean(), Duration::ZERO);
        assert_eq!(Durations::default().median(), Duration::ZERO);
    }

    #[test]
    fn deciles_keep_the_order_of_measurement() {
        let mut sample = Durations::default();
        for millis in 1..=100 {
            sample.add(Duration::from_millis(millis));
        }
        let deciles = sample.deciles();
        assert_eq!(deciles.len(), 10);
        assert_eq!((deciles[0], deciles[9]), (Duration::from_millis(6), Duration::from_millis(96)));
    }
}
