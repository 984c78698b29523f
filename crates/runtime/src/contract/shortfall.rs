//! What a refused result falls short of: a retry is told what helps, not only that it failed (SR-03).

use super::problem::Problem;

/// What is expected where nothing was found.
pub(super) const ONE_RESULT: &str = "the result in its file, or as the last fenced block of the answer";

/// What is expected of a result about gaps that it was not given.
pub(super) const ASSIGNED_GAP: &str = "a gap that was assigned";

/// What is expected of a result that hardly says anything.
const CHARACTERS: &str = "characters of it";

/// The kinds of refused results, the first that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// There is no result at all.
    Missing,
    /// It is too short to be one.
    Short,
    /// It is about none of the gaps that were assigned.
    NoGap,
    /// It does not have the form that its contract asks for.
    Form,
}

impl Shortfall {
    /// The kind of a refused result, by what was told of it.
    pub fn of(detail: &str) -> Shortfall {
        let told = |phrase: &str| detail.contains(phrase);
        if told(ONE_RESULT) {
            Shortfall::Missing
        } else if told(CHARACTERS) {
            Shortfall::Short
        } else if told(ASSIGNED_GAP) && !detail.contains("; ") {
            Shortfall::NoGap
        } else {
            Shortfall::Form
        }
    }
}

/// A result of fewer characters than it must have; an empty one is none at all.
pub fn too_short(text: &str, least: usize) -> Option<Problem> {
    let length = text.trim().chars().count();
    let short = length > 0 && length < least;
    short.then(|| Problem::new("", format!("at least {least} {CHARACTERS}"), length.to_string()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{Limits, RawResult, find};
    use super::*;

    // SR-03
    #[test]
    fn each_kind_of_refused_result_is_known_by_what_was_told_of_it() {
        let missing = find(&RawResult::default(), &Limits::default()).unwrap_err().to_string();
        assert_eq!(Shortfall::of(&missing), Shortfall::Missing);
        let short = too_short("verdict: nothing", 100).unwrap().to_string();
        assert_eq!(Shortfall::of(&short), Shortfall::Short);
        let gap = Problem::new("payload.proposals", format!("{ASSIGNED_GAP}: GAP-A-001"), "GAP-B-001");
        assert_eq!(Shortfall::of(&gap.to_string()), Shortfall::NoGap);
        let form = Problem::new("payload.checks", "at least 1 entry", "none").to_string();
        assert_eq!(Shortfall::of(&form), Shortfall::Form);
        assert_eq!(Shortfall::of(&format!("{form}; {gap}")), Shortfall::Form);
    }

    // SR-03
    #[test]
    fn what_is_long_enough_or_nothing_at_all_is_not_short() {
        assert!(too_short(&"x".repeat(100), 100).is_none());
        assert!(too_short("  \n", 100).is_none());
        assert!(too_short(&"x".repeat(99), 100).is_some());
    }
}
