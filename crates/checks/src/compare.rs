//! Compares results with those on earlier trees, and reports failures and lost tests as findings for a remand.

use super::location::{location, location_in_package, location_of};
use super::result::{CheckEnd, CheckResult, TestListing, earlier};
use remand_kernel::change::{TestEnd, TestResult};
use remand_kernel::evidence::{Regression, RegressionKind, Tier, regressions, variant_of};
use remand_kernel::finding::{Category, Finding, FindingKind, Location, Severity};
use remand_source::Language;
use std::collections::BTreeSet;
use std::path::Path;

/// Maximum number of tests that become findings; further tests are only counted.
const MAX_TESTS: usize = 20;

/// Compares results with those on earlier trees. A failed check is a finding unless it failed on every earlier tree. A test
/// is a finding if it passed and now fails, no longer runs, is new and fails, or is newly flaky. The same failure always
/// has the same id.
pub fn compare(before: &[CheckResult], after: &[CheckResult], tree: &Path) -> Vec<Finding> {
    compare_except(before, after, tree, &|_, _| false)
}

/// Like `compare`, but tests that no longer run are not findings if the caller excuses them.
pub fn compare_except(
    before: &[CheckResult],
    after: &[CheckResult],
    tree: &Path,
    is_excused: &dyn Fn(&str, &CheckResult) -> bool,
) -> Vec<Finding> {
    after.iter().flat_map(|result| Comparison { before, result, tree, is_excused }.findings()).collect()
}

/// A finding for each of these tests that does not pass. Each comes with the reason why it must.
pub fn still_red(result: &CheckResult, must_pass: &[(&str, &str)], tree: &Path) -> Vec<Finding> {
    let comparison = Comparison { before: &[], result, tree, is_excused: &|_, _| false };
    let is_red = |test: &str| {
        let mut ends = result.tests.iter().filter(|now| now.name == test).map(|now| now.end);
        ends.any(|end| matches!(end, TestEnd::Failed | TestEnd::Flaky))
    };
    let red = must_pass.iter().filter(|(test, _)| is_red(test)).take(MAX_TESTS);
    let finding = |(test, why): &(&str, &str)| {
        let how = format!("failed before the change and still fails, but must pass, because {why}");
        comparison.test_finding(test, Severity::Critical, &how)
    };
    red.map(finding).collect()
}

struct Comparison<'a> {
    before: &'a [CheckResult],
    result: &'a CheckResult,
    tree: &'a Path,
    is_excused: &'a dyn Fn(&str, &CheckResult) -> bool,
}

impl Comparison<'_> {
    fn findings(&self) -> Vec<Finding> {
        match self.result.end {
            CheckEnd::Passed | CheckEnd::Failed => {}
            CheckEnd::TimedOut => return self.whole_check().into_iter().collect(),
            // A check that never ran a test loses nothing.
            CheckEnd::Vacuous if self.earlier().any(|before| before.passed()) || self.lost_all() => {
                return self.whole_check().into_iter().collect();
            }
            CheckEnd::Vacuous => return Vec::new(),
            CheckEnd::Environment | CheckEnd::Skipped | CheckEnd::NoFiles | CheckEnd::Cancelled => {
                return Vec::new();
            }
        }
        let mut findings = self.individual_tests();
        let is_explained = findings.iter().any(|finding| finding.severity == Severity::Critical);
        if self.result.end == CheckEnd::Failed && !is_explained {
            findings.splice(0..0, self.whole_check());
        }
        findings
    }

    /// The finding about the check itself, unless it failed on every earlier tree.
    fn whole_check(&self) -> Option<Finding> {
        let earlier: Vec<&CheckResult> = self.earlier().collect();
        let passed_before = earlier.iter().any(|before| before.passed());
        let lost = self.lost_all();
        if !earlier.is_empty() && !passed_before && !lost {
            return None;
        }
        let name = &self.result.name;
        let claim = match self.result.end {
            CheckEnd::Vacuous => format!("the check `{name}` runs no test"),
            CheckEnd::TimedOut => format!("the check `{name}` exceeds its time limit"),
            CheckEnd::Passed
            | CheckEnd::Failed
            | CheckEnd::Skipped
            | CheckEnd::NoFiles
            | CheckEnd::Environment
            | CheckEnd::Cancelled => {
                format!("the check `{name}` fails")
            }
        };
        let severity = if passed_before || lost || self.result.tier == Some(Tier::One) {
            Severity::Critical
        } else {
            Severity::Major
        };
        let location = location(&String::from_utf8_lossy(&self.result.output), self.tree);
        Some(self.finding(format!("check:{name}"), severity, claim, location))
    }

    /// Whether tests ran before, even in a failed check, and none runs now.
    fn lost_all(&self) -> bool {
        let ran =
            |test: &TestResult| test.end != TestEnd::Skipped && !(self.is_excused)(&test.name, self.result);
        self.result.listing == TestListing::All
            && self.result.tests.iter().all(|test| test.end == TestEnd::Skipped)
            && self.earlier().any(|before| before.tests.iter().any(ran))
    }

    fn individual_tests(&self) -> Vec<Finding> {
        let tests = &self.result.tests;
        // A broken build runs no test. Then the finding is about the check, not about each of its tests.
        if tests.is_empty() && self.result.end == CheckEnd::Failed {
            return Vec::new();
        }
        let earlier: Vec<&[TestResult]> = self.earlier().map(|before| before.tests.as_slice()).collect();
        let regressions = regressions(&earlier, tests);
        let known: BTreeSet<&str> =
            earlier.iter().flat_map(|list| list.iter().map(|test| test.name.as_str())).collect();
        // If the check failed before too, nothing else reports its new failing tests.
        let new_failures = tests
            .iter()
            .filter(|test| test.end == TestEnd::Failed && !known.contains(test.name.as_str()))
            .map(|test| (test.name.as_str(), Severity::Critical, "is new and fails"));
        let is_certain =
            |how: RegressionKind| how != RegressionKind::Gone || self.result.listing == TestListing::All;
        let is_excused = |regression: &&Regression| {
            regression.how != RegressionKind::Failed && (self.is_excused)(&regression.test, self.result)
        };
        let reported = regressions.iter().filter(|regression| is_certain(regression.how));
        let worse = reported.filter(|regression| !is_excused(regression)).map(|regression| {
            let how = match regression.how {
                RegressionKind::Failed => "passed before and now fails",
                RegressionKind::Skipped => "passed before and is now skipped",
                RegressionKind::Gone => "passed before and no longer runs",
            };
            (regression.test.as_str(), Severity::Critical, how)
        });
        let ran: BTreeSet<&str> =
            tests.iter().filter(|test| test.end != TestEnd::Skipped).map(|test| test.name.as_str()).collect();
        // A test may have become several, one for each of its parameters.
        let ran = |name: &str| ran.contains(name) || variant_of(ran.range(name..).copied(), name);
        let failed_before =
            earlier.iter().flat_map(|list| list.iter()).filter(|test| test.end == TestEnd::Failed);
        let dropped: BTreeSet<&str> = failed_before
            .map(|test| test.name.as_str())
            .filter(|name| self.result.listing == TestListing::All && !ran(name) && !is_module(name))
            .filter(|name| !(self.is_excused)(name, self.result))
            .collect();
        let dropped =
            dropped.into_iter().map(|name| (name, Severity::Critical, "failed before and no longer runs"));
        let was_unsteady = |name: &str| {
            let earlier = earlier.iter().flat_map(|list| list.iter()).filter(|test| test.name == name);
            earlier.into_iter().any(|test| matches!(test.end, TestEnd::Flaky | TestEnd::Failed))
        };
        let flaky = tests.iter().filter(|test| test.end == TestEnd::Flaky && !was_unsteady(&test.name));
        let flaky = flaky.map(|test| {
            let name = test.name.as_str();
            // A test that passed once may have had this flaw before; a new one brings it.
            if known.contains(name) {
                (name, Severity::Major, "is flaky: it passes and fails on the same tree")
            } else {
                (name, Severity::Critical, "is new and flaky: it passes and fails on the same tree")
            }
        });
        let all: Vec<(&str, Severity, &str)> =
            worse.chain(dropped).chain(new_failures).chain(flaky).collect();
        let more = all.len().saturating_sub(MAX_TESTS);
        let mut findings: Vec<Finding> = all
            .iter()
            .take(MAX_TESTS)
            .map(|(test, severity, how)| self.test_finding(test, *severity, how))
            .collect();
        if more > 0
            && let Some(last) = findings.last_mut()
        {
            last.impact = format!("{more} more tests of this check are worse too");
        }
        findings
    }

    fn test_finding(&self, test: &str, severity: Severity, how: &str) -> Finding {
        let name = &self.result.name;
        let output = String::from_utf8_lossy(&self.result.output);
        let short = test.rsplit([' ', '.', '>', '/']).next().unwrap_or(test);
        let (claim, location) = match self.result.listing {
            TestListing::All | TestListing::Members => {
                let mut location = location_of(short, &output, self.tree);
                if location.file.is_empty() {
                    location = location_in_package(test, &output, self.tree);
                }
                (format!("the test `{test}` of `{name}` {how}"), location)
            }
            TestListing::ChangedFiles => file_error(test, &output),
        };
        self.finding(format!("test:{name}:{test}"), severity, claim, location)
    }

    fn finding(&self, id: String, severity: Severity, claim: String, location: Location) -> Finding {
        let result = self.result;
        let ended = match (&result.command, result.exit_code) {
            (Some(command), Some(code)) => format!("`{command}` ended with exit code {code}\n"),
            (Some(command), None) => format!("`{command}`: {}\n", result.reason),
            (None, _) => String::new(),
        };
        Finding {
            id,
            severity,
            category: Category::Correctness,
            kind: Some(FindingKind::Production),
            injected_by: Vec::new(),
            task: None,
            place: location,
            claim,
            evidence: format!("{ended}{}", result.snippet),
            impact: String::new(),
            recommendation: String::new(),
            patch: None,
            repeats: None,
        }
    }

    fn earlier(&self) -> impl Iterator<Item = &CheckResult> {
        earlier(self.before, &self.result.name)
    }
}

/// Whether a name is that of a module. Runners list a module that cannot be loaded as a test, until the module loads.
fn is_module(name: &str) -> bool {
    name.contains("_FailedTest") || Language::of(Path::new(name)).is_some()
}

/// The claim about a file that one of the engine's own checks lists, and its place. The output has one line for each
/// file with an error: `file:line:column: message`.
fn file_error(file: &str, output: &str) -> (String, Location) {
    let rest = output.lines().find_map(|line| line.strip_prefix(file)?.strip_prefix(':'));
    let mut parts = rest.unwrap_or_default().splitn(3, ':');
    let line = parts.next().and_then(|line| line.parse().ok()).unwrap_or(0);
    let place = Location { file: file.to_string(), symbol: String::new(), line };
    let claim = match parts.nth(1).map(str::trim) {
        Some(message) => format!("the file `{file}` has an error: {message}"),
        None => format!("the file `{file}` has an error"),
    };
    (claim, place)
}
