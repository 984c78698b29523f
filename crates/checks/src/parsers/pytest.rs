//! `pytest -rA`, `pytest -v`, or both.

use super::{Ends, ParsedOutput, number_before};
use remand_kernel::change::TestEnd;

const SUMMARY: &str = "short test summary info";
const COUNTED: [&str; 5] = ["passed", "failed", "error", "errors", "xpassed"];

/// Reads the short summary if present, and the lines of `-v` otherwise. The summary does not name skipped tests, so these
/// come from the lines.
pub fn parse(text: &str) -> ParsedOutput {
    let lines: Vec<&str> = text.lines().collect();
    // Captured output may contain anything, even another summary; the last one is pytest's own.
    let summary = lines.iter().rposition(|line| line.starts_with('=') && line.contains(SUMMARY));
    let mut ends = Ends::default();
    match summary {
        Some(at) => {
            let skipped = lines[..at].iter().filter_map(|line| verbose(line));
            let skipped = skipped.filter(|(_, end)| *end == TestEnd::Skipped);
            let summarised = lines[at + 1..].iter().filter_map(|line| summarised(line));
            skipped.chain(summarised).for_each(|(name, end)| ends.add(name, end));
        }
        None => lines.iter().filter_map(|line| verbose(line)).for_each(|(name, end)| ends.add(name, end)),
    }
    let collected = lines.iter().rev().find_map(|line| total(line));
    ends.report(collected)
}

fn summarised(line: &str) -> Option<(String, TestEnd)> {
    let (word, rest) = line.split_once(' ')?;
    let end = match word {
        "PASSED" | "XPASS" => TestEnd::Passed,
        "FAILED" | "ERROR" => TestEnd::Failed,
        "XFAIL" => TestEnd::Skipped,
        // The summary folds skips into one line per place, without names.
        "SKIPPED" if rest.contains("::") => TestEnd::Skipped,
        _ => return None,
    };
    Some((named(rest).0.to_string(), end))
}

/// The name of a test and its message in a line of the summary.
pub fn named(rest: &str) -> (&str, &str) {
    // Parameters in brackets may contain the dash that begins the message.
    let cut = match rest.find('[') {
        Some(bracket) if rest.find(" - ").is_none_or(|dash| bracket < dash) => {
            rest.find("] - ").map(|at| at + 1)
        }
        Some(_) | None => rest.find(" - "),
    };
    let (name, message) = rest.split_at(cut.unwrap_or(rest.len()));
    (name.trim(), message.strip_prefix(" - ").unwrap_or(message))
}

fn verbose(line: &str) -> Option<(String, TestEnd)> {
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

/// The last line: `==== 1 failed, 2 passed in 0.03s ====`, or without the signs under `-q`.
fn total(line: &str) -> Option<u32> {
    let text = line.trim_matches(['=', ' ']);
    if text.starts_with("no tests ran") {
        return Some(0);
    }
    let is_total = text.contains(" in ") && text.starts_with(|c: char| c.is_ascii_digit());
    is_total.then(|| COUNTED.iter().map(|word| number_before(text, word)).sum())
}
