//! `node --test`: Node 20 writes TAP if the output is not a terminal, later versions write the `spec` format.

use super::{Ends, ParsedOutput, tap};
use remand_kernel::change::TestEnd;

/// Reads either format.
pub fn parse(text: &str) -> ParsedOutput {
    if text.lines().any(|line| line.starts_with("TAP version ")) {
        tap::parse(text)
    } else {
        parse_spec(text)
    }
}

fn parse_spec(text: &str) -> ParsedOutput {
    let mut ends = Ends::default();
    let mut groups: Vec<(usize, String)> = Vec::new();
    let mut collected: Option<u32> = None;
    for line in text.lines() {
        let text = line.trim_start();
        let indent = line.chars().take_while(|c| *c == ' ').count();
        if text.starts_with("✖ failing tests:") {
            break;
        }
        if let Some(count) = text.strip_prefix("ℹ pass ").or_else(|| text.strip_prefix("ℹ fail ")) {
            collected = Some(collected.unwrap_or(0) + count.trim().parse::<u32>().unwrap_or(0));
        } else if let Some(group) = text.strip_prefix("▶ ") {
            // The same symbol ends a group, followed by the name and the duration.
            groups.retain(|(at, _)| *at < indent);
            if without_duration(group) == group {
                groups.push((indent, group.to_string()));
            }
        } else if let Some((end, name)) = result(text) {
            let is_group = groups.iter().any(|(at, group)| *at == indent && group == name);
            groups.retain(|(at, _)| *at < indent);
            if !is_group {
                let names = groups.iter().map(|(_, name)| name.as_str());
                ends.add(names.chain([name]).collect::<Vec<_>>().join(" > "), end);
            }
        }
    }
    ends.into_output(collected)
}

fn result(text: &str) -> Option<(TestEnd, &str)> {
    let symbols = [("✔ ", TestEnd::Passed), ("✖ ", TestEnd::Failed), ("﹣ ", TestEnd::Skipped)];
    let (name, end) = symbols.iter().find_map(|(symbol, end)| Some((text.strip_prefix(symbol)?, *end)))?;
    // A reason may follow the directive.
    let (name, end) = match name.split_once(" # SKIP").or_else(|| name.split_once(" # TODO")) {
        Some((name, _)) => (name, TestEnd::Skipped),
        None => (name, end),
    };
    Some((end, without_duration(name)))
}

/// Removes the duration: `adds (0.5ms)` becomes `adds`.
pub fn without_duration(text: &str) -> &str {
    match text.rsplit_once(" (") {
        Some((name, time)) if time.ends_with("ms)") => name,
        Some(_) | None => text,
    }
}
