//! Restores secrets in a document that was edited after they were removed.

use super::{Redactor, Span, replace_spans};
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
struct SecretLines<'t> {
    original: &'t str,
    redacted: String,
}

impl Redactor {
    /// Restores the secrets of `original` in `text`, which was edited after redaction. Unchanged lines get their
    /// secrets back. Lines with equal redacted forms and different secrets are restored only if all of them are present.
    pub fn put_back(&self, original: &str, text: &str) -> RestoredText {
        let spans = self.spans(original);
        let secret_lines = secret_lines(original, &spans);
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        for redacted in secret_lines.iter().map(|lines| &lines.redacted).collect::<BTreeSet<_>>() {
            let same = secret_lines.iter().filter(|lines| lines.redacted == *redacted);
            let originals: Vec<&str> = same.map(|lines| lines.original).collect();
            let ranges = whole_lines(text, redacted);
            if originals.windows(2).all(|pair| pair[0] == pair[1]) {
                found.extend(ranges.into_iter().zip(originals.into_iter().cycle()));
            } else if ranges.len() == originals.len() {
                found.extend(ranges.into_iter().zip(originals));
            }
        }
        found.sort_by_key(|(range, _)| range.start);
        let markers: BTreeSet<&str> = spans.iter().map(|span| span.marker).collect();
        let mut restored = RestoredText { text: String::with_capacity(text.len()), missing: Vec::new() };
        let mut at = 0;
        for (range, original) in found {
            if range.start >= at {
                restored.add(&text[at..range.start], &markers);
                restored.text.push_str(original);
                at = range.end;
            }
        }
        restored.add(&text[at..], &markers);
        restored
    }
}

impl RestoredText {
    /// Adds text without restored secrets, and records the markers in it.
    fn add(&mut self, part: &str, markers: &BTreeSet<&str>) {
        let before = self.text.matches('\n').count();
        for (index, line) in part.split('\n').enumerate() {
            let remaining = markers.iter().filter(|marker| line.contains(**marker));
            self.missing.extend(remaining.map(|marker| (before + index + 1, marker.to_string())));
        }
        self.text.push_str(part);
    }
}

/// The lines that contain these spans. Spans on the same lines belong together.
fn secret_lines<'t>(text: &'t str, spans: &[Span<'_>]) -> Vec<SecretLines<'t>> {
    let lines_of = |span: &Span<'_>| {
        let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[span.end..].find(['\r', '\n']).map_or(text.len(), |at| span.end + at);
        start..end
    };
    let mut found = Vec::new();
    for spans in spans.chunk_by(|one, other| lines_of(other).start < lines_of(one).end) {
        let (Some(first), Some(last)) = (spans.first(), spans.last()) else { continue };
        let lines = lines_of(first).start..lines_of(last).end;
        found.push(SecretLines {
            original: &text[lines.clone()],
            redacted: replace_spans(text, lines, spans),
        });
    }
    found
}

/// The ranges where `lines` occurs in `text` as whole lines.
fn whole_lines(text: &str, lines: &str) -> Vec<Range<usize>> {
    let begins = |at: usize| at == 0 || text[..at].ends_with('\n');
    let ends = |at: usize| at == text.len() || text[at..].starts_with(['\r', '\n']);
    let ranges = text.match_indices(lines).map(|(at, _)| at..at + lines.len());
    ranges.filter(|range| begins(range.start) && ends(range.end)).collect()
}
