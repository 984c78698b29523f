//! The sections of an issue's file: their titles, and text that stays inside its section.

use crate::markdown::Markdown;

pub(super) const CRITERIA: &[&str] =
    &["Acceptance criteria", "Acceptance criterion", "Criteria", "AC", "Definition of done"];
pub(super) const SUB_ISSUES: &[&str] =
    &["Sub-issues", "Sub issues", "Subissues", "Sub-tasks", "Subtasks", "Children"];
pub(super) const COMMENTS: &[&str] = &["Comments", "Comment", "Log", "History"];

/// Keeps text inside a section of this level. The text is fenced as code if it would start a section of this or a
/// higher level, use a title of the issue's sections, or swallow the sections after it.
pub(super) fn contained(text: &str, level: u8) -> String {
    const AFTER: &str = "after";
    let text = text.trim();
    let read = Markdown::read(format!("before\n\n{text}\n\n# {AFTER}\n"));
    let is_deep = match read.headings().split_last() {
        Some((last, headings)) => last.title == AFTER && headings.iter().all(|heading| heading.level > level),
        None => false,
    };
    let is_unused = |titles: &[&str]| read.section(titles).is_none();
    if is_deep && [CRITERIA, SUB_ISSUES, COMMENTS].into_iter().all(is_unused) {
        return text.to_string();
    }
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}markdown\n{text}\n{fence}")
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
