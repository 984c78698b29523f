//! Escapes text for Markdown, so content cannot become structure.

use super::problem::fence_for;

/// One line of text. Pairs of backticks remain code; all other Markdown syntax is escaped.
pub fn inline(text: &str) -> String {
    let line = text.replace(['\n', '\r'], " ");
    let parts: Vec<&str> = line.split('`').collect();
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        let is_code = at % 2 == 1 && at + 1 < parts.len() && !part.trim().is_empty();
        if is_code {
            out.push_str(&code(part));
        } else {
            if at % 2 == 1 {
                out.push_str("\\`");
            }
            out.push_str(&escape(part));
            if at % 2 == 1 && at + 1 < parts.len() {
                out.push_str("\\`");
            }
        }
    }
    out
}

/// A code span. Its delimiters are longer than any run of backticks in the text, so the text cannot close it.
pub fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    if text.trim().is_empty() {
        return String::new();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest > 0 || text.starts_with(' ') || text.ends_with(' ') {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

/// Multi-line text. All lines except the first get the indentation; empty lines separate paragraphs.
pub fn block(text: &str, indent: usize) -> String {
    let pad = " ".repeat(indent);
    let mut out = String::new();
    let mut was_text = false;
    for line in text.trim().lines() {
        let line = line.trim();
        if line.is_empty() {
            if was_text {
                out.push('\n');
            }
            was_text = false;
            continue;
        }
        if was_text {
            out.push('\\');
        }
        if !out.is_empty() {
            out.push('\n');
            out.push_str(&pad);
        }
        out.push_str(&inline(line));
        was_text = true;
    }
    out
}

/// A cell of a table.
pub fn cell(text: &str) -> String {
    let lines: Vec<String> = text.trim().lines().map(inline).collect();
    // Undo earlier escaping first, so a bar is escaped exactly once, even inside code.
    lines.join("<br>").replace("\\|", "|").replace('|', "\\|")
}

/// A fenced block. Its fence is longer than any run of backticks in the text, so the text cannot close it.
pub fn fenced(text: &str, language: &str, indent: usize) -> String {
    let fence = fence_for(text);
    let pad = " ".repeat(indent);
    let mut out = format!("{pad}{fence}{language}\n");
    for line in text.trim_end().lines() {
        out.push_str(&format!("{pad}{line}\n"));
    }
    out.push_str(&format!("{pad}{fence}\n"));
    out
}

/// Closes an open fence at the end of Markdown text.
pub(crate) fn close_fences(text: &str) -> String {
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let body = line.trim_start();
        let Some(marker) = body.chars().next().filter(|c| matches!(c, '`' | '~')) else { continue };
        let rest = body.trim_start_matches(marker);
        let length = body.len() - rest.len();
        match open {
            None if length >= 3 => open = Some((marker, length)),
            Some((open_marker, open_length))
                if marker == open_marker && length >= open_length && rest.trim().is_empty() =>
            {
                open = None;
            }
            None | Some(_) => {}
        }
    }
    let body = text.trim_end();
    match open {
        Some((marker, length)) => format!("{body}\n{}\n", marker.to_string().repeat(length)),
        None => format!("{body}\n"),
    }
}

/// A field name for people: `acceptance_criteria` becomes `Acceptance criteria`.
pub(crate) fn label(key: &str) -> String {
    let words = key.replace(['_', '-'], " ");
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => escape(&first.to_uppercase().chain(chars).collect::<String>()),
        None => String::new(),
    }
}

/// Whether an ampersand before this text would start a character reference.
fn starts_entity(rest: &[char]) -> bool {
    let end = rest.iter().position(|c| !c.is_ascii_alphanumeric() && *c != '#');
    end.is_some_and(|end| end > 0 && rest[end] == ';')
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let chars: Vec<char> = text.chars().collect();
    let is_word =
        |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let start = chars.iter().position(|c| !c.is_whitespace()).unwrap_or(0);
    let number = chars[start..].iter().take_while(|c| c.is_ascii_digit()).count();
    for (at, c) in chars.iter().enumerate() {
        let is_inside_word = is_word(at.checked_sub(1)) && is_word(Some(at + 1));
        let ends_number = number > 0 && at == start + number;
        match c {
            '&' if starts_entity(&chars[at + 1..]) => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '_' if is_inside_word => out.push('_'),
            '\\' | '*' | '_' | '[' | ']' | '~' | '`' => out.extend(['\\', *c]),
            '!' if chars.get(at + 1) == Some(&'[') => out.push_str("\\!"),
            // A number sign after a space could close a heading.
            '#' if at == start || chars[at - 1].is_whitespace() => out.push_str("\\#"),
            '-' | '+' | '=' | ':' | '>' | '|' if at == start => out.extend(['\\', *c]),
            '.' | ')' if ends_number => out.extend(['\\', *c]),
            c => out.push(*c),
        }
    }
    out
}
