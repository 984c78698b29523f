//! Source files and positions in them.

use serde::Serialize;
use std::ops::Range;

/// The maximum size of a file: people have to read a workflow.
pub const MAX_FILE_BYTES: usize = 512 * 1024;

/// The text of a file, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    pub name: String,
    pub text: String,
}

/// A range of bytes in a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end: end.max(start) }
    }

    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// A part of this span, given by offsets from its start.
    pub fn part(self, start: usize, end: usize) -> Span {
        Span::new((self.start + start).min(self.end), (self.start + end).min(self.end))
    }
}

/// A value with its position in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

impl<T> Spanned<T> {
    pub fn new(value: T, span: Span) -> Spanned<T> {
        Spanned { value, span }
    }
}

impl SourceText {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> SourceText {
        SourceText { name: name.into(), text: text.into() }
    }

    /// The line and column of a byte offset, both 1-based. Columns count characters.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let offset = self.floor(offset);
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }

    pub fn line_of(&self, span: Span) -> u32 {
        u32::try_from(self.position(span.start).0).unwrap_or(u32::MAX)
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        let (start, end) = (self.floor(span.start), self.floor(span.end));
        &self.text[start..end.max(start)]
    }

    /// The nearest character boundary at or before an offset.
    pub fn floor(&self, offset: usize) -> usize {
        let mut boundary = offset.min(self.text.len());
        while !self.text.is_char_boundary(boundary) {
            boundary -= 1;
        }
        boundary
    }
}
