//! The README of the tracker: top-level issues, by category.

use super::entry::{IssueEntry, NewEntry, entries, insertion};
use super::issue::show_status;
use super::{IssueKey, TrackerStatus};
use crate::{Heading, Markdown, Section};
use std::collections::BTreeSet;

/// The initial README of a tracker that has none.
const EMPTY: &str = "# TODO\n";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readme {
    markdown: Markdown,
}

impl Readme {
    pub fn read(text: impl Into<String>) -> Readme {
        Readme { markdown: Markdown::read(text) }
    }

    pub(super) fn empty() -> Readme {
        Readme::read(EMPTY)
    }

    pub fn text(&self) -> &str {
        self.markdown.text()
    }

    pub fn entries(&self) -> Vec<IssueEntry> {
        entries(&self.markdown, 0..self.text().len())
    }

    /// The category that lists an issue: the heading above its line.
    pub fn category(&self, id: &IssueKey) -> Option<&str> {
        let entry = self.entries().into_iter().find(|entry| entry.id == *id)?;
        let above =
            self.markdown.headings().iter().rev().find(|heading| heading.lines.end <= entry.line.start)?;
        (above.level > 1).then_some(above.title.as_str())
    }

    pub(super) fn show_status(&mut self, of: &IssueKey, status: TrackerStatus, others: &BTreeSet<IssueKey>) {
        let document = whole_document(&self.markdown);
        show_status(&mut self.markdown, &document, of, status, others);
    }

    /// Appends an issue to a category; a new category comes last.
    pub(super) fn add(&mut self, entry: NewEntry, category: &str) {
        if self.entries().iter().any(|known| known.id == entry.id) {
            return;
        }
        if self.markdown.section(&[category]).is_none() {
            let text = self.text();
            let gap = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let at = text.len();
            self.markdown.splice(at..at, &format!("{end}{gap}## {category}\n"));
        }
        let Some(mut section) = self.markdown.section(&[category]) else {
            return;
        };
        // Deeper headings start other categories.
        if let Some(next) =
            self.markdown.headings().iter().find(|next| next.lines.start >= section.body.start)
        {
            section.body.end = section.body.end.min(next.lines.start);
        }
        let (at, text) = insertion(&self.markdown, section.body, &[entry], &[]);
        self.markdown.splice(at..at, &text);
    }

    pub(super) fn markdown(&mut self) -> &mut Markdown {
        &mut self.markdown
    }
}

fn whole_document(markdown: &Markdown) -> Section {
    Section {
        heading: Heading { level: 1, title: String::new(), lines: 0..0 },
        body: 0..markdown.text().len(),
    }
}
