//! How long a command waits after failures of its environment.

use std::time::Duration;

/// The maximum wait that a service can ask for.
const MAX_REQUESTED_WAIT: Duration = Duration::from_secs(15 * 60);

/// The wait doubles with each failure, from 1 to 32 seconds. A service that asks for a longer wait gets it, up to a
/// limit. The wait never exceeds the time that the run has left.
pub(super) fn backoff(failures: u16, requested: Option<Duration>, time_left: Option<Duration>) -> Duration {
    if failures == 0 {
        return Duration::ZERO;
    }
    let wait = Duration::from_secs(1 << failures.min(6).saturating_sub(1));
    let wait = wait.max(requested.unwrap_or_default().min(MAX_REQUESTED_WAIT));
    time_left.map_or(wait, |left| left.min(wait))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_and_respects_the_service_and_the_time_limit_of_the_run() {
        let seconds = |failures, requested: Option<u64>, left: Option<u64>| {
            backoff(failures, requested.map(Duration::from_secs), left.map(Duration::from_secs)).as_secs()
        };
        assert_eq!([0, 1, 2, 3, 6, 60].map(|failures| seconds(failures, None, None)), [0, 1, 2, 4, 32, 32]);
        assert_eq!(seconds(1, Some(90), None), 90);
        assert_eq!(seconds(1, Some(86_400), None), 900);
        assert_eq!(seconds(3, Some(1), Some(2)), 2);
    }
}
