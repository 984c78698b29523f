//! The status of an issue.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrackerStatus {
    Todo,
    InProgress,
    Done,
}

impl TrackerStatus {
    pub const ALL: [TrackerStatus; 3] = [TrackerStatus::Todo, TrackerStatus::InProgress, TrackerStatus::Done];

    pub fn name(self) -> &'static str {
        match self {
            TrackerStatus::Todo => "Todo",
            TrackerStatus::InProgress => "In Progress",
            TrackerStatus::Done => "Done",
        }
    }

    /// Reads a status, ignoring case and separators.
    pub fn read(text: &str) -> Option<TrackerStatus> {
        let bare: String =
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        match bare.as_str() {
            "todo" => Some(TrackerStatus::Todo),
            "inprogress" => Some(TrackerStatus::InProgress),
            "done" => Some(TrackerStatus::Done),
            _ => None,
        }
    }

    /// The range of the status at the end of a line, if something separates it from the title, as in `Title (Todo)` or
    /// `Title · **Done**`.
    pub(super) fn at_end(line: &str) -> Option<Range<usize>> {
        let end = line.trim_end_matches([' ', '\t', ')', ']', '*', '_', '`', '.']).len();
        let text = &line[..end];
        let words = ["todo", "to do", "in progress", "in-progress", "done"];
        let start = words.iter().find_map(|word| {
            let start = end.checked_sub(word.len()).filter(|start| text.is_char_boundary(*start))?;
            text[start..].eq_ignore_ascii_case(word).then_some(start)
        })?;
        let before = text[..start].trim_end_matches([' ', '\t']);
        let is_separated = before.ends_with(['(', '[', '—', '–', '-', ':', '·', '*', '_', '`', '•', '→']);
        is_separated.then_some(start..end)
    }
}

impl fmt::Display for TrackerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_recognised_in_every_spelling() {
        for text in ["In Progress", "in-progress", "IN_PROGRESS", "inProgress"] {
            assert_eq!(TrackerStatus::read(text), Some(TrackerStatus::InProgress), "{text}");
        }
        assert_eq!(TrackerStatus::read("Blocked"), None);
    }

    #[test]
    fn a_status_at_the_end_of_a_line_is_distinguished_from_a_title() {
        let found = |line: &str| TrackerStatus::at_end(line).map(|range| line[range].to_string());
        assert_eq!(found("ABC-1 Show what is done (Todo)").as_deref(), Some("Todo"));
        assert_eq!(found("ABC-1 Cart — **in progress**").as_deref(), Some("in progress"));
        assert_eq!(found("ABC-1 Cart · `Done`").as_deref(), Some("Done"));
        assert_eq!(found("ABC-1 Show what is done"), None);
        assert_eq!(found("ABC-1 Überdone"), None);
    }
}
