//! What got worse, as findings that a remand can carry (EP-19).

use super::outcome::{CheckOutcome, End, Listed};
use super::place::{place, place_of};
use remand_kernel::change::{TestEnd, TestResult};
use remand_kernel::evidence::{Regression, RegressionKind, Tier, regressions};
use remand_kernel::finding::{Category, Finding, FindingKind, Place, Severity};
use remand_source::Language;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// More single tests than this are told as one number.
const MOST_TESTS: usize = 20;

/// What an earlier tree gave for one check. A check may be listed several times, once for each earlier tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Before {
    pub check: String,
    pub passed: bool,
    pub tests: Vec<TestResult>,
}

/// Compares with earlier trees: checks that fail and did not everywhere before, and tests that passed before and
/// fail or are gone. What failed on every earlier tree too is no finding. Ids are the same for the same failure.
pub fn compare(before: &[Before], after: &[CheckOutcome], tree: &Path) -> Vec<Finding> {
    compare_but(before, after, tree, &|_, _| false)
}

/// The same, but for tests that are gone or skipped for a reason that the caller knows.
pub fn compare_but(
    before: &[Before],
    after: &[CheckOutcome],
    tree: &Path,
    is_excused: &dyn Fn(&str, &CheckOutcome) -> bool,
) -> Vec<Finding> {
    after.iter().flat_map(|outcome| Judged { before, outcome, tree, is_excused }.findings()).collect()
}

impl Before {
    /// What an outcome is for later comparison; none where it says nothing about the tree.
    pub fn of(outcome: &CheckOutcome) -> Option<Before> {
        outcome.counts().then(|| Before {
            check: outcome.name.clone(),
            passed: outcome.passed(),
            tests: outcome.tests.clone(),
        })
    }
}

struct Judged<'a> {
    before: &'a [Before],
    outcome: &'a CheckOutcome,
    tree: &'a Path,
    is_excused: &'a dyn Fn(&str, &CheckOutcome) -> bool,
}

impl Judged<'_> {
    fn findings(&self) -> Vec<Finding> {
        match self.outcome.end {
            End::Passed | End::Failed => {}
            End::TimedOut => return self.whole().into_iter().collect(),
            // A check that never had a test loses nothing.
            End::Vacuous if self.earlier().any(|before| before.passed) || self.lost_all() => {
                return self.whole().into_iter().collect();
            }
            End::Vacuous => return Vec::new(),
            End::Environment | End::Skipped | End::Cancelled => return Vec::new(),
        }
        let mut findings = self.single_tests();
        let is_explained = findings.iter().any(|finding| finding.severity == Severity::Critical);
        if self.outcome.end == End::Failed && !is_explained {
            findings.splice(0..0, self.whole());
        }
        findings
    }

    /// The finding about the check itself, unless it failed on every earlier tree.
    fn whole(&self) -> Option<Finding> {
        let earlier: Vec<&Before> = self.earlier().collect();
        let passed_before = earlier.iter().any(|before| before.passed);
        let lost = self.lost_all();
        if !earlier.is_empty() && !passed_before && !lost {
            return None;
        }
        let name = &self.outcome.name;
        let what = match self.outcome.end {
            End::Vacuous => format!("the check `{name}` runs no test"),
            End::TimedOut => format!("the check `{name}` does not come to its end in time"),
            End::Passed | End::Failed | End::Skipped | End::Environment | End::Cancelled => {
                format!("the check `{name}` fails")
            }
        };
        let severity = if passed_before || lost || self.outcome.tier == Tier::One {
            Severity::Critical
        } else {
            Severity::Major
        };
        let place = place(&String::from_utf8_lossy(&self.outcome.output), self.tree);
        Some(self.finding(format!("check:{name}"), severity, what, place))
    }

    /// Whether tests were run before, however the check ended then, and none comes to its end now.
    fn lost_all(&self) -> bool {
        let is_run =
            |test: &TestResult| test.end != TestEnd::Skipped && !(self.is_excused)(&test.name, self.outcome);
        self.outcome.listed == Listed::All
            && self.outcome.tests.iter().all(|test| test.end == TestEnd::Skipped)
            && self.earlier().any(|before| before.tests.iter().any(is_run))
    }

    fn single_tests(&self) -> Vec<Finding> {
        let tests = &self.outcome.tests;
        // A build that broke runs no test at all; then the check is the finding, and not each test of it.
        if tests.is_empty() && self.outcome.end == End::Failed {
            return Vec::new();
        }
        let lists: Vec<&[TestResult]> = self.earlier().map(|before| before.tests.as_slice()).collect();
        let regressions = regressions(&lists, tests);
        let known: BTreeSet<&str> =
            lists.iter().flat_map(|list| list.iter().map(|test| test.name.as_str())).collect();
        // Where the check failed before as well, nothing else tells of it.
        let fresh = tests
            .iter()
            .filter(|test| test.end == TestEnd::Failed && !known.contains(test.name.as_str()))
            .map(|test| (test.name.as_str(), Severity::Critical, "is new and fails"));
        let is_told = |how: RegressionKind| how != RegressionKind::Gone || self.outcome.listed == Listed::All;
        let is_excused = |regression: &&Regression| {
            regression.how != RegressionKind::Failed && (self.is_excused)(&regression.test, self.outcome)
        };
        let told = regressions.iter().filter(|regression| is_told(regression.how));
        let worse = told.filter(|regression| !is_excused(regression)).map(|regression| {
            let how = match regression.how {
                RegressionKind::Failed => "passed before and fails",
                RegressionKind::Skipped => "passed before and is skipped",
                RegressionKind::Gone => "passed before and is not run any more",
            };
            (regression.test.as_str(), Severity::Critical, how)
        });
        let run: BTreeSet<&str> =
            tests.iter().filter(|test| test.end != TestEnd::Skipped).map(|test| test.name.as_str()).collect();
        let failing = lists.iter().flat_map(|list| list.iter()).filter(|test| test.end == TestEnd::Failed);
        let dropped: BTreeSet<&str> = failing
            .map(|test| test.name.as_str())
            .filter(|name| self.outcome.listed == Listed::All && !run.contains(name) && !is_module(name))
            .filter(|name| !(self.is_excused)(name, self.outcome))
            .collect();
        let dropped = dropped
            .into_iter()
            .map(|name| (name, Severity::Critical, "failed before and is not run any more"));
        let unsteady = |name: &str| {
            let earlier = lists.iter().flat_map(|list| list.iter()).filter(|test| test.name == name);
            earlier.into_iter().any(|test| matches!(test.end, TestEnd::Flaky | TestEnd::Failed))
        };
        let flaky =
            tests.iter().filter(|test| test.end == TestEnd::Flaky && !unsteady(&test.name)).map(|test| {
                (test.name.as_str(), Severity::Major, "is flaky: it passes and fails on the same tree")
            });
        let all: Vec<(&str, Severity, &str)> = worse.chain(dropped).chain(fresh).chain(flaky).collect();
        let more = all.len().saturating_sub(MOST_TESTS);
        let mut findings: Vec<Finding> = all
            .iter()
            .take(MOST_TESTS)
            .map(|(test, severity, how)| self.test(test, *severity, how))
            .collect();
        if more > 0
            && let Some(last) = findings.last_mut()
        {
            last.impact = format!("{more} more tests of this check are worse too");
        }
        findings
    }

    fn test(&self, test: &str, severity: Severity, how: &str) -> Finding {
        let name = &self.outcome.name;
        let output = String::from_utf8_lossy(&self.outcome.output);
        let short = test.rsplit([' ', '.', '>', '/']).next().unwrap_or(test);
        let claim = format!("the test `{test}` of `{name}` {how}");
        let place = place_of(short, &output, self.tree);
        self.finding(format!("test:{name}:{test}"), severity, claim, place)
    }

    fn finding(&self, id: String, severity: Severity, claim: String, place: Place) -> Finding {
        let outcome = self.outcome;
        let ended = match (&outcome.command, outcome.exit_code) {
            (Some(command), Some(code)) => format!("`{command}` ended with exit code {code}\n"),
            (Some(command), None) => format!("`{command}`: {}\n", outcome.reason),
            (None, _) => String::new(),
        };
        Finding {
            id,
            severity,
            category: Category::Correctness,
            kind: Some(FindingKind::Production),
            injected_by: Vec::new(),
            task: None,
            place,
            claim,
            evidence: format!("{ended}{}", outcome.snippet),
            impact: String::new(),
            recommendation: String::new(),
            patch: None,
            repeats: None,
        }
    }

    fn earlier(&self) -> impl Iterator<Item = &Before> {
        self.before.iter().filter(|before| before.check == self.outcome.name)
    }
}

/// Runners list a module that cannot be loaded as if it were a test; it is none any more when it can.
fn is_module(name: &str) -> bool {
    name.contains("_FailedTest") || Language::of(Path::new(name)).is_some()
}
