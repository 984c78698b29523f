//! One mutant.

use std::ops::Range;
use std::path::PathBuf;

/// The number of characters of code that a sentence quotes.
const MAX_QUOTE: usize = 60;

/// One alteration of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    pub path: PathBuf,
    pub kind: MutantKind,
    /// Qualified by the types and modules around it; empty outside functions.
    pub function: String,
    /// From 1.
    pub line: usize,
    /// What the mutant alters, in words without the location.
    pub alteration: String,
    pub(crate) range: Range<usize>,
    pub(crate) replacement: String,
}

/// What a mutant alters. The first kinds are the ones that tests of behaviour notice most often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MutantKind {
    /// A returned value becomes one near it.
    Returned,
    /// A condition is negated.
    Condition,
    /// Another arithmetic operator.
    Arithmetic,
    /// A literal becomes one near it.
    Literal,
    /// `==` becomes `!=`, or the other way round.
    Equality,
    /// `and` becomes `or`, or the other way round.
    Logic,
    /// A boundary moves by one: `<` becomes `<=`.
    Boundary,
    /// A statement is removed.
    Removed,
    /// A call becomes the call of an opposite, or is left out.
    Call,
    /// Two arguments are swapped.
    Swapped,
}

impl MutantKind {
    pub const ALL: [MutantKind; 10] = [
        MutantKind::Returned,
        MutantKind::Condition,
        MutantKind::Arithmetic,
        MutantKind::Literal,
        MutantKind::Equality,
        MutantKind::Logic,
        MutantKind::Boundary,
        MutantKind::Removed,
        MutantKind::Call,
        MutantKind::Swapped,
    ];

    /// The name for people and records.
    pub fn name(self) -> &'static str {
        match self {
            MutantKind::Returned => "returned value",
            MutantKind::Condition => "condition",
            MutantKind::Arithmetic => "arithmetic",
            MutantKind::Literal => "literal",
            MutantKind::Equality => "equality",
            MutantKind::Logic => "logic",
            MutantKind::Boundary => "boundary",
            MutantKind::Removed => "removed statement",
            MutantKind::Call => "call",
            MutantKind::Swapped => "swapped arguments",
        }
    }
}

impl Mutant {
    /// The text of the file with this alteration.
    pub fn apply(&self, text: &str) -> String {
        let head = text.get(..self.range.start).unwrap_or(text);
        let tail = text.get(self.range.end..).unwrap_or_default();
        [head, &self.replacement, tail].concat()
    }

    /// One sentence: `` `<` became `<=` in `parse`, line 14 ``.
    pub fn sentence(&self) -> String {
        let function =
            if self.function.is_empty() { String::new() } else { format!(" in `{}`", self.function) };
        format!("{}{function}, line {}", self.alteration, self.line)
    }
}

/// Code in one line, for a sentence.
pub fn quote(code: &str) -> String {
    let line = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(MAX_QUOTE).collect();
    if cut.len() < line.len() { format!("`{cut}…`") } else { format!("`{cut}`") }
}
