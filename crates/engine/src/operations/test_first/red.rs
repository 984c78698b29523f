//! `verify-red`: every new test fails, and fails because the behaviour is missing.

use super::super::Done;
use super::suite::{NewTest, NewTests, UnknownReason, run_suite};
use super::{of_tests, skipped};
use crate::site::{Job, Trouble};
use remand_checks::FailureKind;
use remand_kernel::change::TestEnd;
use remand_kernel::finding::Finding;
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let seen = run_suite(job)?;
    let (says, findings) = judge(&seen);
    let mut done = Done::saying(says);
    for test in
        seen.new.iter().filter(|test| seen.has_stubs && test.unknown_reason() == Some(UnknownReason::Format))
    {
        let text = format!("`{}` fails, but its runner does not say whether at a stub", test.name);
        done.note(NoteKind::Degradation, text);
    }
    seen.measured.report_rows(&mut done);
    done.report.findings = findings;
    Ok(done)
}

/// The verdict on the new tests, with a finding for each one that is wrong.
pub fn judge(seen: &NewTests) -> (&'static str, Vec<Finding>) {
    if seen.new.is_empty() {
        return ("wrong-failure", vec![nothing_new(seen)]);
    }
    let passed: Vec<&NewTest> = seen.new.iter().filter(|test| test.end == TestEnd::Passed).collect();
    if !passed.is_empty() {
        let (says, why) = if seen.has_stubs {
            ("structural-only", "passes although the code is a stub, so it does not reach the stub")
        } else {
            ("already-green", "passes before the code is written")
        };
        let findings = passed
            .iter()
            .map(|test| of_tests(&test.name, format!("the new test `{}` {why}", test.name), String::new()));
        return (says, findings.collect());
    }
    let wrong: Vec<Finding> = seen.new.iter().filter_map(|test| wrong(test, seen.has_stubs)).collect();
    if wrong.is_empty() { ("red", wrong) } else { ("wrong-failure", wrong) }
}

/// Why a failure is not the expected one; none if it is.
fn wrong(test: &NewTest, has_stubs: bool) -> Option<Finding> {
    let name = &test.name;
    let claim = match test.kind {
        _ if test.end == TestEnd::Flaky => format!("the new test `{name}` is flaky"),
        _ if test.end == TestEnd::Skipped => skipped(name),
        Some(kind) if !kind.is_red() => {
            format!(
                "the new test `{name}` is broken ({}); it does not fail because the behaviour is missing",
                kind.name()
            )
        }
        Some(kind) if has_stubs && kind != FailureKind::Stub => {
            format!("the new test `{name}` fails ({}), but not at a stub", kind.name())
        }
        None if has_stubs && test.unknown_reason() == Some(UnknownReason::Other) => {
            format!("the new test `{name}` fails, but its output does not show that it reached a stub")
        }
        Some(_) | None => return None,
    };
    Some(of_tests(name, claim, String::new()))
}

fn nothing_new(seen: &NewTests) -> Finding {
    match seen.unstarted.first() {
        Some((check, said)) => {
            of_tests(check, format!("`{check}` runs no test: the tests cannot start"), said.clone())
        }
        None => of_tests(
            "none",
            "there is no new test".to_string(),
            "every test that ran exists at the base".to_string(),
        ),
    }
}
