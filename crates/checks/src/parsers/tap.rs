//! The Test Anything Protocol, versions 12 to 14, with nested subtests as Node writes them.

use super::{Ends, ParsedOutput};
use remand_kernel::change::TestEnd;

/// Reads the text; the name of a nested test includes the names of its groups.
pub fn parse(text: &str) -> ParsedOutput {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.read_line(line);
    }
    let has_results = reader.has_plan || !reader.ends.0.is_empty();
    let collected = has_results.then(|| reader.ends.len());
    reader.ends.into_output(collected)
}

#[derive(Default)]
struct Reader {
    ends: Ends,
    groups: Vec<Subtest>,
    has_plan: bool,
    /// The indentation of the YAML block that the current line is in.
    block: Option<usize>,
}

struct Subtest {
    indent: usize,
    name: String,
    has_tests: bool,
}

impl Reader {
    fn read_line(&mut self, line: &str) {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if let Some(block) = self.block {
            if text == "..." && indent == block {
                self.block = None;
            }
        } else if text == "---" && indent > 0 {
            self.block = Some(indent);
        } else if let Some(name) = text.strip_prefix("# Subtest: ") {
            self.groups.retain(|group| group.indent < indent);
            self.groups.push(Subtest { indent, name: name.to_string(), has_tests: false });
        } else if text.starts_with("Bail out!") {
            self.ends.add("Bail out!", TestEnd::Failed);
        } else if text.strip_prefix("1..").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            self.has_plan = true;
        } else if let Some(result) = TapResult::parse(text) {
            self.add(indent, &result);
        }
    }

    fn add(&mut self, indent: usize, result: &TapResult<'_>) {
        self.groups.retain(|group| group.indent <= indent);
        let is_group = self.groups.last().is_some_and(|group| group.indent == indent && group.has_tests);
        self.groups.retain(|group| group.indent < indent);
        for group in &mut self.groups {
            group.has_tests = true;
        }
        let names = self.groups.iter().map(|group| group.name.as_str());
        let name = names.chain([result.name]).collect::<Vec<_>>().join(" > ");
        match result.end {
            // A group that passed adds nothing to its tests; a group can fail although all its tests passed.
            TestEnd::Passed if is_group => {}
            TestEnd::Failed if is_group && self.has_failed_test(&name) => {}
            end => self.ends.add(name, end),
        }
    }

    fn has_failed_test(&self, name: &str) -> bool {
        let prefix = format!("{name} > ");
        self.ends.0.iter().any(|(test, end)| test.starts_with(&prefix) && *end == TestEnd::Failed)
    }
}

struct TapResult<'t> {
    name: &'t str,
    end: TestEnd,
}

impl TapResult<'_> {
    fn parse(text: &str) -> Option<TapResult<'_>> {
        let (is_ok, rest) = match text.strip_prefix("not ok") {
            Some(rest) => (false, rest),
            None => (true, text.strip_prefix("ok")?),
        };
        if !(rest.is_empty() || rest.starts_with(' ')) {
            return None;
        }
        let numbered = rest.trim();
        let rest = numbered.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let rest = rest.strip_prefix("- ").unwrap_or(rest);
        // A test without a name is known by its number.
        let rest = if rest.is_empty() { numbered } else { rest };
        let (name, directive) = rest.rsplit_once(" # ").unwrap_or((rest, ""));
        let directive = directive.to_ascii_lowercase();
        let name = if directive.starts_with("skip") || directive.starts_with("todo") { name } else { rest };
        let end = match (is_ok, directive.as_str()) {
            (_, directive) if directive.starts_with("skip") => TestEnd::Skipped,
            (false, directive) if directive.starts_with("todo") => TestEnd::Skipped,
            (true, _) => TestEnd::Passed,
            (false, _) => TestEnd::Failed,
        };
        Some(TapResult { name: name.trim(), end })
    }
}
