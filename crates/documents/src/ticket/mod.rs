//! A ticket: a Markdown file with statuses to tick, metadata, a workflow log and what people say to it.
//!
//! People edit tickets by hand, so nothing is where it must be: what is there is read wherever it is, what is missing
//! counts as nothing and is put in when it is needed, and every other byte stays (DR-01, DR-20).

mod entries;
mod metadata;
mod status;
mod statuses;
mod template;

#[cfg(test)]
mod ticket_tests;

pub use entries::Feedback;
pub use metadata::{PastApproach, Unreadable};
pub use status::Status;
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

    /// What the ticket is called: its first heading of the highest level.
    pub fn title(&self) -> Option<&str> {
        let headings = self.page.headings();
        let top = headings.iter().map(|heading| heading.level).min()?;
        headings.iter().find(|heading| heading.level == top).map(|heading| heading.title.as_str())
    }

    /// The level of its main sections: that of the statuses, or of the first heading below the title.
    fn level(&self) -> u8 {
        let below = self.page.headings().iter().map(|heading| heading.level).find(|level| *level > 1);
        self.status_section().map_or(below, |section| Some(section.heading.level)).unwrap_or(2)
    }

    /// A section by its title, or by the words that it begins with.
    fn section(&self, titles: &[&str]) -> Option<Section> {
        let begins = |section: &Section| {
            let title = section.heading.title.to_lowercase();
            let behind = |wanted: &&str| title.strip_prefix(&wanted.to_lowercase()).map(str::to_string);
            let is_whole = |rest: String| !rest.starts_with(char::is_alphanumeric);
            titles.iter().filter_map(behind).any(is_whole)
        };
        self.page.section(titles).or_else(|| self.page.sections().find(begins))
    }

    /// The part of a section that is before its first subsection.
    fn own_part(&self, section: &Section) -> std::ops::Range<usize> {
        let deeper = |start: &usize| section.body.contains(start);
        let starts = self.page.headings().iter().map(|heading| heading.lines.start);
        section.body.start..starts.filter(deeper).min().unwrap_or(section.body.end)
    }

    /// Puts a new section where what is written before this place ends.
    fn insert_section(&mut self, before: usize, level: u8, title: &str, body: &str) {
        let heading = format!("{} {title}", "#".repeat(usize::from(level)));
        self.insert_block(0..before, &format!("{heading}\n\n{body}"));
    }

    /// Puts a block behind what is written in a range, with a blank line around it. A document whose last line has no
    /// end keeps that.
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
