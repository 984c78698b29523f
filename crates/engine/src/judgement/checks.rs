//! The checks of a judged change, test by test, compared with the base.

use crate::red_tests::baseline_results;
use crate::row_names::OLD_TESTS;
use crate::site::Trouble;
use remand_checks::{CheckResult, CheckSpec, ReadBack, TestListing, read_back};
use remand_kernel::change::{TestEnd, TestResult};
use remand_kernel::evidence::{RowPhase, variant_of};
use remand_kernel::finding::Location;
use remand_ledger::Reader;
use remand_ledger::query::CheckRow;
use remand_reports::{CheckOrigin, CheckSummary, CheckVerdict, OldTestsSummary, TestChange, TestSummary};
use std::collections::{BTreeMap, BTreeSet};

/// The rows of the tests as they were.
pub fn old_tests(rows: &[CheckRow]) -> Vec<OldTestsSummary> {
    let of_change = |row: &&CheckRow| row.phase == RowPhase::After && !row.superseded;
    let last = rows.iter().filter(of_change).map(|row| row.iteration).max();
    let latest = rows.iter().filter(of_change).filter(|row| Some(row.iteration) == last);
    latest
        .filter_map(|row| {
            let check = row.name.strip_prefix(OLD_TESTS)?.to_string();
            Some(OldTestsSummary { check, passed: row.passed, reason: row.reason.clone() })
        })
        .collect()
}

/// A summary of each check that ran on the judged change, in the order in which they ran.
pub fn summaries(
    reader: &Reader,
    rows: &[CheckRow],
    specs: &[CheckSpec],
) -> Result<Vec<CheckSummary>, Trouble> {
    let before = baseline_results(reader, rows)?;
    let of_change = |row: &&CheckRow| row.phase == RowPhase::After && !row.superseded;
    let last = rows.iter().filter(of_change).map(|row| row.iteration).max();
    let is_check = |row: &&CheckRow| row.command.is_some() || row.collected.is_some() || row.tier.is_some();
    let latest = rows.iter().filter(of_change).filter(|row| Some(row.iteration) == last).filter(is_check);
    latest
        .filter(|row| !(row.command.is_none() && row.name == "regressions"))
        .filter(|row| !row.name.starts_with(OLD_TESTS))
        .map(|row| {
            let result = read_back(reader, row, ReadBack::Tests)?;
            let earlier: Vec<&CheckResult> =
                before.iter().filter(|earlier| earlier.name == row.name).collect();
            let at_base = rows.iter().rfind(|base| base.phase == RowPhase::Baseline && base.name == row.name);
            Ok(CheckSummary {
                name: row.name.clone(),
                tier: row.tier,
                command: row.command.clone(),
                folder: specs
                    .iter()
                    .find(|spec| spec.name == row.name)
                    .map_or_else(String::new, |spec| spec.folder.clone()),
                exit_code: row.exit_code,
                duration_ms: row.duration_ms,
                verdict: verdict(row),
                verdict_at_base: at_base.map(verdict),
                origin: match &row.origin {
                    Some(origin) => CheckOrigin::Reused { run: origin.run.to_string() },
                    None => CheckOrigin::Now,
                },
                reason: row.reason.clone(),
                snippet: row.snippet.clone(),
                // The engine's own checks list files, not tests.
                tests: if row.command.is_some() { tests(&earlier, &result) } else { Vec::new() },
            })
        })
        .collect()
}

fn verdict(row: &CheckRow) -> CheckVerdict {
    match (row.passed, row.tier, row.exit_code) {
        (true, _, _) => CheckVerdict::Passed,
        (false, Some(_), None) if row.command.is_some() && row.duration_ms > 0 => CheckVerdict::TimedOut,
        (false, Some(_), _) => CheckVerdict::Failed,
        (false, None, Some(0)) => CheckVerdict::Vacuous,
        (false, None, _) => CheckVerdict::Skipped,
    }
}

/// Each test of a check with its change. A check that ran no test at all is broken as a whole, so its tests are not listed.
fn tests(before: &[&CheckResult], now: &CheckResult) -> Vec<TestSummary> {
    if now.tests.is_empty() && !now.passed() {
        return Vec::new();
    }
    let earlier = ends(before.iter().flat_map(|result| &result.tests));
    let summary = |name: &str, change| TestSummary {
        name: name.to_string(),
        change,
        place: None::<Location>,
        message: String::new(),
    };
    let latest = ends(now.tests.iter());
    let mut listed = BTreeSet::new();
    let mut summaries: Vec<TestSummary> = now
        .tests
        .iter()
        .filter(|test| listed.insert(test.name.as_str()))
        .filter_map(|test| {
            let name = test.name.as_str();
            Some(summary(name, change(earlier.get(name).copied(), *latest.get(name)?)))
        })
        .collect();
    if now.listing == TestListing::All && now.stored.tests.is_some() {
        let is_there = |name: &str| {
            latest.contains_key(name) || variant_of(latest.range(name..).map(|(now, _)| *now), name)
        };
        let gone = earlier.iter().filter(|(name, end)| **end != TestEnd::Skipped && !is_there(name));
        summaries.extend(gone.map(|(name, _)| summary(name, TestChange::Gone)));
    }
    summaries
}

/// How each test ended; a test with several different ends is flaky.
fn ends<'t>(tests: impl Iterator<Item = &'t TestResult>) -> BTreeMap<&'t str, TestEnd> {
    let mut ends = BTreeMap::new();
    for test in tests {
        let end = ends.entry(test.name.as_str()).or_insert(test.end);
        if *end != test.end {
            *end = TestEnd::Flaky;
        }
    }
    ends
}

fn change(before: Option<TestEnd>, now: TestEnd) -> TestChange {
    match (before, now) {
        (Some(TestEnd::Passed), TestEnd::Failed) => TestChange::Regressed,
        (Some(TestEnd::Failed | TestEnd::Flaky), TestEnd::Failed) => TestChange::StillRed,
        (None | Some(TestEnd::Skipped), TestEnd::Failed) => TestChange::NewRed,
        (None | Some(TestEnd::Skipped), TestEnd::Flaky) => TestChange::NewFlaky,
        (Some(TestEnd::Passed | TestEnd::Failed | TestEnd::Flaky), TestEnd::Flaky) => TestChange::Flaky,
        (Some(TestEnd::Passed | TestEnd::Failed | TestEnd::Flaky), TestEnd::Skipped) => {
            TestChange::SwitchedOff
        }
        (None | Some(TestEnd::Skipped), TestEnd::Skipped) => TestChange::Skipped,
        (Some(TestEnd::Passed), TestEnd::Passed) => TestChange::Passed,
        (Some(TestEnd::Failed | TestEnd::Flaky), TestEnd::Passed) => TestChange::Fixed,
        (None | Some(TestEnd::Skipped), TestEnd::Passed) => TestChange::New,
    }
}

#[cfg(test)]
mod tests_of_changes {
    use super::*;
    use remand_checks::{CheckEnd, StoredBlobs};
    use remand_kernel::evidence::Tier;
    use remand_ledger::BlobId;

    fn result(end: CheckEnd, tests: &[(&str, TestEnd)]) -> CheckResult {
        let tests =
            tests.iter().map(|(name, end)| TestResult { name: name.to_string(), end: *end }).collect();
        let stored = StoredBlobs { tests: Some(BlobId::of(b"tests")), output: None };
        CheckResult { tests, stored, ..CheckResult::of_engine("unit", Some(Tier::Two), end, String::new()) }
    }

    // BY-02
    #[test]
    fn every_test_is_named_with_what_became_of_it() {
        use TestEnd::*;
        let names = ["worse", "kept", "off", "red", "mended", "lost", "idle"];
        let ends_before = [Passed, Passed, Passed, Failed, Failed, Passed, Skipped];
        let before: Vec<(&str, TestEnd)> = names.into_iter().zip(ends_before).collect();
        let before = result(CheckEnd::Failed, &before);
        let now = result(
            CheckEnd::Failed,
            &[
                ("worse", Failed),
                ("kept", Passed),
                ("off", Skipped),
                ("red", Failed),
                ("mended", Passed),
                ("new", Passed),
                ("newly-red", Failed),
                ("shaky", Flaky),
            ],
        );
        let shown: Vec<(String, TestChange)> =
            tests(&[&before], &now).into_iter().map(|test| (test.name, test.change)).collect();
        let shown: Vec<(&str, TestChange)> =
            shown.iter().map(|(name, change)| (name.as_str(), *change)).collect();
        assert_eq!(
            shown,
            [
                ("worse", TestChange::Regressed),
                ("kept", TestChange::Passed),
                ("off", TestChange::SwitchedOff),
                ("red", TestChange::StillRed),
                ("mended", TestChange::Fixed),
                ("new", TestChange::New),
                ("newly-red", TestChange::NewRed),
                ("shaky", TestChange::NewFlaky),
                ("lost", TestChange::Gone),
            ]
        );
    }

    // BY-02
    #[test]
    fn the_tests_of_a_build_that_broke_are_not_called_gone() {
        let before = result(CheckEnd::Passed, &[("one", TestEnd::Passed)]);
        assert_eq!(tests(&[&before], &result(CheckEnd::Failed, &[])), []);
    }
}
