//! The JSON report of Jest, which Vitest writes too.

use super::{Ends, ParsedOutput};
use remand_kernel::change::TestEnd;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    test_results: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    name: String,
    #[serde(default)]
    status: String,
    /// Why the file itself failed.
    #[serde(default)]
    message: String,
    #[serde(default)]
    assertion_results: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    title: String,
    status: String,
    /// The messages of all attempts, even if the last attempt passed.
    #[serde(default)]
    failure_messages: Vec<String>,
    /// How often Jest ran the test.
    #[serde(default)]
    invocations: u32,
}

/// Reads report files; names are `file > group > test`. A file that fails without a failed test counts as a failed test.
pub fn parse(reports: &[String]) -> ParsedOutput {
    let mut ends = Ends::default();
    let mut failures = Vec::new();
    let mut read = 0;
    for text in reports {
        let Ok(report) = serde_json::from_str::<Report>(text) else { continue };
        read += 1;
        for file in report.test_results {
            let name = file.name;
            let mut has_failed = false;
            for case in file.assertion_results {
                let Some(end) = case.end() else { continue };
                let parts = [name.clone()].into_iter().chain(case.ancestor_titles).chain([case.title]);
                let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
                if end == TestEnd::Failed {
                    has_failed = true;
                    failures.push((parts.join(" > "), case.failure_messages.join("\n")));
                }
                ends.add(parts.join(" > "), end);
            }
            if file.status == "failed" && !has_failed {
                failures.push((name.clone(), file.message));
                ends.add(name, TestEnd::Failed);
            }
        }
    }
    let collected = (read > 0).then(|| ends.len());
    ParsedOutput { failures, ..ends.into_output(collected) }
}

impl Case {
    /// `None` if the status is unknown. A test that is not written yet counts as skipped.
    fn end(&self) -> Option<TestEnd> {
        match self.status.as_str() {
            "passed" if self.invocations > 1 || !self.failure_messages.is_empty() => Some(TestEnd::Flaky),
            "passed" => Some(TestEnd::Passed),
            "failed" => Some(TestEnd::Failed),
            "pending" | "skipped" | "todo" | "disabled" => Some(TestEnd::Skipped),
            _ => None,
        }
    }
}
