//! `go test -json`.

use super::{Ends, ParsedOutput};
use remand_kernel::change::TestEnd;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    output: String,
}

/// Reads the lines; names are `package.Test`. A package that fails without a failed test counts as a failed test.
pub fn parse(text: &str) -> ParsedOutput {
    let mut ends = Ends::default();
    let mut readable = String::new();
    let mut failed: BTreeSet<String> = BTreeSet::new();
    let mut has_results = false;
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Line>(line) else {
            readable.push_str(line);
            readable.push('\n');
            continue;
        };
        has_results = true;
        readable.push_str(&line.output);
        let end = match line.action.as_str() {
            "pass" => TestEnd::Passed,
            "fail" => TestEnd::Failed,
            "skip" if !line.test.is_empty() => TestEnd::Skipped,
            _ => continue,
        };
        if !line.test.is_empty() {
            if end == TestEnd::Failed {
                failed.insert(line.package.clone());
            }
            ends.add(format!("{}.{}", line.package, line.test), end);
        } else if end == TestEnd::Failed && !failed.contains(&line.package) {
            ends.add(line.package, end);
        }
    }
    let collected = has_results.then(|| ends.len());
    ParsedOutput { readable: Some(readable), ..ends.into_output(collected) }
}

/// The output of each test.
pub fn outputs(text: &str) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    for line in lines.filter(|line| !line.test.is_empty()) {
        found.entry(format!("{}.{}", line.package, line.test)).or_default().push_str(&line.output);
    }
    found
}
