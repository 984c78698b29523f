//! `cargo test`: the output of Rust's built-in test runner, for all test binaries.

use super::{Ends, ParsedOutput, number_before};
use remand_kernel::change::TestEnd;

/// Reads the text. Names include the test binary, since two binaries may have tests with the same name.
pub fn parse(text: &str) -> ParsedOutput {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.read_line(line);
    }
    let collected = reader.collected;
    reader.ends.into_output(collected)
}

#[derive(Default)]
struct Reader {
    ends: Ends,
    collected: Option<u32>,
    binary: String,
    /// A test whose result is on a later line, because the test wrote something.
    unfinished: Option<String>,
    /// `Failures` from the line `failures:` to the result; these lines are captured output.
    section: Section,
}

#[derive(Default, PartialEq, Eq)]
enum Section {
    #[default]
    Results,
    Failures,
}

impl Reader {
    fn read_line(&mut self, line: &str) {
        if let Some(header) = line.trim_start().strip_prefix("Running ").filter(|_| line.starts_with(' ')) {
            self.start_binary(&binary(header));
        } else if let Some(name) =
            line.trim_start().strip_prefix("Doc-tests ").filter(|_| line.starts_with(' '))
        {
            self.start_binary(&format!("{name} doc"));
        } else if line.starts_with("test result: ") {
            let ran = number_before(line, "passed") + number_before(line, "failed");
            self.collected = Some(self.collected.unwrap_or(0) + ran);
            self.section = Section::Results;
        } else if line == "failures:" {
            self.section = Section::Failures;
        } else if self.section == Section::Failures {
            // The second list of failures names each test, indented by four spaces.
            if let Some(name) = line.strip_prefix("    ").filter(|name| self.is_listed(name)) {
                self.ends.add(self.full_name(name), TestEnd::Failed);
            }
        } else if let Some((name, rest)) =
            line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... "))
        {
            self.unfinished = None;
            match end(rest) {
                Some(end) => self.add(name, end),
                None => self.unfinished = Some(name.to_string()),
            }
        } else if let Some(name) = self.unfinished.clone()
            && let Some(end) =
                ["ok", "FAILED", "ignored"].iter().find(|end| line.ends_with(*end)).and_then(|e| end(e))
        {
            self.unfinished = None;
            self.add(&name, end);
        }
    }

    fn start_binary(&mut self, binary: &str) {
        self.binary = binary.to_string();
        self.section = Section::Results;
        self.unfinished = None;
    }

    fn add(&mut self, name: &str, end: TestEnd) {
        self.ends.add(self.full_name(name), end);
    }

    fn is_listed(&self, name: &str) -> bool {
        self.ends.0.contains_key(&self.full_name(name))
    }

    fn full_name(&self, name: &str) -> String {
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        let name = without_line(name);
        if self.binary.is_empty() { name } else { format!("{} {name}", self.binary) }
    }
}

fn end(text: &str) -> Option<TestEnd> {
    match text {
        "ok" => Some(TestEnd::Passed),
        "FAILED" => Some(TestEnd::Failed),
        text if text == "ignored" || text.starts_with("ignored, ") => Some(TestEnd::Skipped),
        _ => None,
    }
}

/// The name of a test binary: `demo src/lib.rs` for `unittests src/lib.rs (target/debug/deps/demo-0a1b)`.
fn binary(header: &str) -> String {
    let (path, file) = header.split_once(" (").unwrap_or((header, ""));
    let path = path.strip_prefix("unittests ").unwrap_or(path);
    let stem = file.trim_end_matches(')').rsplit('/').next().unwrap_or_default();
    let stem = stem.rsplit_once('-').map_or(stem, |(stem, _)| stem);
    if stem.is_empty() { path.to_string() } else { format!("{stem} {path}") }
}

/// The name of a documentation test without its line, which changes with every edit above it.
pub fn without_line(name: &str) -> String {
    match name.split_once(" (line ") {
        Some((head, tail)) => {
            let rest = tail.split_once(')').map_or("", |(_, rest)| rest);
            format!("{head}{rest}")
        }
        None => name.to_string(),
    }
}
