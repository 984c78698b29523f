//! Cleans, measures, cuts and wraps text for lines of a terminal.

use std::borrow::Cow;
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

/// Breaks text at spaces into lines of at most `max` columns. A longer word, such as a path, is broken at its punctuation.
pub fn wrap(text: &str, max: usize) -> Vec<String> {
    let max = max.max(1);
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && width(&line) + 1 + width(word) > max {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        let mut rest = word;
        while width(rest) > max {
            let (piece, left) = rest.split_at(break_in(rest, max));
            lines.push(piece.to_string());
            rest = left;
        }
        line.push_str(rest);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Where a word that is too long is broken: after punctuation, if that fills at least half of the line.
fn break_in(word: &str, max: usize) -> usize {
    let fitting = match prefix_length(word, max) {
        0 => word.chars().next().map_or(0, char::len_utf8),
        length => length,
    };
    let after = |punctuation: &[char]| word[..fitting].rfind(punctuation).map(|at| at + 1);
    let strong = after(&['/', '.', ':', ',', ';', '|', '&']).filter(|at| *at >= fitting / 2);
    let weak = after(&['-', '_', '=']).filter(|at| *at >= fitting / 2);
    strong.or(weak).unwrap_or(fitting)
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

/// Wraps a line of a table at words, below its last column: the text after the last gap of at least two spaces.
pub fn below_column(text: &str, max: usize) -> Vec<String> {
    let start = text.rfind("  ").map_or(0, |gap| gap + 2);
    let (lead, last) = text.split_at(start);
    let indent = width(lead);
    if width(text) <= max || indent > max / 2 {
        return hanging(text, 0, max);
    }
    let lines = wrap(last, max - indent).into_iter().enumerate();
    lines.map(|(at, line)| if at == 0 { format!("{lead}{line}") } else { pad("", indent) + &line }).collect()
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
    fn a_word_longer_than_the_line_is_broken_at_its_punctuation() {
        assert_eq!(wrap("to /a/very/long/path now", 8), ["to", "/a/very/", "long/", "path now"]);
        assert_eq!(wrap("tests.test_ten_percent", 12), ["tests.", "test_ten_", "percent"]);
        assert_eq!(wrap("of `tests.shop` now", 11), ["of", "`tests.", "shop` now"]);
        assert_eq!(wrap("12345678", 4), ["1234", "5678"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn a_long_line_is_wrapped_at_words_below_its_own_indent() {
        assert_eq!(hanging("  ab cd", 2, 10), ["  ab cd"]);
        assert_eq!(hanging("  ab cd ef gh", 2, 9), ["  ab cd", "    ef gh"]);
    }

    #[test]
    fn a_row_is_wrapped_below_its_last_column() {
        assert_eq!(below_column("a  bc  de fg", 12), ["a  bc  de fg"]);
        assert_eq!(below_column("a  bc  de fghij kl", 16), ["a  bc  de fghij", "       kl"]);
        assert_eq!(below_column("  ab cd ef", 7), ["  ab cd", "  ef"]);
        assert_eq!(below_column("abcdefgh  i jk", 10), ["abcdefgh i", "jk"]);
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
