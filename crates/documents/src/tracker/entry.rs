//! Lines that list an issue, in the README and in a parent's list of sub-issues.
//!
//! Concurrent runs work on separate branches, and git cannot merge changes of adjacent lines. So our lists have a blank line
//! between entries, and a new entry follows a blank line.

use super::{IssueKey, TrackerStatus};
use crate::Markdown;
use std::collections::BTreeSet;
use std::ops::Range;

/// Marks an entry that depends on another one of its list.
pub(super) const DEPENDENT: char = '↳';

/// A line that lists an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueEntry {
    pub id: IssueKey,
    /// The status that the line shows, if any.
    pub status: Option<TrackerStatus>,
    /// The whole line, with its line break.
    pub line: Range<usize>,
    word: Option<Range<usize>>,
}

/// An entry to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    pub id: IssueKey,
    pub title: String,
    pub status: TrackerStatus,
    /// Entries of the same list that must be done before.
    pub after: Vec<IssueKey>,
}

/// All entries in a range, without code and comments.
pub(super) fn entries(markdown: &Markdown, within: Range<usize>) -> Vec<IssueEntry> {
    markdown.lines(within).filter_map(|line| entry(markdown, line)).collect()
}

fn entry(markdown: &Markdown, line: Range<usize>) -> Option<IssueEntry> {
    let text = markdown.text()[line.clone()].trim_end();
    if markdown.is_literal(line.start + text.len() - text.trim_start().len()) {
        return None;
    }
    let lead = lead(text)?;
    let (id, length) = IssueKey::leading(&text[lead..])?;
    let rest = lead + length;
    let word = if text.trim_start().starts_with('|') {
        in_cell(text, rest)
    } else {
        TrackerStatus::at_end(&text[rest..]).map(|word| word.start + rest..word.end + rest)
    };
    let ticked = || {
        let found = markdown.boxes(line.clone()).next()?;
        Some(if found.ticked { TrackerStatus::Done } else { TrackerStatus::Todo })
    };
    let status = word.clone().and_then(|word| TrackerStatus::read(&text[word])).or_else(ticked);
    let word = word.map(|word| word.start + line.start..word.end + line.start);
    Some(IssueEntry { id, status, line, word })
}

/// The length of what precedes the id in a line: a bullet or a cell, a box, marks.
fn lead(text: &str) -> Option<usize> {
    let bare = text.trim_start();
    let behind = match bare.strip_prefix(['-', '*', '+', '|']) {
        Some(behind) => behind,
        None => {
            let number = bare.trim_start_matches(|c: char| c.is_ascii_digit());
            number.strip_prefix(['.', ')']).filter(|_| number.len() < bare.len())?
        }
    };
    let marks = |c: char| c.is_whitespace() || matches!(c, '[' | '*' | '_' | '`' | '~' | DEPENDENT);
    let behind = behind.trim_start();
    let boxed = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| behind.strip_prefix(mark));
    Some(text.len() - boxed.unwrap_or(behind).trim_start_matches(marks).len())
}

/// The cell of a table row that holds only a status.
fn in_cell(text: &str, from: usize) -> Option<Range<usize>> {
    let mut at = from;
    for cell in text[from..].split('|') {
        let trimmed = cell.trim();
        if TrackerStatus::read(trimmed).is_some() {
            let start = at + (cell.len() - cell.trim_start().len());
            return Some(start..start + trimmed.len());
        }
        at += cell.len() + 1;
    }
    None
}

impl IssueEntry {
    /// Whether it shows its status in words, not only by a box.
    pub(super) fn has_word(&self) -> bool {
        self.word.is_some()
    }

    /// The changes that show another status, last one first. A line without a status stays as it is.
    pub(super) fn shows(&self, markdown: &Markdown, status: TrackerStatus) -> Vec<(Range<usize>, String)> {
        let mut changes = Vec::new();
        if let Some(word) = self
            .word
            .clone()
            .filter(|word| TrackerStatus::read(&markdown.text()[word.clone()]) != Some(status))
        {
            changes.push((word, status.name().to_string()));
        }
        if let Some(found) = markdown.boxes(self.line.clone()).next() {
            let done = status == TrackerStatus::Done;
            if found.ticked != done {
                changes.push((found.mark.clone(), if done { "x" } else { " " }.to_string()));
            }
        }
        changes
    }

    /// Whether an adjacent line lists an issue of another run: both changes would conflict in a merge.
    pub(super) fn touches(&self, all: &[IssueEntry], others: &BTreeSet<IssueKey>) -> bool {
        let is_adjacent =
            |other: &&IssueEntry| other.line.end == self.line.start || other.line.start == self.line.end;
        all.iter().filter(is_adjacent).any(|other| others.contains(&other.id))
    }
}

impl NewEntry {
    pub(super) fn text(&self, is_dependent: bool) -> String {
        let NewEntry { id, title, status, after } = self;
        let done = if *status == TrackerStatus::Done { 'x' } else { ' ' };
        let mark = if is_dependent { format!("{DEPENDENT} ") } else { String::new() };
        let after = match after.as_slice() {
            _ if !is_dependent => String::new(),
            after => {
                format!(" (after {})", after.iter().map(IssueKey::to_string).collect::<Vec<_>>().join(", "))
            }
        };
        format!("- [{done}] {mark}[{id}]({id}.md) {title}{after} · {status}\n")
    }
}

/// Sorts new entries, each after the ones that it depends on and as close to them as possible.
pub(super) fn in_order(entries: Vec<NewEntry>) -> Vec<NewEntry> {
    let ids: BTreeSet<IssueKey> = entries.iter().map(|entry| entry.id.clone()).collect();
    let mut waiting = entries;
    let mut placed: Vec<NewEntry> = Vec::new();
    while !waiting.is_empty() {
        let is_free = |entry: &NewEntry| {
            let needed = entry.after.iter().filter(|id| ids.contains(id));
            needed.into_iter().all(|id| placed.iter().any(|placed| placed.id == *id))
        };
        let follows = |entry: &NewEntry| placed.last().is_some_and(|last| entry.after.contains(&last.id));
        let next = waiting
            .iter()
            .position(|entry| is_free(entry) && follows(entry))
            .or_else(|| waiting.iter().position(is_free))
            // A cycle has no order; the consistency check reports it.
            .unwrap_or(0);
        let next = waiting.remove(next);
        placed.push(next);
    }
    placed
}

/// The position and text of new entries at the end of a section.
pub(super) fn appended(
    markdown: &Markdown,
    body: Range<usize>,
    entries: &[NewEntry],
    siblings: &[IssueKey],
) -> (usize, String) {
    let known = |id: &IssueKey| siblings.contains(id) || entries.iter().any(|entry| entry.id == *id);
    let texts: Vec<String> = entries.iter().map(|entry| entry.text(entry.after.iter().any(known))).collect();
    let text = markdown.text();
    let written = markdown.end_of_writing(body.clone());
    let is_blank = |line: &&str| line.trim().is_empty() && line.ends_with('\n');
    let follows_blank = text[..written].ends_with("\n\n") || text[..written].ends_with("\n\r\n");
    let (at, lead) = match text[written..body.end].split_inclusive('\n').next().filter(is_blank) {
        _ if follows_blank => (written, ""),
        Some(blank) => (written + blank.len(), ""),
        None if text[..written].ends_with('\n') => (written, "\n"),
        None => (written, "\n\n"),
    };
    let rest = &text[at..];
    let is_open = !rest.is_empty() && !rest.starts_with('\n') && !rest.starts_with("\r\n");
    (at, format!("{lead}{}{}", texts.join("\n"), if is_open { "\n" } else { "" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, Option<TrackerStatus>)> {
        let markdown = Markdown::read(text);
        entries(&markdown, 0..text.len())
            .into_iter()
            .map(|entry| (entry.id.to_string(), entry.status))
            .collect()
    }

    fn id(text: &str) -> IssueKey {
        text.parse().unwrap_or_else(|_| panic!("{text}"))
    }

    #[test]
    fn entries_are_found_in_every_common_form() {
        let text = "<!--\n- ABC-8 hidden (Todo)\n-->\n- ABC-1: plain (Todo)\n* [x] [ABC-2](ABC-2.md) linked\n1. **ABC-3** — In progress\n| ABC-4 | A title | Done | me |\n\
                    - [ ] ↳ `ABC-5` marked\n- Handle UTF-8\n- see ABC-9\n```\n- ABC-6 code\n```\nABC-7 prose\n\n\
                    <!-- - ABC-8 hidden\n\n| ABC-8 | hidden | Todo |\n -->\n\n~~~\n```\n- ABC-6 code\n";
        assert_eq!(
            read(text),
            [
                ("ABC-1".to_string(), Some(TrackerStatus::Todo)),
                ("ABC-2".to_string(), Some(TrackerStatus::Done)),
                ("ABC-3".to_string(), Some(TrackerStatus::InProgress)),
                ("ABC-4".to_string(), Some(TrackerStatus::Done)),
                ("ABC-5".to_string(), Some(TrackerStatus::Todo)),
            ]
        );
    }

    #[test]
    fn a_new_status_changes_only_its_word_and_its_box() {
        let text = "- [ ] ABC-1 Show what is done (`todo`)  \r\n- ABC-2 nothing shown\r\n";
        let mut markdown = Markdown::read(text);
        for entry in entries(&Markdown::read(text), 0..text.len()) {
            for (range, with) in entry.shows(&markdown.clone(), TrackerStatus::Done) {
                markdown.splice(range, &with);
            }
        }
        assert_eq!(markdown.text(), "- [x] ABC-1 Show what is done (`Done`)  \r\n- ABC-2 nothing shown\r\n");
    }

    // OT-24
    #[test]
    fn entries_follow_the_ones_that_they_depend_on() {
        let entry = |own: &str, after: &[&str]| NewEntry {
            id: id(own),
            title: "t".to_string(),
            status: TrackerStatus::Todo,
            after: after.iter().map(|text| id(text)).collect(),
        };
        let sorted = in_order(vec![
            entry("A-5", &["A-7"]),
            entry("A-6", &[]),
            entry("A-7", &[]),
            entry("A-8", &["A-6"]),
        ]);
        let ids: Vec<String> = sorted.iter().map(|entry| entry.id.to_string()).collect();
        assert_eq!(ids, ["A-6", "A-8", "A-7", "A-5"]);
        assert_eq!(sorted[3].text(true), "- [ ] ↳ [A-5](A-5.md) t (after A-7) · Todo\n");
    }
}
