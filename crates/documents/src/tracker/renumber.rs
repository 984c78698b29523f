//! Gives an issue another id, in its own file and wherever the tracker names it.

use super::{Issue, IssueId, Tracker};
use crate::Markdown;
use std::ops::Range;

impl Tracker {
    /// Every mention of the old id in the tracker becomes the new one; the file gets its name.
    pub fn renumber(&mut self, from: &IssueId, to: &IssueId) {
        for issue in self.issues.values_mut() {
            rename(issue.markdown(), from, to);
        }
        if let Some(readme) = &mut self.readme {
            rename(readme.markdown(), from, to);
        }
        if let Some(issue) = self.issues.remove(from) {
            self.issues.insert(to.clone(), Issue::read(to.clone(), issue.text()));
        }
    }
}

fn rename(markdown: &mut Markdown, from: &IssueId, to: &IssueId) {
    let mentions = mentions(markdown.text(), &from.to_string());
    for mention in mentions.into_iter().rev() {
        markdown.splice(mention, &to.to_string());
    }
}

/// Where a text names an id, as a word of its own.
fn mentions(text: &str, id: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let found = text.match_indices(id).map(|(at, id)| at..at + id.len());
    let is_whole = |range: &Range<usize>| {
        let goes_on = |c: Option<char>, next: Option<char>| match c {
            // As in `ABC-1-draft`, but not as in `ABC-1 - a title` or a trailing dash.
            Some('-') => next.is_some_and(char::is_alphanumeric),
            Some(c) => is_word(c),
            None => false,
        };
        let mut behind = text[range.end..].chars();
        let (first, second) = (behind.next(), behind.next());
        !text[..range.start].ends_with(is_word) && !goes_on(first, second)
    };
    found.filter(is_whole).collect()
}
