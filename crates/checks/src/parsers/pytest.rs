//! `pytest -rA`, `pytest -v`, or both.

use super::{Ends, ParsedOutput, number_before};
use remand_kernel::change::TestEnd;

const SUMMARY_HEADING: &str = "short test summary info";
const COUNTED_WORDS: [&str; 5] = ["passed", "failed", "error", "errors", "xpassed"];

/// Reads the short summary if there is one, and the lines of `-v` otherwise. The summary does not name skipped tests, so
/// these always come from the lines of `-v`.
pub fn parse(text: &str) -> ParsedOutput {
    let lines: Vec<&str> = text.lines().collect();
    // Captured output may contain anything, even another summary; the last one is pytest's.
    let summary = lines.iter().rposition(|line| line.starts_with('=') && line.contains(SUMMARY_HEADING));
    let mut ends = Ends::default();
    match summary {
        Some(at) => {
            let skipped = lines[..at].iter().filter_map(|line| parse_verbose(line));
            let skipped = skipped.filter(|(_, end)| *end == TestEnd::Skipped);
            let summarised = lines[at + 1..].iter().filter_map(|line| parse_summary(line));
            skipped.chain(summarised).for_each(|(name, end)| ends.add(name, end));
        }
        None => {
            lines.iter().filter_map(|line| parse_verbose(line)).for_each(|(name, end)| ends.add(name, end))
        }
    }
    let collected = lines.iter().rev().find_map(|line| total(line));
    ends.into_output(collected)
}

fn parse_summary(line: &str) -> Option<(String, TestEnd)> {
    let (word, rest) = line.split_once(' ')?;
    let end = match word {
        "PASSED" | "XPASS" => TestEnd::Passed,
        "FAILED" | "ERROR" => TestEnd::Failed,
        "XFAIL" => TestEnd::Skipped,
        // The summary usually has one line for all skips at a location, without names.
        "SKIPPED" if rest.contains("::") => TestEnd::Skipped,
        _ => return None,
    };
    Some((split_message(rest).0.to_string(), end))
}

/// Splits a line of the summary into the name of a test and its message.
pub fn split_message(rest: &str) -> (&str, &str) {
    // Parameters in brackets may contain the dash that starts the message.
    let cut = match rest.find('[') {
        Some(bracket) if rest.find(" - ").is_none_or(|dash| bracket < dash) => {
            rest.find("] - ").map(|at| at + 1)
        }
        Some(_) | None => rest.find(" - "),
    };
    let (name, message) = rest.split_at(cut.unwrap_or(rest.len()));
    (name.trim(), message.strip_prefix(" - ").unwrap_or(message))
}

fn parse_verbose(line: &str) -> Option<(String, TestEnd)> {
    let line = line.trim_end();
    let line = match line.rsplit_once('[') {
        Some((head, percent)) if percent.ends_with("%]") => head.trim_end(),
        Some(_) | None => line,
    };
    let line = match line.split_once(" SKIPPED (") {
        Some((name, _)) => return name.contains("::").then(|| (name.to_string(), TestEnd::Skipped)),
        None => line,
    };
    let (name, word) = line.rsplit_once(' ')?;
    let end = match word {
        "PASSED" | "XPASS" => TestEnd::Passed,
        "FAILED" | "ERROR" => TestEnd::Failed,
        "SKIPPED" | "XFAIL" => TestEnd::Skipped,
        _ => return None,
    };
    name.contains("::").then(|| (name.to_string(), end))
}

/// The number of tests in the last line: `==== 1 failed, 2 passed in 0.03s ====`, or with `-q` the same without `=`.
fn total(line: &str) -> Option<u32> {
    let text = line.trim_matches(['=', ' ']);
    if text.starts_with("no tests ran") {
        return Some(0);
    }
    let is_total = text.contains(" in ") && text.starts_with(|c: char| c.is_ascii_digit());
    is_total.then(|| COUNTED_WORDS.iter().map(|word| number_before(text, word)).sum())
}
