//! Removes everything that would mislead a terminal or a reader: escapes, control characters, direction overrides.

use std::borrow::Cow;

/// The text without terminal escapes and control characters; line feeds and tabs stay, and line endings become `\n`.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_unwanted(c) || c == '\r') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_parameters(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut rest),
            '\r' => {
                rest.next_if_eq(&'\n');
                out.push('\n');
            }
            c if is_unwanted(c) => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn is_unwanted(c: char) -> bool {
    let is_direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_direction || c == '\u{feff}' || (c.is_control() && c != '\n' && c != '\t')
}

type Rest<'t> = std::iter::Peekable<std::str::Chars<'t>>;

/// Skips the rest of an escape after its ESC: a control sequence, a string such as a window title, or a short escape.
/// Stops at the first character that cannot belong to an escape, so that no text is lost.
fn skip_escape(rest: &mut Rest<'_>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_parameters(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            skip_string(rest);
        }
        Some(' '..='/') => {
            while rest.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            rest.next_if(|c| matches!(c, '0'..='~'));
        }
        Some('0'..='~') => {
            rest.next();
        }
        Some(_) | None => {}
    }
}

fn skip_parameters(rest: &mut Rest<'_>) {
    while rest.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    rest.next_if(|c| matches!(c, '@'..='~'));
}

/// Skips to the end of a control string: BEL, ST, or the end of the line if the terminator is missing.
fn skip_string(rest: &mut Rest<'_>) {
    while let Some(c) = rest.next_if(|c| *c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                rest.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CORE-09
    #[test]
    fn cleaning_removes_escapes_and_keeps_everything_else() {
        for text in ["plain", "a\n\tb", "żółć 🟢 — ok", "[31m stays", ""] {
            assert_eq!(clean(text), text);
        }
        assert_eq!(clean("\u{1b}7a\u{1b}(Bb\u{1b}Pq\u{1b}\\c\u{1b}"), "abc");
        assert_eq!(clean("\u{1b}]8;;never ended\nnext"), "\nnext");
        assert_eq!(clean("\u{1b}[31€"), "€");
    }
}
