//! Text in columns: wrapping at words and aligning cells.

use std::borrow::Cow;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Drawings for the terminal are at most this wide.
pub const WIDTH: usize = 110;

/// Breaks text at spaces into lines of at most `width` columns; a longer word gets a separate line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .break_words(false);
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    textwrap::wrap(&words.join(" "), options).into_iter().map(Cow::into_owned).collect()
}

/// Pads a string with spaces to a width.
pub fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}

/// A table with wrapped cells; the first row is the head. Only a long word makes a column wider than its limit.
pub fn table(rows: &[Vec<String>], limits: &[usize]) -> String {
    let widths: Vec<usize> =
        limits.iter().enumerate().map(|(at, limit)| column_width(rows, at, *limit)).collect();
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        let cells: Vec<Vec<String>> =
            row.iter().zip(&widths).map(|(cell, width)| wrap_indented(cell, *width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let parts: Vec<String> = cells
                .iter()
                .zip(&widths)
                .map(|(cell, width)| pad(cell.get(line).map_or("", String::as_str), *width))
                .collect();
            text.push_str(parts.join("  ").trim_end());
            text.push('\n');
        }
        if at == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            text.push_str(&rules.join("  "));
            text.push('\n');
        }
    }
    text
}

fn column_width(rows: &[Vec<String>], column: usize, limit: usize) -> usize {
    let cells = rows.iter().filter_map(|row| row.get(column));
    let lines = cells.flat_map(|cell| wrap_indented(cell, limit));
    lines.map(|line| line.chars().count()).max().unwrap_or(0)
}

fn wrap_indented(cell: &str, width: usize) -> Vec<String> {
    let indent = cell.len() - cell.trim_start().len();
    let spaces = " ".repeat(indent);
    wrap(cell, width.saturating_sub(indent)).iter().map(|line| format!("{spaces}{line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_at_a_space_before_the_limit() {
        assert_eq!(wrap("needs-work, block, repeated", 18), ["needs-work, block,", "repeated"]);
    }

    #[test]
    fn a_word_longer_than_the_limit_is_kept_whole() {
        assert_eq!(wrap("a security-blocker", 4), ["a", "security-blocker"]);
    }

    #[test]
    fn columns_are_aligned_and_lines_do_not_end_in_spaces() {
        let rows = vec![vec!["phase".into(), "route".into()], vec!["  plan".into(), String::new()]];
        assert_eq!(table(&rows, &[20, 20]), "phase   route\n──────  ─────\n  plan\n");
    }
}
