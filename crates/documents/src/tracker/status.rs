//! Where an issue stands.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Todo,
    InProgress,
    Done,
}

impl Status {
    pub const ALL: [Status; 3] = [Status::Todo, Status::InProgress, Status::Done];

    pub fn name(self) -> &'static str {
        match self {
            Status::Todo => "Todo",
            Status::InProgress => "In Progress",
            Status::Done => "Done",
        }
    }

    /// The status that somebody wrote, in whatever case and with whatever between its words.
    pub fn read(text: &str) -> Option<Status> {
        let bare: String =
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        match bare.as_str() {
            "todo" => Some(Status::Todo),
            "inprogress" => Some(Status::InProgress),
            "done" => Some(Status::Done),
            _ => None,
        }
    }

    /// The status that a line ends with, set off from what is before it, as in `Title (Todo)` or `Title · **Done**`.
    pub(super) fn at_end(line: &str) -> Option<Range<usize>> {
        let end = line.trim_end_matches([' ', '\t', ')', ']', '*', '_', '`', '.']).len();
        let written = &line[..end];
        let words = ["todo", "to do", "in progress", "in-progress", "done"];
        let start = words.iter().find_map(|word| {
            let start = end.checked_sub(word.len()).filter(|start| written.is_char_boundary(*start))?;
            written[start..].eq_ignore_ascii_case(word).then_some(start)
        })?;
        let before = written[..start].trim_end_matches([' ', '\t']);
        let is_set_off = before.ends_with(['(', '[', '—', '–', '-', ':', '·', '*', '_', '`', '•', '→']);
        is_set_off.then_some(start..end)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_known_however_it_is_spelt() {
        for text in ["In Progress", "in-progress", "IN_PROGRESS", "inProgress"] {
            assert_eq!(Status::read(text), Some(Status::InProgress), "{text}");
        }
        assert_eq!(Status::read("Blocked"), None);
    }

    #[test]
    fn a_status_at_the_end_of_a_line_is_told_from_a_title() {
        let found = |line: &str| Status::at_end(line).map(|range| line[range].to_string());
        assert_eq!(found("ABC-1 Show what is done (Todo)").as_deref(), Some("Todo"));
        assert_eq!(found("ABC-1 Cart — **in progress**").as_deref(), Some("in progress"));
        assert_eq!(found("ABC-1 Cart · `Done`").as_deref(), Some("Done"));
        assert_eq!(found("ABC-1 Show what is done"), None);
        assert_eq!(found("ABC-1 Überdone"), None);
    }
}
