//! Splits a string into words, numbers and names, and folds case, white space and punctuation.

use super::vocabulary;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// One token of a string.
pub(super) enum Token<'a> {
    Word(String),
    Number(String),
    Name(&'a str),
    /// A comma: the clause ends, the sentence continues.
    Comma,
    /// Other punctuation that ends a clause.
    End,
}

/// Splits a string into tokens: spans between backticks are names, the rest is split at white space.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let paired = text.matches('`').count() / 2 * 2;
    for (index, span) in text.split('`').enumerate() {
        if index % 2 == 1 && index <= paired {
            tokens.push(Token::Name(span));
        } else {
            span.split_whitespace().for_each(|chunk| chunk_tokens(chunk, &mut tokens));
        }
    }
    tokens
}

fn chunk_tokens<'a>(chunk: &'a str, tokens: &mut Vec<Token<'a>>) {
    let is_punctuation = |ch: char| !ch.is_alphanumeric();
    let (front, tail) = chunk.split_at(chunk.trim_end_matches(is_punctuation).len());
    let core = front.trim_start_matches(is_punctuation);
    if is_name(core, tail) {
        tokens.push(Token::Name(core));
    } else {
        core.split(['-', '–', '/', '(', ')', ',', ';', ':', '=', '"']).for_each(|part| {
            tokens.extend(part_token(part));
        });
    }
    let is_dash = core.is_empty() && tail.contains(['–', '—']);
    if is_dash || tail.contains([';', '.', ':', '!', '?', ')']) {
        tokens.push(Token::End);
    } else if tail.contains(',') {
        tokens.push(Token::Comma);
    }
}

fn part_token<'a>(part: &str) -> Option<Token<'a>> {
    let folded: String = part.chars().flat_map(char::to_lowercase).map(straighten_quote).collect();
    let first = folded.chars().next()?;
    if first.is_ascii_digit() {
        let digits = folded.trim_end_matches(|ch: char| !ch.is_ascii_digit());
        return Some(Token::Number(digits.to_string()));
    }
    // A letter followed by digits ("F3", "L42") is an id or a line number.
    if folded.ends_with(|ch: char| ch.is_ascii_digit()) {
        return None;
    }
    if vocabulary::is_denial(&folded) {
        return Some(Token::Word(folded));
    }
    let word = folded.split('\'').next().unwrap_or_default();
    (!word.is_empty()).then(|| Token::Word(word.to_string()))
}

fn straighten_quote(ch: char) -> char {
    if ch == '’' { '\'' } else { ch }
}

/// Whether a chunk is an identifier or a path rather than a word.
fn is_name(core: &str, tail: &str) -> bool {
    let has_letters = core.contains(char::is_alphabetic);
    let is_path =
        core.matches('/').count() > 1 || core.contains('\\') || (core.contains('/') && core.contains('.'));
    let has_joiner =
        core.contains('_') || core.contains("::") || core.contains("->") || tail.starts_with("()");
    has_letters && (is_path || has_joiner || has_inner_dot(core) || has_hump(core))
}

fn has_inner_dot(core: &str) -> bool {
    core.split('.').count() > 1 && core.split('.').all(|part| part.starts_with(char::is_alphanumeric))
}

/// Whether an upper-case letter follows a lower-case one: `camelCase`.
fn has_hump(core: &str) -> bool {
    let mut pairs = core.chars().zip(core.chars().skip(1));
    pairs.any(|(one, two)| one.is_lowercase() && two.is_uppercase())
}

/// The stems of an identifier's parts: `maxLen`, `max_len` and "max len" have the same parts.
pub(super) fn name_parts(name: &str) -> BTreeSet<String> {
    let mut parts = BTreeSet::new();
    let mut part = String::new();
    let mut after_lowercase = false;
    for ch in name.chars() {
        let is_hump = after_lowercase && ch.is_uppercase();
        if is_hump || !ch.is_alphanumeric() {
            parts.insert(vocabulary::stem(&core::mem::take(&mut part)));
        }
        if ch.is_alphanumeric() {
            part.extend(ch.to_lowercase());
        }
        after_lowercase = ch.is_lowercase();
    }
    parts.insert(vocabulary::stem(&part));
    parts.remove("");
    parts
}

/// Folds case, white space and punctuation, but keeps symbols with a meaning ("<", "=").
pub(super) fn normalize(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for ch in text.chars() {
        if ch.is_alphanumeric() || "<>=!+*%&|_".contains(ch) {
            folded.extend(ch.to_lowercase());
        } else if !folded.ends_with(' ') && !folded.is_empty() {
            folded.push(' ');
        }
    }
    folded.truncate(folded.trim_end_matches([' ', '!']).len());
    folded
}
