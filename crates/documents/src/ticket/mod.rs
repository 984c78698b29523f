//! A ticket: a Markdown file with status boxes, metadata, a workflow log and human feedback.
//!
//! People edit tickets by hand, so sections may be anywhere or missing. Missing parts are added when they are needed, and
//! every other byte stays.

mod entries;
mod metadata;
mod status;
mod statuses;
mod template;

#[cfg(test)]
mod ticket_tests;

pub use entries::Feedback;
pub use metadata::{PastApproach, Unreadable};
pub use status::TicketStatus;
pub use template::template;

use crate::markdown::{Markdown, Section};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    page: Markdown,
}

impl Ticket {
    pub fn read(text: impl Into<String>) -> Ticket {
        Ticket { page: Markdown::read(text) }
    }

    pub fn text(&self) -> &str {
        self.page.text()
    }

    pub fn into_text(self) -> String {
        self.page.into_text()
    }

    /// The title: the first heading of the highest level.
    pub fn title(&self) -> Option<&str> {
        let headings = self.page.headings();
        let top = headings.iter().map(|heading| heading.level).min()?;
        headings.iter().find(|heading| heading.level == top).map(|heading| heading.title.as_str())
    }

    /// The heading level of the main sections: the level of the statuses, or of the first heading below the title.
    fn level(&self) -> u8 {
        let below = self.page.headings().iter().map(|heading| heading.level).find(|level| *level > 1);
        self.status_section().map_or(below, |section| Some(section.heading.level)).unwrap_or(2)
    }

    /// The section with one of these titles, or else the first one whose title starts with one of them.
    fn section(&self, titles: &[&str]) -> Option<Section> {
        let starts_with_title = |section: &Section| {
            let title = section.heading.title.to_lowercase();
            let after = |start: &&str| title.strip_prefix(&start.to_lowercase()).map(str::to_string);
            let is_word_end = |rest: String| !rest.starts_with(char::is_alphanumeric);
            titles.iter().filter_map(after).any(is_word_end)
        };
        self.page.section(titles).or_else(|| self.page.sections().find(starts_with_title))
    }

    /// The part of a section before its first subsection.
    fn direct_body(&self, section: &Section) -> std::ops::Range<usize> {
        let is_inside = |start: &usize| section.body.contains(start);
        let starts = self.page.headings().iter().map(|heading| heading.lines.start);
        section.body.start..starts.filter(is_inside).min().unwrap_or(section.body.end)
    }

    /// Inserts a section after the last text before this position.
    fn insert_section(&mut self, before: usize, level: u8, title: &str, body: &str) {
        let heading = format!("{} {title}", "#".repeat(usize::from(level)));
        self.insert_block(0..before, &format!("{heading}\n\n{body}"));
    }

    /// Inserts a block after the text of a range, with blank lines around it. A document without a final line break stays
    /// without one.
    fn insert_block(&mut self, within: std::ops::Range<usize>, block: &str) {
        let text = self.page.text();
        let at = self.page.end_of_writing(within);
        let rest = &text[at..];
        let before = match (at, text[..at].ends_with('\n')) {
            (0, _) => "",
            (_, true) => "\n",
            (_, false) => "\n\n",
        };
        let after = match (rest.is_empty(), rest.starts_with(['\n', '\r'])) {
            (true, _) if text.ends_with('\n') || text.is_empty() => "\n",
            (true, _) => "",
            (false, true) => "\n",
            (false, false) => "\n\n",
        };
        self.page.splice(at..at, &format!("{before}{}{after}", block.trim_end()));
    }
}
