//! Why individual tests failed, as far as their runner reports it. A test that is written before its code must fail because
//! the code is missing.

use super::parsers::{go, libtest, nextest, node, pytest};
use super::spec::Parser;
use std::collections::{BTreeMap, BTreeSet};

/// Precedes the failures from report files at the end of an output.
const REPORTED: &str = "--- failures by the report ---\n";

/// The kind of a test's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// An assertion of the test did not hold.
    Assertion,
    /// The test reached code that is not written yet.
    Stub,
    /// The code that the test calls does not exist, or does not do what it should.
    Missing,
    /// The test itself is broken: it cannot be parsed, or something that it needs cannot be loaded.
    Broken,
    /// Something outside the test is missing.
    Environment,
}

impl FailureKind {
    /// The name for people and contracts.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Assertion => "assertion",
            FailureKind::Stub => "stub",
            FailureKind::Missing => "missing behaviour",
            FailureKind::Broken => "broken test",
            FailureKind::Environment => "environment",
        }
    }

    /// Parses the name of a kind, in the spellings that agents use.
    pub fn by_name(name: &str) -> Option<FailureKind> {
        let name: String = name.to_lowercase().replace(['_', '-'], " ");
        Some(match name.trim() {
            "assertion" | "assert" | "assertion failure" | "assertion mismatch" => FailureKind::Assertion,
            "stub" | "stub panic" | "panic" | "todo" | "not implemented" => FailureKind::Stub,
            "missing" | "missing behaviour" | "missing behavior" => FailureKind::Missing,
            _ => return None,
        })
    }

    /// Whether a failure of this kind shows that behaviour is missing.
    pub fn is_red(self) -> bool {
        match self {
            FailureKind::Assertion | FailureKind::Stub | FailureKind::Missing => true,
            FailureKind::Broken | FailureKind::Environment => false,
        }
    }
}

const ENVIRONMENT: [&str; 6] = [
    "Connection refused",
    "Permission denied",
    "Address already in use",
    "command not found",
    "No space left on device",
    "Operation not permitted",
];
const STUB: [&str; 3] = ["not yet implemented", "not implemented", "NotImplementedError"];
const BROKEN: [&str; 12] = [
    "SyntaxError",
    "IndentationError",
    "ImportError",
    "ModuleNotFoundError",
    "ERR_MODULE_NOT_FOUND",
    "Cannot find module",
    "Failed to resolve import",
    "Failed to load",
    "Test suite failed to run",
    "Failed to import test module",
    "error collecting",
    "fixture '",
];
const ASSERTION: [&str; 5] = ["assert", "Assert", "Expected", "expected", "ERR_ASSERTION"];

/// The kind of each failure, by the name of the test in the output. A failed test has no entry if its runner does not report
/// the reason.
pub fn failures(parser: Parser, output: &str) -> BTreeMap<String, FailureKind> {
    let outputs = texts_of_failures(parser, output);
    let reported = outputs.into_iter().filter(|(_, text)| !may_be_silent(parser) || !text.trim().is_empty());
    reported
        .map(|(name, text)| {
            let kind = kind(&message(parser, &name, &text));
            (name, kind)
        })
        .collect()
}

/// What the runner printed about each failed test.
pub fn texts_of_failures(parser: Parser, output: &str) -> BTreeMap<String, String> {
    match parser {
        Parser::Cargo => sections(output, |line| {
            Some(libtest::without_line(line.strip_prefix("---- ")?.strip_suffix(" stdout ----")?))
        }),
        Parser::Nextest => sections(output, nextest::heading),
        Parser::Pytest => summary_messages(output),
        Parser::Unittest => sections(output, |line| {
            let rest = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "))?;
            let (method, path) = rest.split_once(" (")?;
            let path = path.split(')').next()?;
            // The runner lists a module that cannot be loaded as if it were a test.
            Some(if path.ends_with(method) && !method.contains('.') { path } else { method }.to_string())
        }),
        Parser::Node | Parser::Tap => sections(output, |line| {
            let line = line.trim_start();
            let rest = line.strip_prefix("not ok ").or_else(|| line.strip_prefix("✖ "))?;
            let rest = rest.split_once(" - ").map_or(rest, |(_, name)| name);
            Some(node::without_duration(rest).to_string())
        }),
        Parser::Jest | Parser::Junit => {
            let reported = output.rsplit_once(REPORTED).map_or("", |(_, reported)| reported);
            sections(reported, |line| (!line.starts_with(' ')).then(|| line.to_string()))
        }
        Parser::Go => go::outputs(output),
        Parser::None => BTreeMap::new(),
    }
}

/// The tests that failed by an assertion, by their names in the output. Any other failure could come from broken code
/// that no assertion looks at. `asserts_at` says whether test code asserts something at a line of a file, for runners that
/// print only the message of an assertion.
pub fn assertion_failures(
    parser: Parser,
    output: &str,
    asserts_at: &dyn Fn(&str, usize) -> bool,
) -> BTreeSet<String> {
    let texts = match parser {
        // The runner lists failed assertions and other errors under different words.
        Parser::Unittest => {
            return sections(output, |line| {
                let (method, path) = line.strip_prefix("FAIL: ")?.split_once(" (")?;
                let path = path.split(')').next()?;
                Some(if path.ends_with(method) { path } else { method }.to_string())
            })
            .into_keys()
            .collect();
        }
        other => texts_of_failures(other, output),
    };
    let asserts = |text: &str| {
        let has_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
        match parser {
            Parser::Cargo | Parser::Nextest => {
                has_any(&[
                    "assertion `",
                    "assertion failed",
                    "snapshot assertion",
                    "did not panic as expected",
                ]) || panics(text).any(|(file, line)| asserts_at(file, line))
            }
            Parser::Pytest => ["assert", "AssertionError", "Failed: "]
                .iter()
                .any(|start| text.trim_start().starts_with(start)),
            Parser::Node | Parser::Tap => has_any(&["ERR_ASSERTION", "AssertionError"]),
            // In its report, vitest calls a failed `resolves` or `rejects` an error; the stack shows where it comes from.
            Parser::Jest => has_any(&[
                "AssertionError",
                "expect(",
                "Snapshot `",
                "__VITEST_RESOLVES__",
                "__VITEST_REJECTS__",
            ]),
            Parser::Go => has_any(&["_test.go:"]) && !has_any(&["panic: "]),
            Parser::Junit => has_any(&["Assert", "assert", "expected"]),
            Parser::Unittest | Parser::None => false,
        }
    };
    texts.into_iter().filter(|(_, text)| asserts(text)).map(|(name, _)| name).collect()
}

/// The places at which a Rust test panicked.
fn panics(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.lines().filter_map(|line| {
        let (_, place) = line.split_once(" panicked at ")?;
        let place = place.rsplit_once("', ").map_or(place, |(_, place)| place);
        let mut parts = place.trim_end_matches(':').split(':');
        Some((parts.next()?, parts.next()?.parse().ok()?))
    })
}

/// The output of a test without names and quoted code, which could contain the words that identify a kind.
fn message(parser: Parser, name: &str, text: &str) -> String {
    let without = |is_quoted: fn(&str) -> bool| {
        text.lines().filter(|line| !is_quoted(line)).collect::<Vec<_>>().join("\n")
    };
    match parser {
        // The indented lines of a traceback quote the code.
        Parser::Unittest => without(|line| line.starts_with(' ')),
        Parser::Jest | Parser::Junit => without(|line| line.trim_start().starts_with("at ")),
        Parser::Cargo | Parser::Nextest => text.replace(name.rsplit(' ').next().unwrap_or(name), ""),
        Parser::None | Parser::Pytest | Parser::Node | Parser::Go | Parser::Tap => text.to_string(),
    }
}

/// Whether the format of a runner allows a failure without a reason.
pub fn may_be_silent(parser: Parser) -> bool {
    match parser {
        Parser::None | Parser::Tap | Parser::Junit => true,
        Parser::Cargo
        | Parser::Nextest
        | Parser::Pytest
        | Parser::Unittest
        | Parser::Node
        | Parser::Jest
        | Parser::Go => false,
    }
}

/// Failures from report files, as the last section of an output: each name, with its message indented below.
pub fn report_section(failures: &[(String, String)]) -> String {
    let mut text = String::new();
    for (name, message) in failures {
        text.push_str(if text.is_empty() { REPORTED } else { "" });
        text.push_str(&name.replace('\n', " "));
        text.push('\n');
        for line in message.lines() {
            text.push_str("    ");
            text.push_str(line);
            text.push('\n');
        }
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// The kind of a test's failure. The test's name may be the name in `failures` with a prefix, such as the test binary.
pub fn kind_of(failures: &BTreeMap<String, FailureKind>, test: &str) -> Option<FailureKind> {
    failures
        .get(test)
        .or_else(|| failures.iter().find(|(name, _)| is_short_for(name, test)).map(|(_, kind)| kind))
        .copied()
}

/// Whether a name in an output is that of a test, or its end.
pub fn is_short_for(name: &str, test: &str) -> bool {
    name == test || test.strip_suffix(name).is_some_and(|head| head.ends_with([' ', '.', ':', '>', '/']))
}

fn kind(text: &str) -> FailureKind {
    let has_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has_any(&ENVIRONMENT) {
        FailureKind::Environment
    } else if has_any(&STUB) {
        FailureKind::Stub
    } else if has_any(&BROKEN) {
        FailureKind::Broken
    } else if has_any(&ASSERTION) {
        FailureKind::Assertion
    } else {
        FailureKind::Missing
    }
}

/// The text after each heading, up to the next one.
fn sections(output: &str, heading: impl Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut open: Option<String> = None;
    for line in output.lines() {
        if let Some(name) = heading(line) {
            let name = name.trim().to_string();
            open = (!name.is_empty()).then_some(name);
            if let Some(name) = &open {
                found.entry(name.clone()).or_default();
            }
        } else if line.trim_start().starts_with("ok ")
            || line == "failures:"
            || line.starts_with("test result: ")
        {
            open = None;
        } else if let Some(text) = open.as_ref().and_then(|name| found.get_mut(name)) {
            text.push_str(line);
            text.push('\n');
        }
    }
    found
}

/// The short summary of pytest: one line per test, with the message after a dash.
fn summary_messages(output: &str) -> BTreeMap<String, String> {
    let messages = output.lines().filter_map(|line| {
        let (word, rest) = line.split_once(' ')?;
        let (name, message) = pytest::split_message(rest);
        match word {
            "FAILED" => Some((name.to_string(), message.to_string())),
            "ERROR" => Some((name.to_string(), format!("error collecting: {message}"))),
            _ => None,
        }
    });
    messages.collect()
}

#[cfg(test)]
mod tests {
    use super::super::parsers;
    use super::*;

    // OT-12
    #[test]
    fn rust_failures_are_assertions_stubs_or_other_panics() {
        let output = "\
running 3 tests
test a::adds ... FAILED
test a::stubbed ... FAILED
test a::unwraps ... FAILED

failures:

---- a::adds stdout ----

thread 'a::adds' panicked at src/lib.rs:9:9:
assertion `left == right` failed
  left: 1
 right: 2

---- a::stubbed stdout ----

thread 'a::stubbed' panicked at src/lib.rs:2:5:
not yet implemented

---- a::unwraps stdout ----

thread 'a::unwraps' panicked at src/lib.rs:15:9:
called `Option::unwrap()` on a `None` value

failures:
    a::adds
";
        let found = failures(Parser::Cargo, output);
        assert_eq!(kind_of(&found, "demo src/lib.rs a::adds"), Some(FailureKind::Assertion));
        assert_eq!(kind_of(&found, "demo src/lib.rs a::stubbed"), Some(FailureKind::Stub));
        assert_eq!(kind_of(&found, "demo src/lib.rs a::unwraps"), Some(FailureKind::Missing));
        assert_eq!(kind_of(&found, "demo src/lib.rs b::a::other"), None);
    }

    // OT-12
    #[test]
    fn python_and_node_failures_have_the_same_kinds() {
        let output = "FAILED tests/test_a.py::test_adds - assert 1 == 2\n\
                      FAILED tests/test_a.py::test_stub - NotImplementedError\n\
                      FAILED tests/test_a.py::test_name - AttributeError: module 'a' has no attribute 'sub'\n\
                      ERROR tests/test_b.py - ModuleNotFoundError: No module named 'b'\n";
        let kinds: Vec<_> = failures(Parser::Pytest, output).into_values().collect();
        let expected = [FailureKind::Assertion, FailureKind::Missing, FailureKind::Stub, FailureKind::Broken];
        assert_eq!(kinds, expected);
        let output = "ERROR: test_stub (test_a.A.test_stub)\n----\nTraceback (most recent call last):\n\
                        File \"a.py\", line 3\n    self.assertEqual(sub(3, 2), 1)\nNotImplementedError\n\nERROR: test_name (test_a.A.test_name)\n    self.assertEqual(a.sub(3, 2), 1)\n\
                      AttributeError: no attribute 'sub'\nFAIL: test_adds (test_a.A.test_adds)\nAssertionError: 1 != 2\n";
        let unloaded =
            "ERROR: tests.test_b (unittest.loader._FailedTest.tests.test_b)\nImportError: Failed to import\n";
        let found = failures(Parser::Unittest, unloaded);
        let name = "unittest.loader._FailedTest.tests.test_b.tests.test_b";
        assert_eq!(kind_of(&found, name), Some(FailureKind::Broken));
        let found = failures(Parser::Unittest, output);
        assert_eq!(kind_of(&found, "test_a.A.test_stub"), Some(FailureKind::Stub));
        assert_eq!(kind_of(&found, "test_a.A.test_adds"), Some(FailureKind::Assertion));
        assert_eq!(kind_of(&found, "test_a.A.test_name"), Some(FailureKind::Missing));
        let output = "TAP version 13\nnot ok 1 - adds\n  ---\n  error: 'not implemented'\n  ...\nok 2 - other\n\
                      not ok 3 - subtracts\n  ---\n  code: 'ERR_ASSERTION'\n  ...\n";
        let found = failures(Parser::Node, output);
        assert_eq!(kind_of(&found, "adds"), Some(FailureKind::Stub));
        assert_eq!(kind_of(&found, "subtracts"), Some(FailureKind::Assertion));
    }

    // OT-12
    #[test]
    fn failures_in_reports_are_read_from_the_messages_kept_with_the_output() {
        let report = |text: &str| {
            let reported = parsers::parse(Parser::Jest, "", &[text.to_string()]).failures;
            let output = format!("✓ other\n{}", report_section(&reported));
            failures(Parser::Jest, &output).into_values().collect::<Vec<_>>()
        };
        let sample = include_str!("../../../fixtures/test-output/vitest.json");
        assert_eq!(report(sample), [FailureKind::Assertion, FailureKind::Broken]);
        let stub = r#"{"testResults": [{"name": "sub.test.ts", "assertionResults": [{"title": "asserts", "status": "failed",
            "failureMessages": ["Error: not implemented\n    at sub (/assert/sub.ts:2:9)"]}]}]}"#;
        assert_eq!(report(stub), [FailureKind::Stub]);
        let missing = stub.replace("Error: not implemented", "TypeError: sub is not a function");
        assert_eq!(report(&missing), [FailureKind::Missing]);
        let xml = r#"<t><testcase name="a"><failure type="AssertionError">at x</failure></testcase>
            <testcase name="b"><failure/></testcase></t>"#;
        let reported = parsers::parse(Parser::Junit, "", &[xml.to_string()]).failures;
        let found = failures(Parser::Junit, &report_section(&reported));
        assert_eq!(kind_of(&found, "a"), Some(FailureKind::Assertion));
        assert_eq!(kind_of(&found, "b"), None, "a report may give no reason");
    }

    // OT-12
    #[test]
    fn nextest_and_go_failures_are_read_from_the_output_of_the_test() {
        let output = include_str!("../../../fixtures/test-output/nextest.txt");
        let found = failures(Parser::Nextest, output);
        assert_eq!(kind_of(&found, "demo bad"), Some(FailureKind::Assertion));
        assert_eq!(kind_of(&found, "demo flaky"), Some(FailureKind::Missing));
        assert_eq!(kind_of(&found, "demo good"), None);
        let stub = output.replace("    no\n", "    not yet implemented\n");
        assert_eq!(kind_of(&failures(Parser::Nextest, &stub), "demo flaky"), Some(FailureKind::Stub));
        let output = "{\"Action\":\"output\",\"Package\":\"a\",\"Test\":\"TestX\",\"Output\":\"panic: not implemented\\n\"}\n";
        assert_eq!(kind_of(&failures(Parser::Go, output), "a.TestX"), Some(FailureKind::Stub));
    }

    // TE-03
    #[test]
    fn only_failed_assertions_count_as_such() {
        let found = |parser: Parser, output: &str| -> Vec<String> {
            assertion_failures(parser, output, &|file, line| (file, line) == ("tests/a.rs", 9))
                .into_iter()
                .collect()
        };
        let rust = "---- adds stdout ----\nthread 'adds' panicked at src/lib.rs:9:9:\nassertion `left == right` failed\n\n\
                    ---- says stdout ----\nthread 'says' panicked at tests/a.rs:9:5:\nmust be even\n\n\
                    ---- breaks stdout ----\nthread 'breaks' panicked at src/lib.rs:2:9:\nindex out of bounds: assert\n\n\
                    failures:\n    adds\n";
        assert_eq!(found(Parser::Cargo, rust), ["adds", "says"]);
        let python = "FAIL: test_adds (tests.A.test_adds)\nAssertionError: 1 != 2\n\
                      ERROR: test_breaks (tests.A.test_breaks)\nTypeError: expected str\n";
        assert_eq!(found(Parser::Unittest, python), ["tests.A.test_adds"]);
        let pytest = "FAILED a.py::test_a - assert 1 == 2\nFAILED a.py::test_b - TypeError: expected str\n\
                      FAILED a.py::test_c - AssertionError: no\nFAILED a.py::test_d - Failed: DID NOT RAISE\n";
        assert_eq!(found(Parser::Pytest, pytest), ["a.py::test_a", "a.py::test_c", "a.py::test_d"]);
        let node = "TAP version 13\nnot ok 1 - adds\n  code: 'ERR_ASSERTION'\nnot ok 2 - breaks\n  error: 'expected'\n";
        assert_eq!(found(Parser::Node, node), ["adds"]);
        let reported = |message: &str| report_section(&[("adds".to_string(), message.to_string())]);
        assert_eq!(found(Parser::Jest, &reported("Error: expect(received).toBe(expected)")), ["adds"]);
        assert!(found(Parser::Jest, &reported("TypeError: expected is not a function")).is_empty());
    }

    #[test]
    fn a_broken_test_and_a_missing_environment_are_not_red() {
        let found = failures(Parser::Pytest, "FAILED a.py::test_x - PermissionError: Permission denied\n");
        assert_eq!(kind_of(&found, "a.py::test_x").map(FailureKind::is_red), Some(false));
        assert_eq!(FailureKind::by_name("Stub_Panic"), Some(FailureKind::Stub));
    }
}
