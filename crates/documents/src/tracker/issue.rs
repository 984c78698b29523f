//! One issue: a Markdown file with front matter, criteria, sub-issues and comments.

use super::entry::{IssueEntry, NewEntry, entries, insertion, sort_by_dependency};
use super::front::Front;
use super::sections::{COMMENTS, CRITERIA, SUB_ISSUES, contained, one_line};
use super::{IssueKey, TrackerStatus};
use crate::{CheckBox, Markdown, Section};
use std::collections::BTreeSet;

/// The file of an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackerIssue {
    id: IssueKey,
    markdown: Markdown,
}

/// One acceptance criterion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueCriterion {
    /// For example `AC-2`: written in the criterion, or derived from its position.
    pub id: String,
    pub text: String,
    pub ticked: bool,
    checkbox: CheckBox,
}

/// Keys of the front matter that hold ids of issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    Parent,
    DependsOn,
}

impl Reference {
    fn key(self) -> &'static str {
        match self {
            Reference::Parent => "parent",
            Reference::DependsOn => "depends-on",
        }
    }
}

impl TrackerIssue {
    pub fn read(id: IssueKey, text: impl Into<String>) -> TrackerIssue {
        TrackerIssue { id, markdown: Markdown::read(text) }
    }

    pub fn id(&self) -> &IssueKey {
        &self.id
    }

    pub fn text(&self) -> &str {
        self.markdown.text()
    }

    fn front(&self) -> Front {
        Front::read(self.text())
    }

    /// The value of a key of the front matter; `None` if it is absent or empty.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.front().value(self.text(), key).filter(|value| !value.is_empty())
    }

    /// The items of a list in the front matter.
    pub fn items(&self, key: &str) -> Vec<&str> {
        self.front().items(self.text(), key)
    }

    /// `None` if it is missing or invalid.
    pub fn status(&self) -> Option<TrackerStatus> {
        self.value("status").and_then(TrackerStatus::read)
    }

    /// The title in the front matter, or the first top-level heading without the id.
    pub fn title(&self) -> String {
        if let Some(title) = self.value("title") {
            return title.to_string();
        }
        let heading = self.markdown.headings().iter().find(|heading| heading.level == 1);
        let title = heading.map_or("", |heading| heading.title.as_str());
        let bare = title.strip_prefix(&self.id.to_string()).unwrap_or(title);
        let bare = bare.trim_start_matches([':', '-', '—', '–', '·', ' ']).trim();
        if bare.is_empty() { self.id.to_string() } else { bare.to_string() }
    }

    /// The ids in a reference; invalid ones are left out.
    pub fn references(&self, which: Reference) -> Vec<IssueKey> {
        self.items(which.key()).into_iter().filter_map(|id| id.parse().ok()).collect()
    }

    /// The items of a reference that are not ids.
    pub fn invalid_references(&self, which: Reference) -> Vec<&str> {
        let invalid = self.items(which.key()).into_iter().filter(|item| item.parse::<IssueKey>().is_err());
        invalid.filter(|item| !matches!(*item, "none" | "null" | "~" | "-")).collect()
    }

    pub fn parent(&self) -> Option<IssueKey> {
        self.references(Reference::Parent).into_iter().next()
    }

    pub fn depends_on(&self) -> Vec<IssueKey> {
        self.references(Reference::DependsOn)
    }

    pub fn labels(&self) -> Vec<&str> {
        self.items("labels")
    }

    /// The criteria of the parent that this issue covers.
    pub fn covers(&self) -> Vec<&str> {
        self.items("covers")
    }

    pub fn criteria(&self) -> Vec<IssueCriterion> {
        let Some(section) = self.markdown.section(CRITERIA) else {
            return Vec::new();
        };
        let boxes: Vec<&CheckBox> = self.markdown.boxes(section.body).collect();
        let label = |found: &CheckBox| self.text()[found.label.clone()].trim().to_string();
        let written: Vec<Option<String>> = boxes.iter().map(|found| written_id(&label(found))).collect();
        let is_unique = |id: &String| written.iter().flatten().filter(|other| *other == id).count() == 1;
        let criteria = boxes.iter().zip(&written).enumerate().map(|(at, (found, id))| IssueCriterion {
            id: id.clone().filter(is_unique).unwrap_or_else(|| id_from_position(at, &written)),
            text: label(found),
            ticked: found.ticked,
            checkbox: (*found).clone(),
        });
        criteria.collect()
    }

    /// The entries of the list of sub-issues.
    pub fn sub_issues(&self) -> Vec<IssueEntry> {
        self.markdown
            .section(SUB_ISSUES)
            .map(|section| entries(&self.markdown, section.body))
            .unwrap_or_default()
    }

    pub fn set_status(&mut self, status: TrackerStatus) {
        if self.status() != Some(status) {
            self.set("status", status.name());
        }
    }

    pub(super) fn set(&mut self, key: &str, value: &str) {
        let (range, replacement) = self.front().set(self.text(), key, value);
        self.markdown.splice(range, &replacement);
    }

    /// Writes an id into each of these criteria that has none. A position is not a stable id, because somebody may insert
    /// another criterion before it.
    pub fn write_criterion_ids(&mut self, ids: &BTreeSet<&String>) {
        let lacks_id = |found: &IssueCriterion| ids.contains(&found.id) && written_id(&found.text).is_none();
        for found in self.criteria().into_iter().filter(lacks_id).rev() {
            let label = &self.text()[found.checkbox.label.clone()];
            let at = found.checkbox.label.start + label.len() - label.trim_start().len();
            self.markdown.splice(at..at, &format!("{}: ", found.id));
        }
    }

    /// Ticks a criterion, if the issue has it.
    pub fn tick(&mut self, criterion: &str) {
        if let Some(found) = self.criteria().into_iter().find(|found| found.id == criterion) {
            self.markdown.tick(&found.checkbox, true);
        }
    }

    /// Whether the line of a criterion is next to that of another one: git cannot merge branches that tick one each.
    pub(super) fn is_next_to_another(&self, criterion: &str) -> bool {
        let criteria = self.criteria();
        let line = |found: &IssueCriterion| self.markdown.line_number(found.checkbox.mark.start);
        let Some(at) = criteria.iter().find(|found| found.id == criterion).map(line) else {
            return false;
        };
        criteria.iter().filter(|found| found.id != criterion).any(|found| line(found).abs_diff(at) == 1)
    }

    /// Shows a status in the list of sub-issues, unless an adjacent line belongs to `others`.
    pub fn show_status(&mut self, of: &IssueKey, status: TrackerStatus, others: &BTreeSet<IssueKey>) {
        let Some(section) = self.markdown.section(SUB_ISSUES) else {
            return;
        };
        show_status(&mut self.markdown, &section, of, status, others);
    }

    /// Appends sub-issues to the list, sorted by their dependencies; `siblings` are all sub-issues.
    pub fn add_sub_issues(&mut self, new: Vec<NewEntry>, siblings: &[IssueKey]) {
        let known: Vec<IssueKey> = self.sub_issues().into_iter().map(|entry| entry.id).collect();
        let new: Vec<NewEntry> =
            sort_by_dependency(new).into_iter().filter(|entry| !known.contains(&entry.id)).collect();
        if new.is_empty() {
            return;
        }
        let section = self.section(SUB_ISSUES, "Sub-issues", Some(COMMENTS));
        let (at, text) = insertion(&self.markdown, section.body, &new, siblings);
        self.markdown.splice(at..at, &text);
    }

    /// Inserts a sub-issue before another one that depends on it.
    pub(super) fn list_before(&mut self, new: &NewEntry, before: &IssueKey, siblings: &[IssueKey]) {
        let is_dependent = new.after.iter().any(|id| siblings.contains(id));
        if let Some(entry) = self.sub_issues().into_iter().find(|entry| entry.id == *before) {
            let at = entry.line.start;
            self.markdown.splice(at..at, &format!("{}\n", new.text(is_dependent)));
        }
    }

    /// Appends a comment. Its text cannot start or swallow a section.
    pub fn comment(&mut self, title: &str, text: &str) {
        let section = self.section(COMMENTS, "Comments", None);
        let at = self.markdown.end_of_writing(section.body);
        let before = if self.text()[..at].ends_with('\n') { "" } else { "\n" };
        self.markdown
            .splice(at..at, &format!("{before}\n### {}\n\n{}\n", one_line(title), contained(text, 3)));
    }

    /// The section with one of these titles; a missing one is inserted, before another section if that exists.
    fn section(&mut self, titles: &[&str], title: &str, before: Option<&[&str]>) -> Section {
        if let Some(section) = self.markdown.section(titles) {
            return section;
        }
        let next = before.and_then(|titles| self.markdown.section(titles));
        let at = next.as_ref().map_or(self.text().len(), |next| next.heading.lines.start);
        let head = &self.text()[..at];
        let gap = match (head.ends_with("\n\n") || head.ends_with("\n\r\n"), head.ends_with('\n')) {
            (true, _) => "",
            (false, true) => "\n",
            (false, false) if head.is_empty() => "",
            (false, false) => "\n\n",
        };
        let end = if next.is_some() { "\n" } else { "" };
        self.markdown.splice(at..at, &format!("{gap}## {title}\n{end}"));
        let len = self.text().len();
        // The section was just inserted, so it exists.
        self.markdown.section(titles).unwrap_or_else(|| Section {
            heading: crate::Heading { level: 2, title: title.to_string(), lines: len..len },
            body: len..len,
        })
    }

    pub(super) fn markdown(&mut self) -> &mut Markdown {
        &mut self.markdown
    }
}

/// Shows the status of an issue in the lines of a section that list it.
pub(super) fn show_status(
    markdown: &mut Markdown,
    section: &Section,
    of: &IssueKey,
    status: TrackerStatus,
    others: &BTreeSet<IssueKey>,
) {
    let all = entries(markdown, section.body.clone());
    let mut replacements: Vec<_> = all
        .iter()
        .filter(|entry| entry.id == *of && !entry.is_next_to(&all, others))
        .flat_map(|entry| entry.replacements(markdown, status))
        .collect();
    replacements.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    for (range, replacement) in replacements {
        markdown.splice(range, &replacement);
    }
}

/// The id at the start of a criterion, as in `AC-2: …`, `**AC2** …` or `(C3) …`.
fn written_id(label: &str) -> Option<String> {
    let bare = label.trim_start_matches(['*', '_', '`', '(', '[', ' ']);
    let end = bare.find(|c: char| !c.is_ascii_alphanumeric() && c != '-')?;
    let (word, rest) = bare.split_at(end);
    let is_id = word.len() <= 12
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.ends_with(|c: char| c.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-');
    let is_separated = rest.starts_with([':', '.', ')', ']', '*', '_', '`', ' ']);
    (is_id && is_separated).then(|| word.to_string())
}

/// An id for a criterion that states none, derived from its position.
fn id_from_position(at: usize, written: &[Option<String>]) -> String {
    let plain = format!("AC-{}", at + 1);
    if written.iter().flatten().any(|id| *id == plain) { format!("AC-{}-{}", at + 1, at + 1) } else { plain }
}
