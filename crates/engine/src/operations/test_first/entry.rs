//! `entry-check`: before the code is written, the new tests fail as reported, and nothing else fails that passed at the
//! base.

use super::super::Done;
use super::super::planned::last_report_of_tests;
use super::of_tests;
use super::red::judge;
use super::suite::{NewTests, run_suite};
use crate::site::{Job, Trouble};
use remand_checks::FailureKind;
use remand_kernel::finding::Finding;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let seen = run_suite(job)?;
    let mut findings = judge(&seen).1;
    findings.extend(other_reasons(&seen, &handed_over(job)?));
    findings.extend(
        seen.worse
            .iter()
            .map(|test| of_tests(test, format!("`{test}` passed at the base and fails now"), String::new())),
    );
    let mut done = Done::saying(if findings.is_empty() { "ready" } else { "unfit" });
    seen.measured.report_rows(&mut done);
    done.report.findings = findings;
    Ok(done)
}

/// Tests that fail for another reason than their author reported.
fn other_reasons(seen: &NewTests, handed: &[(String, FailureKind)]) -> Vec<Finding> {
    let said =
        |test: &str| handed.iter().find(|(name, _)| test.ends_with(name.as_str())).map(|(_, kind)| *kind);
    let differs = seen.new.iter().filter_map(|test| {
        let (said, is) = (said(&test.name)?, test.kind?);
        (said != is).then(|| {
            let claim = format!(
                "`{}` should fail by {} according to its author, but fails by {}",
                test.name,
                said.name(),
                is.name()
            );
            of_tests(&test.name, claim, String::new())
        })
    });
    differs.collect()
}

/// How each test fails, according to the last result of a role that writes tests.
fn handed_over(job: &Job) -> Result<Vec<(String, FailureKind)>, Trouble> {
    let report = last_report_of_tests(job, &job.site.reader()?)?;
    let changes = report.map(|report| report.changes).unwrap_or_default();
    let tests = changes.into_iter().flat_map(|change| change.tests);
    Ok(tests.filter_map(|test| Some((test.name.0, FailureKind::by_name(&test.kind)?))).collect())
}
