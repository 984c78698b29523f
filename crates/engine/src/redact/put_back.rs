//! Restores secrets in a document that was edited after they were removed.

use super::{Redactor, Span, without};
use std::collections::BTreeSet;
use std::ops::Range;

/// A document with its secrets restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredText {
    pub text: String,
    /// Line number and marker of each secret that could not be restored because its line changed.
    pub missing: Vec<(usize, String)>,
}

/// Lines with secrets, original and redacted.
struct Hidden<'t> {
    with: &'t str,
    without: String,
}

impl Redactor {
    /// Restores the secrets of `original` in `text`, an edited copy of its redacted form. Unchanged lines get their
    /// secrets back. Lines with equal redacted forms and different secrets are restored only if all of them are present.
    pub fn put_back(&self, original: &str, text: &str) -> RestoredText {
        let spans = self.spans(original);
        let hidden = hidden(original, &spans);
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        for lines in hidden.iter().map(|hidden| &hidden.without).collect::<BTreeSet<_>>() {
            let with: Vec<&str> =
                hidden.iter().filter(|hidden| hidden.without == *lines).map(|hidden| hidden.with).collect();
            let ranges = whole_lines(text, lines);
            if with.windows(2).all(|pair| pair[0] == pair[1]) {
                found.extend(ranges.into_iter().zip(with.into_iter().cycle()));
            } else if ranges.len() == with.len() {
                found.extend(ranges.into_iter().zip(with));
            }
        }
        found.sort_by_key(|(range, _)| range.start);
        let markers: BTreeSet<&str> = spans.iter().map(|span| span.marker).collect();
        let mut restored = RestoredText { text: String::with_capacity(text.len()), missing: Vec::new() };
        let mut at = 0;
        for (range, with) in found {
            if range.start >= at {
                restored.add(&text[at..range.start], &markers);
                restored.text.push_str(with);
                at = range.end;
            }
        }
        restored.add(&text[at..], &markers);
        restored
    }
}

impl RestoredText {
    /// Adds unchanged text, and records the markers in it.
    fn add(&mut self, part: &str, markers: &BTreeSet<&str>) {
        let before = self.text.matches('\n').count();
        for (at, line) in part.split('\n').enumerate() {
            let left = markers.iter().filter(|marker| line.contains(**marker));
            self.missing.extend(left.map(|marker| (before + at + 1, marker.to_string())));
        }
        self.text.push_str(part);
    }
}

/// The lines that contain these spans. Spans on the same lines belong together.
fn hidden<'t>(text: &'t str, spans: &[Span<'_>]) -> Vec<Hidden<'t>> {
    let lines_of = |span: &Span<'_>| {
        let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[span.end..].find(['\r', '\n']).map_or(text.len(), |at| span.end + at);
        start..end
    };
    let mut hidden = Vec::new();
    for spans in spans.chunk_by(|one, other| lines_of(other).start < lines_of(one).end) {
        let (Some(first), Some(last)) = (spans.first(), spans.last()) else { continue };
        let lines = lines_of(first).start..lines_of(last).end;
        hidden.push(Hidden { with: &text[lines.clone()], without: without(text, lines, spans) });
    }
    hidden
}

/// The occurrences of these lines in a string, as whole lines.
fn whole_lines(text: &str, lines: &str) -> Vec<Range<usize>> {
    let begins = |at: usize| at == 0 || text[..at].ends_with('\n');
    let ends = |at: usize| at == text.len() || text[at..].starts_with(['\r', '\n']);
    let ranges = text.match_indices(lines).map(|(at, _)| at..at + lines.len());
    ranges.filter(|range| begins(range.start) && ends(range.end)).collect()
}
