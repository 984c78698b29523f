//! Estimated widths of text in a sans-serif font. The estimates are high, because the viewer's font is unknown.

use textwrap::core::Fragment;

/// The width of a string in pixels at a font size.
pub fn width(text: &str, size: i32) -> i32 {
    let thousandths: i32 = text.chars().map(per_mille).sum();
    thousandths * size / 1000 + 1
}

/// Breaks text at spaces into lines of at most `limit` pixels.
pub fn wrap(text: &str, size: i32, limit: i32) -> Vec<String> {
    let words: Vec<Word<'_>> = text.split(' ').filter(|word| !word.is_empty()).map(Word).collect();
    // The same limit as `width(line, size) <= limit`, in thousandths of the font size.
    let room = f64::from((limit * 1000 - 1) / size);
    let lines = textwrap::wrap_algorithms::wrap_first_fit(&words, &[room]);
    lines.into_iter().map(|line| line.iter().map(|word| word.0).collect::<Vec<_>>().join(" ")).collect()
}

/// A word, measured in thousandths of the font size.
#[derive(Debug)]
struct Word<'t>(&'t str);

impl Fragment for Word<'_> {
    fn width(&self) -> f64 {
        f64::from(self.0.chars().map(per_mille).sum::<i32>())
    }

    fn whitespace_width(&self) -> f64 {
        f64::from(per_mille(' '))
    }

    fn penalty_width(&self) -> f64 {
        0.0
    }
}

/// The advance of a character in thousandths of the font size, after DejaVu Sans, the widest of the usual fonts.
fn per_mille(c: char) -> i32 {
    match c {
        'i' | 'j' | 'l' | '\'' => 280,
        ' ' | '\u{a0}' | ',' | '.' | ':' | ';' | '|' | '/' | 'f' | '-' | '(' | ')' | 't' => 390,
        'r' | 's' | '*' => 520,
        'c' | 'k' | 'v' | 'x' | 'y' | 'z' => 590,
        'm' | 'M' | 'W' | '—' | '…' => 990,
        'w' | '<' | '>' | '=' | '+' => 840,
        'A'..='Z' => 720,
        _ => 640,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_string_is_wider() {
        assert!(width("needs-work, block", 11) > width("needs-work", 11));
    }

    #[test]
    fn lines_stay_within_the_limit_if_words_allow() {
        let lines = wrap("changes-requested, not-within-design, security-blocker", 11, 200);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 11) <= 200));
    }
}
