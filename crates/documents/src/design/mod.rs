//! A design document: one paragraph that states the approach, decisions with ids, and sections.

mod decision;
mod delta;

pub use decision::DesignDecision;
pub use delta::{Delta, Departure};

use crate::markdown::Markdown;
use std::collections::BTreeMap;
use std::ops::Range;

/// The title of the section that describes the changes of revisions.
const NOTES: &str = "Design Revision Notes";
const APPROACH: &str = "Approach";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesignDocument {
    page: Markdown,
}

/// A heading with the text directly below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The id of a decision, or the title of a section. A repeated title gets a number.
    pub name: String,
    /// The names of the sections around the piece, outermost first.
    pub inside: Vec<String>,
    pub text: String,
}

impl DesignDocument {
    pub fn read(text: impl Into<String>) -> DesignDocument {
        DesignDocument { page: Markdown::read(text) }
    }

    pub fn text(&self) -> &str {
        self.page.text()
    }

    /// The paragraph that states the approach, on one line.
    pub fn approach(&self) -> Option<String> {
        let text = &self.text()[self.approach_range()?];
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(text).filter(|text| !text.is_empty())
    }

    /// The byte range of the paragraph that states the approach.
    fn approach_range(&self) -> Option<Range<usize>> {
        let section = self.page.section(&[APPROACH])?;
        let body = &self.text()[section.body.clone()];
        let start = body.len() - body.trim_start().len();
        let lines = body[start..].split_inclusive('\n');
        let paragraph = lines.take_while(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let length: usize = paragraph.map(str::len).sum();
        let at = section.body.start + start;
        Some(at..at + length)
    }

    /// The text before the first heading.
    fn preamble(&self) -> &str {
        let end = self.page.headings().first().map_or(self.text().len(), |first| first.lines.start);
        &self.text()[..end]
    }

    /// The decisions, in order.
    pub fn decisions(&self) -> Vec<DesignDecision> {
        let sections = self.page.sections();
        sections
            .filter_map(|section| {
                let (id, title) = decision::parse_heading(&section.heading.title)?;
                Some(DesignDecision::read(id, title, &self.text()[section.body]))
            })
            .collect()
    }

    /// Every heading with the text directly below it, in order.
    pub fn pieces(&self) -> Vec<Piece> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut around: Vec<(u8, String)> = Vec::new();
        let headings = self.page.headings();
        let mut pieces = Vec::new();
        for (at, heading) in headings.iter().enumerate() {
            let end = headings.get(at + 1).map_or(self.text().len(), |next| next.lines.start);
            let title = decision::parse_heading(&heading.title).map_or(heading.title.as_str(), |(id, _)| id);
            let count = counts.entry(title.to_lowercase()).or_default();
            *count += 1;
            let name = if *count == 1 { title.to_string() } else { format!("{title} ({count})") };
            around.retain(|(level, _)| *level < heading.level);
            pieces.push(Piece {
                name: name.clone(),
                inside: around.iter().map(|(_, name)| name.clone()).collect(),
                text: self.text()[heading.lines.start..end].trim().to_string(),
            });
            around.push((heading.level, name));
        }
        pieces
    }

    /// The decisions and sections that a string mentions. A section counts only with its whole title.
    pub fn named_in(&self, text: &str) -> Vec<String> {
        let pieces = self.pieces();
        let candidates = pieces.iter().filter(|piece| !piece.inside.is_empty() || pieces.len() == 1);
        candidates.map(|piece| piece.name.clone()).filter(|name| mentions(text, name)).collect()
    }

    /// The decisions that a string mentions.
    pub fn decisions_in(&self, text: &str) -> Vec<String> {
        let ids = self.decisions().into_iter().map(|decision| decision.id);
        ids.filter(|id| mentions(text, id)).collect()
    }

    fn notes(&self) -> Option<&str> {
        self.page.section(&[NOTES]).map(|section| self.text()[section.body].trim())
    }
}

/// Whether a string contains a name as whole words, ignoring case.
fn mentions(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let is_word = |letter: char| letter.is_alphanumeric();
    text.match_indices(&name).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
#[path = "design_tests.rs"]
mod tests;
