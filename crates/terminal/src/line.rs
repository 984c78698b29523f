//! Cleans, measures, cuts and wraps text for lines of a terminal.

use std::borrow::Cow;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text without escapes and control characters; line breaks stay.
pub fn clean(text: &str) -> Cow<'_, str> {
    remand_notation::clean(text)
}

/// The text on one line, cleaned, with single spaces.
pub fn one(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first line that is not blank, cleaned.
pub fn first(text: &str) -> String {
    clean(text).lines().map(one).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The width of a string in columns.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text, padded with spaces to a number of columns.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text, cut to at most `max` columns, with an ellipsis.
pub fn cut(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_string();
    }
    let length = prefix_length(text, max.saturating_sub(1));
    format!("{}…", text[..length].trim_end())
}

/// Breaks text at spaces into lines of at most `max` columns. A longer word is also broken.
pub fn wrap(text: &str, max: usize) -> Vec<String> {
    let options = Options::new(max.max(1))
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let words: Vec<&str> = text.split_whitespace().collect();
    textwrap::wrap(&words.join(" "), options).into_iter().map(Cow::into_owned).collect()
}

/// Wraps a line at words. Its leading spaces stay, and the lines after the first are indented by `hang` columns more.
pub fn hanging(text: &str, hang: usize, max: usize) -> Vec<String> {
    let lead = text.len() - text.trim_start_matches(' ').len();
    if width(text) <= max {
        return vec![text.to_string()];
    }
    let indent = (lead + hang).min(max / 2);
    let mut lines = wrap(text, max.saturating_sub(indent)).into_iter();
    let first = lines.next().map(|line| format!("{}{line}", " ".repeat(lead)));
    first.into_iter().chain(lines.map(|line| format!("{}{line}", " ".repeat(indent)))).collect()
}

/// The number of bytes of a string that fit into `max` columns.
fn prefix_length(text: &str, max: usize) -> usize {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > max {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_longer_than_the_line_is_broken() {
        assert_eq!(wrap("to /a/very/long/path now", 8), ["to", "/a/very/", "long/pat", "h now"]);
        assert_eq!(wrap("12345678", 4), ["1234", "5678"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn a_long_line_is_wrapped_at_words_below_its_own_indent() {
        assert_eq!(hanging("  ab cd", 2, 10), ["  ab cd"]);
        assert_eq!(hanging("  ab cd ef gh", 2, 9), ["  ab cd", "    ef gh"]);
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(wrap("漢字漢字", 4), ["漢字", "漢字"]);
        assert!(wrap("漢", 1).iter().any(|line| line == "漢"));
    }

    #[test]
    fn the_first_line_that_is_not_blank_is_shown() {
        assert_eq!(first("\n \t\n Add  a\tflag\nand more"), "Add a flag");
    }
}
