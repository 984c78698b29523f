//! `python3 -m unittest -v`.

use super::{Ends, ParsedOutput, number_before};
use remand_kernel::change::TestEnd;

const ENDS: [(&str, TestEnd); 6] = [
    ("unexpected success", TestEnd::Failed),
    ("expected failure", TestEnd::Skipped),
    ("ok", TestEnd::Passed),
    ("FAIL", TestEnd::Failed),
    ("ERROR", TestEnd::Failed),
    ("skipped", TestEnd::Skipped),
];

/// Reads the text; names are `module.Class.test`.
pub fn parse(text: &str) -> ParsedOutput {
    let mut ends = Ends::default();
    let mut unfinished: Option<String> = None;
    let mut collected = None;
    let mut skipped = 0;
    for line in text.lines() {
        if let Some(failed) = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: ")) {
            unfinished = None;
            if let Some(name) = test_name(failed) {
                ends.add(name, TestEnd::Failed);
            }
        } else if let Some(ran) = line.strip_prefix("Ran ").filter(|rest| rest.contains(" test")) {
            unfinished = None;
            collected = ran.split(' ').next().and_then(|number| number.parse::<u32>().ok());
        } else if collected.is_some() && (line.starts_with("OK") || line.starts_with("FAILED")) {
            skipped = count_in_summary(line, "skipped") + count_in_summary(line, "expected failures");
        } else {
            let (head, tail) =
                line.rsplit_once(" ... ").map_or((line, None), |(head, tail)| (head, Some(tail)));
            if let Some(name) = test_name(head) {
                unfinished = Some(name);
            }
            let Some(end) = tail.or(Some(line)).and_then(end) else { continue };
            if let Some(name) = unfinished.take() {
                ends.add(name, end);
            }
        }
    }
    let collected = collected.map(|ran| ran.saturating_sub(skipped));
    ends.into_output(collected)
}

/// Parses the end of a test.
fn end(text: &str) -> Option<TestEnd> {
    ENDS.iter()
        .find(|(word, _)| text == *word || (*word == "skipped" && text.starts_with("skipped ")))
        .map(|(_, end)| *end)
}

/// The name of a test from `test_x (module.Class.test_x)` or the older `test_x (module.Class)`; the parameters of a subtest
/// may follow.
fn test_name(text: &str) -> Option<String> {
    let (method, rest) = text.trim_start().split_once(" (")?;
    let (path, rest) = rest.split_once(')')?;
    let is_word =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "._<>".contains(c));
    if !is_word(method) || !is_word(path) || !path.contains('.') && !method.ends_with("Class") {
        return None;
    }
    if !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let is_whole = path.rsplit('.').next() == Some(method);
    Some(if is_whole { path.to_string() } else { format!("{path}.{method}") })
}

fn count_in_summary(line: &str, word: &str) -> u32 {
    let count =
        line.split(['(', ',', ')']).find_map(|part| part.trim().strip_prefix(word)?.strip_prefix('='));
    count.and_then(|count| count.parse().ok()).unwrap_or_else(|| number_before(line, word))
}
