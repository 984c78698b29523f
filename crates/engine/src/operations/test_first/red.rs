//! `verify-red`: verifies that every new test fails, and fails because the behaviour is missing.

use super::super::Done;
use super::suite::{NewTest, NewTests, UnknownReason, run_suite};
use super::{skipped_claim, test_finding};
use crate::site::{Job, Trouble};
use remand_checks::FailureKind;
use remand_kernel::change::TestEnd;
use remand_kernel::finding::Finding;
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let seen = run_suite(job)?;
    let (signal, findings) = judge(&seen);
    let mut done = Done::with_signal(signal);
    for test in
        seen.new.iter().filter(|test| seen.has_stubs && test.unknown_reason() == Some(UnknownReason::Format))
    {
        let text = format!("`{}` fails, but its runner does not report whether it reached a stub", test.name);
        done.note(NoteKind::Degradation, text);
    }
    seen.measured.report_rows(&mut done);
    done.report.findings = findings;
    Ok(done)
}

/// The signal for the new tests, and a finding for each test that is wrong.
pub fn judge(seen: &NewTests) -> (&'static str, Vec<Finding>) {
    if seen.new.is_empty() {
        return ("wrong-failure", vec![no_new_test(seen)]);
    }
    let passed: Vec<&NewTest> = seen.new.iter().filter(|test| test.end == TestEnd::Passed).collect();
    if !passed.is_empty() {
        let (signal, why) = if seen.has_stubs {
            ("structural-only", "passes although the code is a stub, so it does not reach the stub")
        } else {
            ("already-green", "passes before the code is written")
        };
        let findings = passed.iter().map(|test| {
            test_finding(&test.name, format!("the new test `{}` {why}", test.name), String::new())
        });
        return (signal, findings.collect());
    }
    let wrong: Vec<Finding> =
        seen.new.iter().filter_map(|test| unexpected_end(test, seen.has_stubs)).collect();
    if wrong.is_empty() { ("red", wrong) } else { ("wrong-failure", wrong) }
}

/// A finding about a test that does not fail as expected; `None` if it does.
fn unexpected_end(test: &NewTest, has_stubs: bool) -> Option<Finding> {
    let name = &test.name;
    let claim = match test.kind {
        _ if test.end == TestEnd::Flaky => format!("the new test `{name}` is flaky"),
        _ if test.end == TestEnd::Skipped => skipped_claim(name),
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
    Some(test_finding(name, claim, String::new()))
}

fn no_new_test(seen: &NewTests) -> Finding {
    match seen.unstarted.first() {
        Some((check, output)) => {
            test_finding(check, format!("`{check}` runs no test: the tests cannot start"), output.clone())
        }
        None => test_finding(
            "none",
            "there is no new test".to_string(),
            "every test that ran exists at the base".to_string(),
        ),
    }
}
