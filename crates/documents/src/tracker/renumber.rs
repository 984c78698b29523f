//! Gives an issue another id, in its file and everywhere else in the tracker.

use super::{IssueKey, Tracker, TrackerIssue};
use crate::Markdown;
use std::ops::Range;

impl Tracker {
    /// Replaces every mention of the old id, and renames the file.
    pub fn renumber(&mut self, from: &IssueKey, to: &IssueKey) {
        for issue in self.issues.values_mut() {
            rename(issue.markdown(), from, to);
        }
        if let Some(readme) = &mut self.readme {
            rename(readme.markdown(), from, to);
        }
        if let Some(issue) = self.issues.remove(from) {
            self.issues.insert(to.clone(), TrackerIssue::read(to.clone(), issue.text()));
        }
    }
}

fn rename(markdown: &mut Markdown, from: &IssueKey, to: &IssueKey) {
    let mentions = mentions(markdown.text(), &from.to_string());
    for mention in mentions.into_iter().rev() {
        markdown.splice(mention, &to.to_string());
    }
}

/// The ranges at which an id occurs in a string as a whole word.
fn mentions(text: &str, id: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let found = text.match_indices(id).map(|(at, id)| at..at + id.len());
    let is_whole = |range: &Range<usize>| {
        let continues = |c: Option<char>, next: Option<char>| match c {
            // `ABC-1-draft` does not mention `ABC-1`; `ABC-1 - a title` and `ABC-1-` do.
            Some('-') => next.is_some_and(char::is_alphanumeric),
            Some(c) => is_word(c),
            None => false,
        };
        let mut after = text[range.end..].chars();
        let (first, second) = (after.next(), after.next());
        !text[..range.start].ends_with(is_word) && !continues(first, second)
    };
    found.filter(is_whole).collect()
}
