//! `entry-check`: verifies, before the code is written, that the new tests fail as reported and that all tests that
//! passed at the base still pass.

use super::super::Done;
use super::super::planned::last_test_report;
use super::red::judge;
use super::suite::{NewTests, run_suite};
use super::test_finding;
use crate::site::{Job, Trouble};
use remand_checks::FailureKind;
use remand_kernel::finding::Finding;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let seen = run_suite(job)?;
    let mut findings = judge(&seen).1;
    findings.extend(unexpected_reasons(&seen, &reported_kinds(job)?));
    findings.extend(seen.worse.iter().map(|test| {
        test_finding(test, format!("`{test}` passed at the base and does not pass now"), String::new())
    }));
    let mut done = Done::with_signal(if findings.is_empty() { "ready" } else { "unfit" });
    seen.measured.report_rows(&mut done);
    done.report.findings = findings;
    Ok(done)
}

/// Reports tests that do not fail for the reason that their author reported.
fn unexpected_reasons(seen: &NewTests, reported: &[(String, FailureKind)]) -> Vec<Finding> {
    let reported_kind =
        |test: &str| reported.iter().find(|(name, _)| test.ends_with(name.as_str())).map(|(_, kind)| *kind);
    let findings = seen.new.iter().filter_map(|test| {
        let (reported, actual) = (reported_kind(&test.name)?, test.kind?);
        (reported != actual).then(|| {
            let claim = format!(
                "`{}` should fail by {} according to its author, but fails by {}",
                test.name,
                reported.name(),
                actual.name()
            );
            test_finding(&test.name, claim, String::new())
        })
    });
    findings.collect()
}

/// How each test fails according to the last role that wrote tests.
fn reported_kinds(job: &Job) -> Result<Vec<(String, FailureKind)>, Trouble> {
    let report = last_test_report(job, &job.site.reader()?)?;
    let changes = report.map(|report| report.changes).unwrap_or_default();
    let tests = changes.into_iter().flat_map(|change| change.tests);
    Ok(tests.filter_map(|test| Some((test.name.0, FailureKind::by_name(&test.kind)?))).collect())
}
