//! The Test Anything Protocol, versions 12 to 14, with nested subtests as Node writes them.

use super::{Ends, ParsedOutput};
use remand_kernel::change::TestEnd;

/// Reads the text; names of nested tests include those of their groups.
pub fn parse(text: &str) -> ParsedOutput {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.take(line);
    }
    let has_spoken = reader.planned || !reader.ends.0.is_empty();
    let collected = has_spoken.then(|| reader.ends.len());
    reader.ends.report(collected)
}

#[derive(Default)]
struct Reader {
    ends: Ends,
    open: Vec<Subtest>,
    planned: bool,
    /// The indentation of a YAML block below a result.
    block: Option<usize>,
}

struct Subtest {
    indent: usize,
    name: String,
    has_tests: bool,
}

impl Reader {
    fn take(&mut self, line: &str) {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if let Some(block) = self.block {
            if text == "..." && indent == block {
                self.block = None;
            }
        } else if text == "---" && indent > 0 {
            self.block = Some(indent);
        } else if let Some(name) = text.strip_prefix("# Subtest: ") {
            self.open.retain(|open| open.indent < indent);
            self.open.push(Subtest { indent, name: name.to_string(), has_tests: false });
        } else if text.starts_with("Bail out!") {
            self.ends.add("Bail out!", TestEnd::Failed);
        } else if text.strip_prefix("1..").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            self.planned = true;
        } else if let Some(result) = Result::of(text) {
            self.result(indent, &result);
        }
    }

    fn result(&mut self, indent: usize, result: &Result<'_>) {
        self.open.retain(|open| open.indent <= indent);
        let is_group = self.open.last().is_some_and(|open| open.indent == indent && open.has_tests);
        self.open.retain(|open| open.indent < indent);
        for open in &mut self.open {
            open.has_tests = true;
        }
        let around = self.open.iter().map(|open| open.name.as_str());
        let name = around.chain([result.name]).collect::<Vec<_>>().join(" > ");
        match result.end {
            // A group that passed adds nothing to its tests; one that failed may have failed by itself.
            TestEnd::Passed if is_group => {}
            TestEnd::Failed if is_group && self.has_failed_below(&name) => {}
            end => self.ends.add(name, end),
        }
    }

    fn has_failed_below(&self, name: &str) -> bool {
        let below = format!("{name} > ");
        self.ends.0.iter().any(|(test, end)| test.starts_with(&below) && *end == TestEnd::Failed)
    }
}

struct Result<'t> {
    name: &'t str,
    end: TestEnd,
}

impl Result<'_> {
    fn of(text: &str) -> Option<Result<'_>> {
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
        Some(Result { name: name.trim(), end })
    }
}
