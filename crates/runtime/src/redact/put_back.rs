//! Puts back what was taken out of a document, into what became of that document since.

use super::{Redactor, Span, without};
use std::collections::BTreeSet;
use std::ops::Range;

/// A document with secrets where they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutBack {
    pub text: String,
    /// Line and marker of each place whose line changed, so that its secret is not there.
    pub missing: Vec<(usize, String)>,
}

/// Lines that hold secrets: as they are, and as they read without them.
struct Hidden<'t> {
    with: &'t str,
    without: String,
}

impl Redactor {
    /// The text, which was made from the original without its secrets, with them: lines that stand as they were get
    /// theirs back. Of lines that read the same and hide different secrets, all must be there.
    pub fn put_back(&self, original: &str, text: &str) -> PutBack {
        let spans = self.spans(original);
        let hidden = hidden(original, &spans);
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        for lines in hidden.iter().map(|hidden| &hidden.without).collect::<BTreeSet<_>>() {
            let with: Vec<&str> =
                hidden.iter().filter(|hidden| hidden.without == *lines).map(|hidden| hidden.with).collect();
            let places = whole_lines(text, lines);
            if with.windows(2).all(|pair| pair[0] == pair[1]) {
                found.extend(places.into_iter().zip(with.into_iter().cycle()));
            } else if places.len() == with.len() {
                found.extend(places.into_iter().zip(with));
            }
        }
        found.sort_by_key(|(place, _)| place.start);
        let markers: BTreeSet<&str> = spans.iter().map(|span| span.marker).collect();
        let mut put = PutBack { text: String::with_capacity(text.len()), missing: Vec::new() };
        let mut at = 0;
        for (place, with) in found {
            if place.start >= at {
                put.add(&text[at..place.start], &markers);
                put.text.push_str(with);
                at = place.end;
            }
        }
        put.add(&text[at..], &markers);
        put
    }
}

impl PutBack {
    /// Adds a part that stays as it is, with a marker here and there.
    fn add(&mut self, part: &str, markers: &BTreeSet<&str>) {
        let before = self.text.matches('\n').count();
        for (at, line) in part.split('\n').enumerate() {
            let left = markers.iter().filter(|marker| line.contains(**marker));
            self.missing.extend(left.map(|marker| (before + at + 1, marker.to_string())));
        }
        self.text.push_str(part);
    }
}

/// The lines of a text that hold these spans. Spans on the same lines are hidden together.
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

/// Where these lines stand in a text, from the start of a line to the end of one.
fn whole_lines(text: &str, lines: &str) -> Vec<Range<usize>> {
    let begins = |at: usize| at == 0 || text[..at].ends_with('\n');
    let ends = |at: usize| at == text.len() || text[at..].starts_with(['\r', '\n']);
    let places = text.match_indices(lines).map(|(at, _)| at..at + lines.len());
    places.filter(|place| begins(place.start) && ends(place.end)).collect()
}
