//! Lines of a list that stand for an issue: in the README, and in a parent's list of sub-issues.
//!
//! Two runs work beside each other on branches of their own, and git merges by lines: lines that touch cannot both be
//! changed. So a list of ours has a blank line between its entries, and a new entry comes behind a blank line.

use super::{IssueId, Status};
use crate::Markdown;
use std::collections::BTreeSet;
use std::ops::Range;

/// The mark of an entry that waits for another one of its list.
pub(super) const DEPENDENT: char = '↳';

/// One line that is about an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: IssueId,
    /// As it is shown; none where the line shows none.
    pub status: Option<Status>,
    /// The whole line, with its end.
    pub line: Range<usize>,
    word: Option<Range<usize>>,
}

/// An entry to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    pub id: IssueId,
    pub title: String,
    pub status: Status,
    /// Others of the same list that must be done before.
    pub after: Vec<IssueId>,
}

/// All entries in a range. Lines of code and comments are none.
pub(super) fn entries(markdown: &Markdown, within: Range<usize>) -> Vec<Entry> {
    markdown.lines(within).filter_map(|line| entry(markdown, line)).collect()
}

fn entry(markdown: &Markdown, line: Range<usize>) -> Option<Entry> {
    let text = markdown.text()[line.clone()].trim_end();
    if markdown.is_literal(line.start + text.len() - text.trim_start().len()) {
        return None;
    }
    let lead = lead(text)?;
    let (id, length) = IssueId::leading(&text[lead..])?;
    let rest = lead + length;
    let word = if text.trim_start().starts_with('|') {
        in_cell(text, rest)
    } else {
        Status::at_end(&text[rest..]).map(|word| word.start + rest..word.end + rest)
    };
    let ticked = || {
        let found = markdown.boxes(line.clone()).next()?;
        Some(if found.ticked { Status::Done } else { Status::Todo })
    };
    let status = word.clone().and_then(|word| Status::read(&text[word])).or_else(ticked);
    let word = word.map(|word| word.start + line.start..word.end + line.start);
    Some(Entry { id, status, line, word })
}

/// How much of a line comes before its id: a bullet or a cell, a box, marks.
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

/// The cell of a table row that holds a status and nothing else.
fn in_cell(text: &str, from: usize) -> Option<Range<usize>> {
    let mut at = from;
    for cell in text[from..].split('|') {
        let trimmed = cell.trim();
        if Status::read(trimmed).is_some() {
            let start = at + (cell.len() - cell.trim_start().len());
            return Some(start..start + trimmed.len());
        }
        at += cell.len() + 1;
    }
    None
}

impl Entry {
    /// Whether it says its status in words, not by a box alone.
    pub(super) fn has_word(&self) -> bool {
        self.word.is_some()
    }

    /// The changes that let the line show another status, the last one first. A line that shows none stays as it is.
    pub(super) fn shows(&self, markdown: &Markdown, status: Status) -> Vec<(Range<usize>, String)> {
        let mut changes = Vec::new();
        if let Some(word) =
            self.word.clone().filter(|word| Status::read(&markdown.text()[word.clone()]) != Some(status))
        {
            changes.push((word, status.name().to_string()));
        }
        if let Some(found) = markdown.boxes(self.line.clone()).next() {
            let done = status == Status::Done;
            if found.ticked != done {
                changes.push((found.mark.clone(), if done { "x" } else { " " }.to_string()));
            }
        }
        changes
    }

    /// Whether a line that touches this one is about an issue that somebody else works on: a merge of both changes
    /// would be a conflict.
    pub(super) fn touches(&self, all: &[Entry], others: &BTreeSet<IssueId>) -> bool {
        let is_beside =
            |other: &&Entry| other.line.end == self.line.start || other.line.start == self.line.end;
        all.iter().filter(is_beside).any(|other| others.contains(&other.id))
    }
}

impl NewEntry {
    pub(super) fn text(&self, is_dependent: bool) -> String {
        let NewEntry { id, title, status, after } = self;
        let done = if *status == Status::Done { 'x' } else { ' ' };
        let mark = if is_dependent { format!("{DEPENDENT} ") } else { String::new() };
        let after = match after.as_slice() {
            _ if !is_dependent => String::new(),
            after => {
                format!(" (after {})", after.iter().map(IssueId::to_string).collect::<Vec<_>>().join(", "))
            }
        };
        format!("- [{done}] {mark}[{id}]({id}.md) {title}{after} · {status}\n")
    }
}

/// New entries, each behind what it waits for, and as close to it as can be.
pub(super) fn in_order(entries: Vec<NewEntry>) -> Vec<NewEntry> {
    let ids: BTreeSet<IssueId> = entries.iter().map(|entry| entry.id.clone()).collect();
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
            // A circle has no order; it is told by the check of the tracker.
            .unwrap_or(0);
        let next = waiting.remove(next);
        placed.push(next);
    }
    placed
}

/// Where new entries go at the end of a section, and what stands there then.
pub(super) fn appended(
    markdown: &Markdown,
    body: Range<usize>,
    entries: &[NewEntry],
    siblings: &[IssueId],
) -> (usize, String) {
    let known = |id: &IssueId| siblings.contains(id) || entries.iter().any(|entry| entry.id == *id);
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

    fn read(text: &str) -> Vec<(String, Option<Status>)> {
        let markdown = Markdown::read(text);
        entries(&markdown, 0..text.len())
            .into_iter()
            .map(|entry| (entry.id.to_string(), entry.status))
            .collect()
    }

    fn id(text: &str) -> IssueId {
        text.parse().unwrap_or_else(|_| panic!("{text}"))
    }

    #[test]
    fn entries_are_found_in_whatever_form_people_give_them() {
        let text = "<!--\n- ABC-8 hidden (Todo)\n-->\n- ABC-1: plain (Todo)\n* [x] [ABC-2](ABC-2.md) linked\n1. **ABC-3** — In progress\n| ABC-4 | A title | Done | me |\n\
                    - [ ] ↳ `ABC-5` marked\n- Handle UTF-8\n- see ABC-9\n```\n- ABC-6 code\n```\nABC-7 prose\n\n\
                    <!-- - ABC-8 hidden\n\n| ABC-8 | hidden | Todo |\n -->\n\n~~~\n```\n- ABC-6 code\n";
        assert_eq!(
            read(text),
            [
                ("ABC-1".to_string(), Some(Status::Todo)),
                ("ABC-2".to_string(), Some(Status::Done)),
                ("ABC-3".to_string(), Some(Status::InProgress)),
                ("ABC-4".to_string(), Some(Status::Done)),
                ("ABC-5".to_string(), Some(Status::Todo)),
            ]
        );
    }

    #[test]
    fn another_status_changes_word_and_box_and_no_other_byte() {
        let text = "- [ ] ABC-1 Show what is done (`todo`)  \r\n- ABC-2 nothing shown\r\n";
        let mut markdown = Markdown::read(text);
        for entry in entries(&Markdown::read(text), 0..text.len()) {
            for (range, with) in entry.shows(&markdown.clone(), Status::Done) {
                markdown.splice(range, &with);
            }
        }
        assert_eq!(markdown.text(), "- [x] ABC-1 Show what is done (`Done`)  \r\n- ABC-2 nothing shown\r\n");
    }

    // OT-24
    #[test]
    fn entries_come_behind_what_they_wait_for() {
        let entry = |own: &str, after: &[&str]| NewEntry {
            id: id(own),
            title: "t".to_string(),
            status: Status::Todo,
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
