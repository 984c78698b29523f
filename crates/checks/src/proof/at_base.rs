//! What a result on the code before the change shows about a test.

use super::question::TestInQuestion;
use crate::failure::{assertion_failures, is_short_for};
use crate::result::CheckResult;
use crate::spec::Parser;
use remand_kernel::change::TestEnd;
use remand_ledger::proof::TestProof;
use std::collections::BTreeSet;

/// What shows that a test can fail, from the result of its check with the code before the change; `None` if nothing does.
/// `added` has the names that the change brings.
pub fn at_base(
    test: &TestInQuestion,
    parser: Parser,
    result: &CheckResult,
    added: &BTreeSet<String>,
    asserts_at: &dyn Fn(&str, usize) -> bool,
) -> Option<TestProof> {
    if !result.counts() {
        return None;
    }
    let output = String::from_utf8_lossy(&result.output);
    let mut lacks = test.uses.intersection(added);
    match result.tests.iter().find(|now| now.name == test.name).map(|now| now.end) {
        Some(TestEnd::Failed) => {
            let failed = assertion_failures(parser, &output, asserts_at);
            if failed.iter().any(|name| is_short_for(name, &test.name)) {
                return Some(TestProof::RedAtBase);
            }
            lacks.next().map(|_| TestProof::MissingAtBase)
        }
        Some(TestEnd::Passed | TestEnd::Flaky | TestEnd::Skipped) => None,
        // Its file could not be built or loaded.
        None if result.passed() => None,
        None => lacks.any(|name| output.contains(name.as_str())).then_some(TestProof::MissingAtBase),
    }
}
