//! Escapes text for Markdown, so that content cannot become structure.

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
            out.push_str(&escaped(part));
            if at % 2 == 1 && at + 1 < parts.len() {
                out.push_str("\\`");
            }
        }
    }
    out
}

/// A code span that its content cannot close.
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

/// Multi-line text, with continuation lines at this indentation. Empty lines separate paragraphs.
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
    // Undo earlier escaping first, so that a bar is escaped exactly once, even inside code.
    lines.join("<br>").replace("\\|", "|").replace('|', "\\|")
}

/// A fenced block that its content cannot close.
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

/// Markdown text with any open fence closed.
pub(crate) fn closed(text: &str) -> String {
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let body = line.trim_start();
        let Some(mark) = body.chars().next().filter(|c| matches!(c, '`' | '~')) else { continue };
        let rest = body.trim_start_matches(mark);
        let length = body.len() - rest.len();
        match open {
            None if length >= 3 => open = Some((mark, length)),
            Some((with, least)) if mark == with && length >= least && rest.trim().is_empty() => open = None,
            None | Some(_) => {}
        }
    }
    let body = text.trim_end();
    match open {
        Some((mark, length)) => format!("{body}\n{}\n", mark.to_string().repeat(length)),
        None => format!("{body}\n"),
    }
}

/// A field name for people: `acceptance_criteria` becomes `Acceptance criteria`.
pub(crate) fn label(key: &str) -> String {
    let words = key.replace(['_', '-'], " ");
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => escaped(&first.to_uppercase().chain(letters).collect::<String>()),
        None => String::new(),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let letters: Vec<char> = text.chars().collect();
    let is_word = |at: Option<usize>| {
        at.and_then(|at| letters.get(at)).is_some_and(|c| c.is_alphanumeric() || *c == '_')
    };
    let start = letters.iter().position(|c| !c.is_whitespace()).unwrap_or(0);
    let number = letters[start..].iter().take_while(|c| c.is_ascii_digit()).count();
    for (at, c) in letters.iter().enumerate() {
        let is_inside_word = is_word(at.checked_sub(1)) && is_word(Some(at + 1));
        let ends_number = number > 0 && at == start + number;
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '_' if is_inside_word => out.push('_'),
            '\\' | '*' | '_' | '[' | ']' | '>' | '#' | '|' | '~' | '`' => out.extend(['\\', *c]),
            '!' if letters.get(at + 1) == Some(&'[') => out.push_str("\\!"),
            '-' | '+' | '=' | ':' if at == start => out.extend(['\\', *c]),
            '.' | ')' if ends_number => out.extend(['\\', *c]),
            c => out.push(*c),
        }
    }
    out
}
