//! `cargo nextest run`: its output for people, in which each line names the test binary and the test.

use super::{Ends, ParsedOutput, number_before};
use remand_kernel::change::TestEnd;
use std::collections::BTreeMap;

/// Reads the text; names are `binary test`. A test that passed only in a retry is flaky.
pub fn parse(text: &str) -> ParsedOutput {
    let mut ends = Ends::default();
    let mut tries: BTreeMap<String, TestEnd> = BTreeMap::new();
    let mut collected = None;
    for line in text.lines() {
        let Some((status, rest)) = split_status(line) else { continue };
        match status.as_slice() {
            // The lines after the summary repeat the failures.
            ["Summary"] => {
                collected = Some(number_before(rest, "passed") + number_before(rest, "failed"));
                break;
            }
            ["SKIP"] => ends.add(name(rest), TestEnd::Skipped),
            ["PASS" | "LEAK"] => ends.add(name(rest), TestEnd::Passed),
            ["FAIL" | "TIMEOUT" | "ABORT" | "LEAK-FAIL"] => ends.add(name(rest), TestEnd::Failed),
            [signal] if signal.starts_with("SIG") => ends.add(name(rest), TestEnd::Failed),
            ["TRY", _, "PASS"] | ["FLAKY", _] => {
                tries.insert(name(rest), TestEnd::Flaky);
            }
            ["TRY", _, _] => {
                tries.insert(name(rest), TestEnd::Failed);
            }
            _ => {}
        }
    }
    for (name, end) in tries {
        ends.add(name, end);
    }
    ends.into_output(collected)
}

/// The failed test whose output starts after this line; an empty name for a heading of anything else.
pub fn heading(line: &str) -> Option<String> {
    let (status, rest) = split_status(line)?;
    let has_failed = match status.as_slice() {
        ["FAIL" | "TIMEOUT" | "ABORT" | "LEAK-FAIL"] => true,
        ["TRY", _, end] => *end != "PASS",
        [signal] => signal.starts_with("SIG"),
        _ => false,
    };
    Some(if has_failed { name(rest) } else { String::new() })
}

/// Splits `  TRY 2 PASS [   0.034s] (1/5) demo adds` into the words of the status and the text after the time. A skipped
/// test has no time.
fn split_status(line: &str) -> Option<(Vec<&str>, &str)> {
    let (head, rest) = line.split_once('[')?;
    let head: Vec<&str> = head.split_whitespace().collect();
    let (time, rest) = rest.split_once(if head == ["SKIP"] { "]" } else { "s]" })?;
    let time = time.trim().trim_start_matches('>');
    (time.parse::<f64>().is_ok() || head == ["SKIP"]).then_some((head, rest))
}

/// The name of a test, without the count that newer versions write before it.
fn name(text: &str) -> String {
    let text = text.trim_start();
    let text = text.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(text, |(_, rest)| rest);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
