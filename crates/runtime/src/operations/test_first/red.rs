//! `verify-red`: every new test fails, and for want of the behaviour (OT-12, OT-13).

use super::super::Done;
use super::of_tests;
use super::seen::{NewTest, Seen, Untold, look};
use crate::checks::FailureKind;
use crate::workshop::{Job, Trouble};
use remand_kernel::change::TestEnd;
use remand_kernel::finding::Finding;
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let seen = look(job)?;
    let (says, findings) = judge(&seen);
    let mut done = Done::saying(says);
    for test in seen.new.iter().filter(|test| seen.has_stubs && test.untold() == Some(Untold::ByItsFormat)) {
        let text = format!("`{}` fails, and its runner does not say whether at a stub", test.name);
        done.note(NoteKind::Degradation, text);
    }
    seen.ran.tell_rows(&mut done);
    done.report.findings = findings;
    Ok(done)
}

/// What the new tests amount to, with a finding for each that is not as it should be.
pub fn judge(seen: &Seen) -> (&'static str, Vec<Finding>) {
    if seen.new.is_empty() {
        return ("wrong-failure", vec![nothing_new(seen)]);
    }
    let passed: Vec<&NewTest> = seen.new.iter().filter(|test| test.end == TestEnd::Passed).collect();
    if !passed.is_empty() {
        let (says, why) = if seen.has_stubs {
            ("structural-only", "passes although the code is a stub: it reaches none")
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

/// Why a failure is not the expected one, if it is not.
fn wrong(test: &NewTest, has_stubs: bool) -> Option<Finding> {
    let name = &test.name;
    let claim = match test.kind {
        _ if test.end == TestEnd::Flaky => format!("the new test `{name}` ends now so, now so"),
        _ if test.end == TestEnd::Skipped => skipped(name),
        Some(kind) if !kind.is_red() => {
            format!("the new test `{name}` fails by itself ({}), not for want of the behaviour", kind.name())
        }
        Some(kind) if has_stubs && kind != FailureKind::Stub => {
            format!("the new test `{name}` fails ({}), but not at a stub", kind.name())
        }
        None if has_stubs && test.untold() == Some(Untold::Otherwise) => {
            format!("the new test `{name}` fails, and nothing that it wrote says that it is at a stub")
        }
        Some(_) | None => return None,
    };
    Some(of_tests(name, claim, String::new()))
}

pub(super) fn skipped(test: &str) -> String {
    format!("the new test `{test}` is skipped, or expected to fail: it shows nothing")
}

fn nothing_new(seen: &Seen) -> Finding {
    match seen.unstarted.first() {
        Some((check, said)) => of_tests(
            check,
            format!("`{check}` brings no test to its end: the tests cannot be run"),
            said.clone(),
        ),
        None => of_tests(
            "none",
            "there is no new test".to_string(),
            "every test that was run is one that the base has".to_string(),
        ),
    }
}
