//! The tests as they were before a change, on the changed code: which of them must pass, and what releases one that does not.
//!
//! Only declared intent tells an intended new value from a rewritten expectation, so a release rests on the user's words, on
//! the plan, or on a person, never on the change.

mod gone_names;
mod mend;
mod release;
mod values;

use crate::failure::{is_short_for, texts_of_failures};
use crate::integrity::ends_with_name;
use crate::result::{CheckResult, TestListing, earlier};
use crate::spec::Parser;
use remand_kernel::change::TestEnd;
use std::collections::{BTreeMap, BTreeSet};

pub use gone_names::GoneNames;
pub use mend::{Mended, mend};
pub use release::{Release, accepted_files};

/// The longest message of a failure that is shown.
const MAX_MESSAGE: usize = 160;

/// A test of the base that does not pass on the changed code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenTest {
    /// As the runner names it.
    pub name: String,
    pub how: BrokenHow,
    /// What the runner or the compiler says; may be empty.
    pub message: String,
}

/// Why a test does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenHow {
    Failed,
    /// It cannot be built with the changed code.
    Unbuilt,
    /// It does not run, and nothing says why.
    Missing,
    Skipped,
}

impl BrokenTest {
    /// One clause about the test, for people.
    pub fn clause(&self) -> String {
        let name = &self.name;
        let what = match self.how {
            BrokenHow::Failed => format!("`{name}` as it was fails on the new code"),
            BrokenHow::Unbuilt => format!("`{name}` as it was cannot be built with the new code"),
            BrokenHow::Missing => format!("`{name}` as it was no longer runs with the new code"),
            BrokenHow::Skipped => format!("`{name}` as it was is skipped on the new code"),
        };
        if self.message.is_empty() { what } else { format!("{what}: {}", self.message) }
    }
}

/// The tests of a check that must pass as they were: those that passed at the base, and those that failed there and are
/// wanted.
pub fn expected(check: &str, at_base: &[CheckResult], wanted: &BTreeSet<String>) -> BTreeSet<String> {
    let mut ends: BTreeMap<&str, BTreeSet<TestEnd>> = BTreeMap::new();
    for result in earlier(at_base, check).filter(|result| result.listing != TestListing::ChangedFiles) {
        for test in &result.tests {
            ends.entry(&test.name).or_default().insert(test.end);
        }
    }
    let is_expected = |name: &str, ends: &BTreeSet<TestEnd>| {
        let always = |end: TestEnd| ends.len() == 1 && ends.contains(&end);
        // A module that cannot be loaded is listed as a test.
        !name.contains("_FailedTest")
            && (always(TestEnd::Passed) || always(TestEnd::Failed) && wanted.contains(name))
    };
    ends.iter().filter(|(name, ends)| is_expected(name, ends)).map(|(name, _)| name.to_string()).collect()
}

/// The expected tests that do not pass. `head` is the result with the new tests; if it covers only some members, so does
/// `now`.
pub fn broken(
    expected: &BTreeSet<String>,
    parser: Parser,
    now: &CheckResult,
    head: &CheckResult,
) -> Vec<BrokenTest> {
    let output = String::from_utf8_lossy(&now.output);
    let (texts, unbuilt) = (texts_of_failures(parser, &output), mend::unbuilt(&output));
    let mut ends: BTreeMap<&str, BTreeSet<TestEnd>> = BTreeMap::new();
    for test in &now.tests {
        ends.entry(&test.name).or_default().insert(test.end);
    }
    let unbuilt_message = |name: &str| {
        let is_it = |(path, _): &&(String, String)| {
            ends_with_name(name, path) || is_short_for(path, name) || name.starts_with(path.as_str())
        };
        unbuilt.iter().find(is_it).map(|(_, message)| message.clone())
    };
    let mut found = Vec::new();
    for name in expected {
        let of_test = ends.get(name.as_str());
        let has = |end: TestEnd| of_test.is_some_and(|ends| ends.contains(&end));
        // A flaky test is judged with the tests of the head.
        if has(TestEnd::Flaky) || has(TestEnd::Passed) && !has(TestEnd::Failed) {
            continue;
        }
        let message = unbuilt_message(name);
        let is_elsewhere = of_test.is_none()
            && head.listing == TestListing::Members
            && message.is_none()
            && !head.tests.iter().any(|test| test.name == *name);
        if is_elsewhere {
            continue;
        }
        let (how, message) = match message {
            Some(message) => (BrokenHow::Unbuilt, message),
            None if has(TestEnd::Failed) => {
                let text =
                    texts.iter().find(|(short, _)| is_short_for(short, name)).map(|(_, text)| text.as_str());
                (BrokenHow::Failed, text.map(telling).unwrap_or_default())
            }
            None if has(TestEnd::Skipped) => (BrokenHow::Skipped, String::new()),
            None => (BrokenHow::Missing, missing_message(now)),
        };
        found.push(BrokenTest { name: name.clone(), how, message });
    }
    found
}

/// Why a test has no result, if the check as a whole says it.
fn missing_message(now: &CheckResult) -> String {
    if now.passed() { String::new() } else { telling(&now.snippet) }
}

/// The line of a failure that says most.
fn telling(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    let starts = [
        "assert",
        "AssertionError",
        "error:",
        "error[",
        "E   ",
        "TypeError",
        "NameError",
        "AttributeError",
        "ImportError",
    ];
    let says = |line: &&str| {
        starts.iter().any(|start| line.starts_with(start))
            || line.contains("Error: ")
            || line.contains("assertion ")
    };
    let at = lines().position(|line| says(&line)).unwrap_or(0);
    let mut parts: Vec<&str> = lines().skip(at).take(1).collect();
    // The runner of Rust prints both values on lines of their own.
    parts.extend(
        lines().skip(at + 1).take(2).filter(|line| line.starts_with("left:") || line.starts_with("right:")),
    );
    let all = parts.join(", ");
    let text: String = all.chars().take(MAX_MESSAGE).collect();
    if text.len() < all.len() { format!("{text}…") } else { text }
}
