//! Stored text made fit for lines of a terminal: cleaned, measured, cut and wrapped.

use remand_runtime::contract;
use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text without escapes and controls; its line breaks stay.
pub fn clean(text: &str) -> Cow<'_, str> {
    contract::clean(text)
}

/// The text in one line, cleaned, with single spaces.
pub fn one(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first line that says something, cleaned.
pub fn first(text: &str) -> String {
    clean(text).lines().map(one).find(|line| !line.is_empty()).unwrap_or_default()
}

/// How many columns a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// A text filled up with spaces.
pub fn pad(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// A text of at most so many columns; what is left out is marked.
pub fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_string();
    }
    let head = head(text, most.saturating_sub(1));
    format!("{}…", text[..head].trim_end())
}

/// Breaks a text at spaces into lines of at most so many columns. A word that is longer is broken, too.
pub fn wrap(text: &str, most: usize) -> Vec<String> {
    let most = most.max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word;
        let used = lines.last().map_or(0, |line| width(line));
        if used > 0 && used + 1 + width(word) > most {
            lines.push(String::new());
        }
        while width(word) > most {
            let at = head(word, most).max(word.chars().next().map_or(0, char::len_utf8));
            let (now, rest) = word.split_at(at);
            match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(now),
                Some(_) | None => lines.push(now.to_string()),
            }
            lines.push(String::new());
            word = rest;
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() && !word.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    if lines.len() > 1 && lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// How many bytes of a text fit into so many columns.
fn head(text: &str, most: usize) -> usize {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > most {
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
    fn wide_characters_count_twice() {
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(wrap("漢字漢字", 4), ["漢字", "漢字"]);
        assert!(wrap("漢", 1).iter().any(|line| line == "漢"));
    }

    #[test]
    fn the_first_line_that_says_something_is_shown() {
        assert_eq!(first("\n \t\n Add  a\tflag\nand more"), "Add a flag");
    }
}
