//! Takes out of texts what a terminal or a reader would be fooled by: escapes, controls, direction overrides.

use super::problem::Problem;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The text without terminal escapes and control characters; line feeds and tabs stay, line ends become `\n`.
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

/// Cleans every text and every key of a document. Two keys that become one are a problem, not a merge.
pub(super) fn clean_value(value: Value) -> Result<Value, Problem> {
    Ok(match value {
        Value::String(text) => match clean(&text) {
            Cow::Borrowed(_) => Value::String(text),
            Cow::Owned(cleaned) => Value::String(cleaned),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(clean_value).collect::<Result<_, _>>()?),
        Value::Object(entries) => {
            let mut cleaned = Map::new();
            for (key, entry) in entries {
                let key = clean(&key).into_owned();
                let entry = clean_value(entry)?;
                if cleaned.contains_key(&key) {
                    return Err(Problem::new(
                        key,
                        "each key once",
                        "it twice, apart from control characters",
                    ));
                }
                cleaned.insert(key, entry);
            }
            Value::Object(cleaned)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    })
}

fn is_unwanted(c: char) -> bool {
    let is_direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_direction || c == '\u{feff}' || (c.is_control() && c != '\n' && c != '\t')
}

type Rest<'t> = std::iter::Peekable<std::str::Chars<'t>>;

/// Skips what follows an ESC: a control sequence, a string such as a window title, or a short escape. Only what
/// can belong to an escape is skipped, so that no text is lost with it.
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

/// Skips to the end of a control string: BEL, ST, or the end of the line when it is never ended.
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
