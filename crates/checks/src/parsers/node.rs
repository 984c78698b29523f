//! `node --test`: TAP in Node 20 where the output is not a terminal, the `spec` format in later versions.

use super::{Ends, ParsedOutput, tap};
use remand_kernel::change::TestEnd;

/// Reads either format.
pub fn parse(text: &str) -> ParsedOutput {
    if text.lines().any(|line| line.starts_with("TAP version ")) { tap::parse(text) } else { spec(text) }
}

fn spec(text: &str) -> ParsedOutput {
    let mut ends = Ends::default();
    let mut open: Vec<(usize, String)> = Vec::new();
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
            // The same sign ends a group, followed by its duration.
            open.retain(|(at, _)| *at < indent);
            if without_duration(group) == group {
                open.push((indent, group.to_string()));
            }
        } else if let Some((end, name)) = result(text) {
            let is_group = open.iter().any(|(at, group)| *at == indent && group == name);
            open.retain(|(at, _)| *at < indent);
            if !is_group {
                let around = open.iter().map(|(_, name)| name.as_str());
                ends.add(around.chain([name]).collect::<Vec<_>>().join(" > "), end);
            }
        }
    }
    ends.report(collected)
}

fn result(text: &str) -> Option<(TestEnd, &str)> {
    let signs = [("✔ ", TestEnd::Passed), ("✖ ", TestEnd::Failed), ("﹣ ", TestEnd::Skipped)];
    let (name, end) = signs.iter().find_map(|(sign, end)| Some((text.strip_prefix(sign)?, *end)))?;
    // A reason may follow the directive.
    let (name, end) = match name.split_once(" # SKIP").or_else(|| name.split_once(" # TODO")) {
        Some((name, _)) => (name, TestEnd::Skipped),
        None => (name, end),
    };
    Some((end, without_duration(name)))
}

/// `adds (0.5ms)` as `adds`.
pub fn without_duration(text: &str) -> &str {
    match text.rsplit_once(" (") {
        Some((name, time)) if time.ends_with("ms)") => name,
        Some(_) | None => text,
    }
}
