//! Applies the rulings on tests that failed before the change to the results of the checks.

use crate::red_tests::{self, RedScope};
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::{CheckEnd, CheckResult, NewCoverage, RedRuling, RedTest, TestListing, still_red};
use remand_kernel::change::TestEnd;
use remand_kernel::finding::Finding;
use remand_ledger::Reader;
use std::collections::BTreeSet;
use std::path::Path;

/// The rulings on the tests that failed before the change.
#[derive(Clone, Debug, Default)]
pub struct RedRulings {
    tests: Vec<RedTest>,
}

/// Notes for people and reviewers on the tests that failed before the change.
#[derive(Clone, Debug, Default)]
pub struct RedNotes {
    /// Tests that had to pass, and tests that may stay red.
    pub ruled: Vec<String>,
    /// Tests that may stay red although nothing shows what the work is about.
    pub unclear: Vec<String>,
}

impl RedRulings {
    /// Rules on the tests that failed in every earlier result, and marks each check in which only tests that may stay
    /// red fail.
    pub fn apply(
        job: &Job,
        reader: &Reader,
        content: &LaneContent,
        task: Option<&str>,
        before: &[CheckResult],
        results: &mut [CheckResult],
    ) -> Result<RedRulings, Trouble> {
        let base = job.site.repository().tree_of(&content.base)?;
        let scope =
            RedScope { task, change: Some((&base, &content.tree)), coverage: coverage(before, results) };
        let tests = red_tests::rule(job, reader, &red_tests::names(before), scope)?;
        let rulings = RedRulings { tests };
        for result in results {
            result.red_before = rulings.allowed_in(result, before);
        }
        Ok(rulings)
    }

    /// The tests that the request or the plan wants to pass.
    pub fn wanted(&self) -> BTreeSet<String> {
        self.tests.iter().filter(|test| test.is_wanted).map(|test| test.name.clone()).collect()
    }

    /// A finding for each test that must pass and does not.
    pub fn findings(&self, results: &[CheckResult], tree: &Path) -> Vec<Finding> {
        let must_pass: Vec<(&str, &str)> = self
            .tests
            .iter()
            .filter(|test| test.ruling == RedRuling::MustPass)
            .map(|test| (test.name.as_str(), test.why.as_str()))
            .collect();
        results.iter().flat_map(|result| still_red(result, &must_pass, tree)).collect()
    }

    pub fn notes(&self, results: &[CheckResult]) -> RedNotes {
        let mut notes = RedNotes::default();
        for result in results {
            for test in &self.tests {
                let Some(now) = result.tests.iter().find(|now| now.name == test.name) else { continue };
                let RedTest { name, why, .. } = test;
                let failed = format!("`{name}` of `{}` failed before the change", result.name);
                match (test.ruling, now.end) {
                    (RedRuling::MustPass, TestEnd::Passed) => {
                        notes.ruled.push(format!("{failed} and had to pass, because {why}; it passes"));
                    }
                    (RedRuling::MayStayRed, TestEnd::Failed) => {
                        notes.ruled.push(format!("{failed} and may stay red, because {why}"));
                    }
                    (RedRuling::Unclear, TestEnd::Failed) => {
                        notes.unclear.push(format!("{failed} and still fails; {why}"));
                    }
                    (_, _) => {}
                }
            }
        }
        notes
    }

    /// The number of failing tests of a check, if all of them are allowed to keep failing and fail as before; otherwise
    /// 0.
    fn allowed_in(&self, result: &CheckResult, before: &[CheckResult]) -> u32 {
        let fails_as_before = result.exit_code.is_some_and(|code| code != 0)
            && before.iter().any(|old| old.name == result.name && old.exit_code == result.exit_code);
        if result.end != CheckEnd::Failed || result.listing == TestListing::ChangedFiles || !fails_as_before {
            return 0;
        }
        let named = |end: TestEnd| result.tests.iter().filter(move |test| test.end == end);
        let may_stay = |name: &str| {
            self.tests.iter().any(|test| test.name == name && test.ruling != RedRuling::MustPass)
        };
        if named(TestEnd::Passed).next().is_none() || !named(TestEnd::Failed).all(|test| may_stay(&test.name))
        {
            return 0;
        }
        u32::try_from(named(TestEnd::Failed).count()).unwrap_or(u32::MAX)
    }
}

/// Whether a new test passes: one that no earlier result lists.
fn coverage(before: &[CheckResult], results: &[CheckResult]) -> NewCoverage {
    let lists_tests = |result: &&CheckResult| result.listing != TestListing::ChangedFiles;
    let known: BTreeSet<&str> =
        before.iter().flat_map(|result| &result.tests).map(|test| test.name.as_str()).collect();
    let mut tests = results.iter().filter(lists_tests).flat_map(|result| &result.tests);
    let is_new = tests.any(|test| test.end == TestEnd::Passed && !known.contains(test.name.as_str()));
    if is_new { NewCoverage::Tested } else { NewCoverage::Untested }
}
