//! JUnit XML, as Maven, Gradle, ctest and many others write it.

use super::{Ends, ParsedOutput};
use remand_kernel::change::TestEnd;
use roxmltree::{Document, Node};

/// Reads report files and ignores those that are not XML. Without a readable file, the count is unknown.
pub fn parse(reports: &[String]) -> ParsedOutput {
    let mut ends = Ends::default();
    let mut failures = Vec::new();
    let mut read = 0;
    for text in reports {
        let Ok(document) = Document::parse(text) else { continue };
        read += 1;
        for case in document.descendants().filter(|node| node.has_tag_name("testcase")) {
            let end = end(&case);
            if end == TestEnd::Failed {
                failures.push((name(&case), message(&case)));
            }
            ends.add(name(&case), end);
        }
    }
    let collected = (read > 0).then(|| ends.len());
    ParsedOutput { failures, ..ends.into_output(collected) }
}

/// The types, messages and traces of the failures of a test, and its output.
fn message(case: &Node<'_, '_>) -> String {
    let parts = case.children().filter(|child| {
        ["failure", "error", "system-out", "system-err"].iter().any(|tag| child.has_tag_name(*tag))
    });
    let texts = parts.flat_map(|part| {
        [part.attribute("type"), part.attribute("message"), part.text()].map(Option::unwrap_or_default)
    });
    texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n")
}

fn end(case: &Node<'_, '_>) -> TestEnd {
    let has = |tag: &str| case.children().any(|child| child.has_tag_name(tag));
    if has("failure") || has("error") || case.attribute("status") == Some("fail") {
        TestEnd::Failed
    } else if has("skipped") || matches!(case.attribute("status"), Some("notrun" | "disabled")) {
        TestEnd::Skipped
    } else if has("flakyFailure") || has("flakyError") {
        TestEnd::Flaky
    } else {
        TestEnd::Passed
    }
}

fn name(case: &Node<'_, '_>) -> String {
    let name = case.attribute("name").unwrap_or_default();
    match case.attribute("classname") {
        Some(class) if !class.is_empty() && class != name => format!("{class}.{name}"),
        Some(_) | None => name.to_string(),
    }
}
