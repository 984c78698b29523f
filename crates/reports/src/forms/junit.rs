//! The report as JUnit XML: one suite per check, and one for the findings.

use super::words::one_line;
use crate::{ChangeReport, ChangeVerdict, CheckSummary, CheckVerdict, TestChange, TestSummary};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

pub fn render(report: &ChangeReport) -> String {
    let mut junit = Report::new("remand vet");
    junit.set_time(Duration::from_millis(report.duration_ms));
    junit.add_test_suite(verdict(report));
    for check in &report.checks {
        junit.add_test_suite(suite(report, check));
    }
    // The writer fails only if the memory cannot be written.
    junit.to_string().unwrap_or_default()
}

fn verdict(report: &ChangeReport) -> TestSuite {
    let mut suite = TestSuite::new("verdict");
    let status = match report.verdict {
        ChangeVerdict::Pass => TestCaseStatus::success(),
        ChangeVerdict::Fail => problem(NonSuccessKind::Failure, "fail", &report.reason),
        ChangeVerdict::Unmeasured => problem(NonSuccessKind::Error, "unmeasured", &report.reason),
        ChangeVerdict::Blocked => problem(NonSuccessKind::Error, "blocked", &report.reason),
    };
    suite.add_test_case(TestCase::new(one_line(&report.change.source.describe()), status));
    for finding in &report.findings {
        let status = match report.verdict {
            ChangeVerdict::Pass => skipped(&finding.claim),
            ChangeVerdict::Fail | ChangeVerdict::Unmeasured | ChangeVerdict::Blocked => {
                problem(NonSuccessKind::Failure, &finding.rule, &finding.claim)
            }
        };
        let mut case = TestCase::new(one_line(&finding.claim), status);
        case.set_classname(finding.rule.as_str());
        if !finding.place.file.is_empty() {
            case.extra.insert("file".into(), finding.place.file.as_str().into());
        }
        suite.add_test_case(case);
    }
    suite
}

fn suite(report: &ChangeReport, check: &CheckSummary) -> TestSuite {
    let mut suite = TestSuite::new(check.name.as_str());
    suite.set_time(Duration::from_millis(check.duration_ms));
    if check.tests.is_empty() {
        let status = match check.verdict {
            CheckVerdict::Passed => TestCaseStatus::success(),
            CheckVerdict::Failed | CheckVerdict::TimedOut if report.verdict != ChangeVerdict::Pass => {
                problem(NonSuccessKind::Failure, check.verdict.name(), &check.snippet)
            }
            CheckVerdict::Failed
            | CheckVerdict::TimedOut
            | CheckVerdict::Vacuous
            | CheckVerdict::Skipped
            | CheckVerdict::CouldNotRun => skipped(&format!("{}: {}", check.verdict.name(), check.reason)),
        };
        suite.add_test_case(TestCase::new(check.name.as_str(), status));
    }
    for test in &check.tests {
        let mut case = TestCase::new(test.name.as_str(), status(report, test));
        case.set_classname(check.name.as_str());
        suite.add_test_case(case);
    }
    suite
}

/// A test that is not worse than at the base must not turn the report of a passing change red.
fn status(report: &ChangeReport, test: &TestSummary) -> TestCaseStatus {
    match test.change {
        TestChange::Passed | TestChange::New | TestChange::Fixed => TestCaseStatus::success(),
        TestChange::Skipped => skipped("skipped, as at the base"),
        TestChange::StillRed => skipped("fails, as at the base"),
        TestChange::Flaky => skipped("passes and fails on the same tree, so its result says nothing"),
        TestChange::Regressed
        | TestChange::Gone
        | TestChange::NewRed
        | TestChange::NewFlaky
        | TestChange::SwitchedOff
            if report.verdict == ChangeVerdict::Pass =>
        {
            skipped(test.change.name())
        }
        TestChange::Regressed
        | TestChange::Gone
        | TestChange::NewRed
        | TestChange::NewFlaky
        | TestChange::SwitchedOff => {
            let message = if test.message.is_empty() { test.change.name() } else { &test.message };
            problem(NonSuccessKind::Failure, test.change.name(), message)
        }
    }
}

fn problem(kind: NonSuccessKind, name: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(name).set_message(one_line(message));
    status
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(one_line(message));
    status
}
