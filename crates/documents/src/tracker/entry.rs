//! Lines that list an issue, in the README and in a parent's list of sub-issues.
//!
//! Concurrent runs work on separate branches, and git cannot merge changes of adjacent lines. So our lists have a blank line
//! between entries, and a new entry follows a blank line.

use super::{IssueKey, TrackerStatus};
use crate::Markdown;
use std::collections::BTreeSet;
use std::ops::Range;

/// Marks an entry that depends on another entry of its list.
pub(super) const DEPENDENT: char = '↳';

/// A line that lists an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueEntry {
    pub id: IssueKey,
    /// The status that the line shows, if any.
    pub status: Option<TrackerStatus>,
    /// The whole line, with its line break.
    pub line: Range<usize>,
    /// The status in words.
    word: Option<Range<usize>>,
}

/// An entry to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    pub id: IssueKey,
    pub title: String,
    pub status: TrackerStatus,
    /// The issues that must be done before this one.
    pub after: Vec<IssueKey>,
}

/// All entries in a range, except in code and comments.
pub(super) fn entries(markdown: &Markdown, within: Range<usize>) -> Vec<IssueEntry> {
    markdown.lines(within).filter_map(|line| entry(markdown, line)).collect()
}

fn entry(markdown: &Markdown, line: Range<usize>) -> Option<IssueEntry> {
    let text = markdown.text()[line.clone()].trim_end();
    if markdown.is_literal(line.start + text.len() - text.trim_start().len()) {
        return None;
    }
    let lead = lead(text)?;
    let (id, length) = IssueKey::parse_start(&text[lead..])?;
    let rest = lead + length;
    let word = if text.trim_start().starts_with('|') {
        status_cell(text, rest)
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

/// The length of the text before the id in a line: a bullet or the border of a cell, a box, markup.
fn lead(text: &str) -> Option<usize> {
    let bare = text.trim_start();
    let rest = match bare.strip_prefix(['-', '*', '+', '|']) {
        Some(rest) => rest,
        None => {
            let number = bare.trim_start_matches(|c: char| c.is_ascii_digit());
            number.strip_prefix(['.', ')']).filter(|_| number.len() < bare.len())?
        }
    };
    let is_markup = |c: char| c.is_whitespace() || matches!(c, '[' | '*' | '_' | '`' | '~' | DEPENDENT);
    let rest = rest.trim_start();
    let after_box = ["[ ]", "[x]", "[X]"].iter().find_map(|checkbox| rest.strip_prefix(checkbox));
    Some(text.len() - after_box.unwrap_or(rest).trim_start_matches(is_markup).len())
}

/// The content of the table cell that holds only a status.
fn status_cell(text: &str, from: usize) -> Option<Range<usize>> {
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
    /// Whether the line shows the status in words, not only by a box.
    pub(super) fn has_word(&self) -> bool {
        self.word.is_some()
    }

    /// The replacements that make the line show this status, last one first. A line without a status stays as it is.
    pub(super) fn replacements(
        &self,
        markdown: &Markdown,
        status: TrackerStatus,
    ) -> Vec<(Range<usize>, String)> {
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

    /// Whether an adjacent line lists an issue of another run: changes to both lines would conflict in a merge.
    pub(super) fn is_next_to(&self, all: &[IssueEntry], others: &BTreeSet<IssueKey>) -> bool {
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
pub(super) fn sort_by_dependency(entries: Vec<NewEntry>) -> Vec<NewEntry> {
    let ids: BTreeSet<IssueKey> = entries.iter().map(|entry| entry.id.clone()).collect();
    let mut waiting = entries;
    let mut sorted: Vec<NewEntry> = Vec::new();
    while !waiting.is_empty() {
        let is_ready = |entry: &NewEntry| {
            let needed = entry.after.iter().filter(|id| ids.contains(id));
            needed.into_iter().all(|id| sorted.iter().any(|earlier| earlier.id == *id))
        };
        let follows = |entry: &NewEntry| sorted.last().is_some_and(|last| entry.after.contains(&last.id));
        let next = waiting
            .iter()
            .position(|entry| is_ready(entry) && follows(entry))
            .or_else(|| waiting.iter().position(is_ready))
            // A cycle has no order; the consistency check reports it.
            .unwrap_or(0);
        let next = waiting.remove(next);
        sorted.push(next);
    }
    sorted
}

/// The position and the text for new entries at the end of a section.
pub(super) fn insertion(
    markdown: &Markdown,
    body: Range<usize>,
    entries: &[NewEntry],
    siblings: &[IssueKey],
) -> (usize, String) {
    let is_listed = |id: &IssueKey| siblings.contains(id) || entries.iter().any(|entry| entry.id == *id);
    let texts: Vec<String> =
        entries.iter().map(|entry| entry.text(entry.after.iter().any(is_listed))).collect();
    let text = markdown.text();
    let end = markdown.end_of_writing(body.clone());
    let is_blank = |line: &&str| line.trim().is_empty() && line.ends_with('\n');
    let follows_blank = text[..end].ends_with("\n\n") || text[..end].ends_with("\n\r\n");
    let (at, lead) = match text[end..body.end].split_inclusive('\n').next().filter(is_blank) {
        _ if follows_blank => (end, ""),
        Some(blank) => (end + blank.len(), ""),
        None if text[..end].ends_with('\n') => (end, "\n"),
        None => (end, "\n\n"),
    };
    let rest = &text[at..];
    let needs_gap = !rest.is_empty() && !rest.starts_with('\n') && !rest.starts_with("\r\n");
    (at, format!("{lead}{}{}", texts.join("\n"), if needs_gap { "\n" } else { "" }))
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
            for (range, replacement) in entry.replacements(&markdown.clone(), TrackerStatus::Done) {
                markdown.splice(range, &replacement);
            }
        }
        assert_eq!(markdown.text(), "- [x] ABC-1 Show what is done (`Done`)  \r\n- ABC-2 nothing shown\r\n");
    }

    // OT-24
    #[test]
    fn entries_follow_the_ones_that_they_depend_on() {
        let entry = |key: &str, after: &[&str]| NewEntry {
            id: id(key),
            title: "t".to_string(),
            status: TrackerStatus::Todo,
            after: after.iter().map(|text| id(text)).collect(),
        };
        let sorted = sort_by_dependency(vec![
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
