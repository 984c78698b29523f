//! Front matter, read line by line. Keys are recognised in any spelling, and a change touches only the value.

use std::ops::Range;

/// One key with its value; a list may span several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    /// The key in lower case, with `-` between its words.
    key: String,
    /// The text after the colon, without surrounding spaces and comments.
    value: Range<usize>,
    /// The lines below the key that are indented or list items.
    below: Range<usize>,
}

/// The front matter of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Front {
    /// The text between the fences; `None` without fences.
    inner: Option<Range<usize>>,
    fields: Vec<Field>,
}

impl Front {
    pub(super) fn read(text: &str) -> Front {
        let Some(inner) = between_fences(text) else {
            return Front::default();
        };
        let mut fields: Vec<Field> = Vec::new();
        let mut at = inner.start;
        for line in text[inner.clone()].split_inclusive('\n') {
            let start = at;
            at += line.len();
            let is_below =
                line.starts_with([' ', '\t', '-', ']']) || line.trim().is_empty() || line.starts_with('#');
            match (is_below, line.split_once(':'), fields.last_mut()) {
                (false, Some((key, rest)), _) => {
                    let value = value_range(text, start + key.len() + 1, rest);
                    fields.push(Field { key: normalized(key), value, below: at..at });
                }
                (true, _, Some(last)) => last.below.end = at,
                (false, None, _) | (true, _, None) => {}
            }
        }
        Front { inner: Some(inner), fields }
    }

    fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// The value of a key, without quotes; empty for a list.
    pub(super) fn value<'t>(&self, text: &'t str, key: &str) -> Option<&'t str> {
        self.field(key).map(|field| unquoted(&text[field.value.clone()]))
    }

    /// The items of a list: in brackets, separated by commas, or one per line.
    pub(super) fn items<'t>(&self, text: &'t str, key: &str) -> Vec<&'t str> {
        let Some(field) = self.field(key) else {
            return Vec::new();
        };
        let value = match &text[field.value.clone()] {
            open if open.starts_with('[') && !open.contains(']') => {
                // A list in brackets that spans several lines.
                let rest = &text[field.value.start..field.below.end];
                &rest[..rest.find(']').unwrap_or(rest.len())]
            }
            whole => whole.trim_end_matches(']'),
        };
        let value = value.trim_start_matches('[');
        let below = text[field.below.clone()].lines().filter_map(|line| line.trim().strip_prefix('-'));
        let below = below.map(|item| item.split(" #").next().unwrap_or(item));
        value
            .split([',', '\n'])
            .chain(below)
            .map(|item| unquoted(item.trim()))
            .filter(|item| !item.is_empty() && !item.starts_with('#'))
            .collect()
    }

    /// The range to replace and the replacement that together set a key to this value.
    pub(super) fn set(&self, text: &str, key: &str, value: &str) -> (Range<usize>, String) {
        match (self.field(key), &self.inner) {
            (Some(field), _) if field.value.is_empty() => (field.value.clone(), format!(" {value}")),
            (Some(field), _) => {
                let old = &text[field.value.clone()];
                let bare = unquoted(old);
                let start = field.value.start + (old.len() - bare.len()) / 2;
                (start..start + bare.len(), value.to_string())
            }
            (None, Some(inner)) => (inner.end..inner.end, format!("{key}: {value}\n")),
            (None, None) => {
                let start = text_start(text);
                (start..start, format!("---\n{key}: {value}\n---\n\n"))
            }
        }
    }
}

/// The start of the text, after a byte order mark.
fn text_start(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

fn between_fences(text: &str) -> Option<Range<usize>> {
    let mut at = text_start(text);
    let mut lines = text[at..].split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    at += first.len();
    let start = at;
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            return Some(start..at);
        }
        at += line.len();
    }
    None
}

/// The range of a value after its colon, without surrounding spaces and a trailing comment.
fn value_range(text: &str, start: usize, rest: &str) -> Range<usize> {
    let lead = rest.len() - rest.trim_start().len();
    let quote = rest[lead..].chars().next().filter(|first| matches!(first, '"' | '\''));
    let closing = quote.and_then(|quote| rest[lead + 1..].find(quote)).map(|at| lead + at + 2);
    let end = closing.or_else(|| rest.find(" #")).unwrap_or(rest.len());
    let value = rest[..end].trim();
    let start = if value.is_empty() { start } else { start + lead };
    debug_assert!(text.is_char_boundary(start));
    start..start + value.len()
}

fn unquoted(value: &str) -> &str {
    let inside = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

/// The key in its usual spelling: `depends-on` for `Depends_On`, `dependsOn` and `depends on`.
fn normalized(key: &str) -> String {
    let mut normalized = String::new();
    let mut last = '-';
    for c in key.trim().chars() {
        if c.is_uppercase() && last.is_lowercase() {
            normalized.push('-');
        }
        normalized.extend(if matches!(c, '_' | ' ') { '-' } else { c }.to_lowercase());
        last = c;
    }
    normalized
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, key: &str, value: &str) -> String {
        let (range, replacement) = Front::read(text).set(text, key, value);
        let mut text = text.to_string();
        text.replace_range(range, &replacement);
        text
    }

    #[test]
    fn keys_and_lists_are_read_in_every_spelling() {
        let text = "---\nStatus: 'Todo' \ndependsOn: [A-1, \"A-2\"]\nlabels:\n  - bug\n  - x # why\n# note\nparent:\n---\n";
        let front = Front::read(text);
        assert_eq!(front.value(text, "status"), Some("Todo"));
        assert_eq!(front.items(text, "depends-on"), ["A-1", "A-2"]);
        assert_eq!(front.items(text, "labels"), ["bug", "x"]);
        assert_eq!(front.value(text, "parent"), Some(""));
        assert_eq!(front.value(text, "none"), None);
    }

    // OT-01
    #[test]
    fn lists_over_several_lines_and_comments_after_quotes_are_read() {
        let text = "---\ndepends-on: [A-1,\n  A-2, # later\n  A-3\n]\nstatus: \"Todo\" # note\n---\n";
        let front = Front::read(text);
        assert_eq!(front.items(text, "depends-on"), ["A-1", "A-2", "A-3"]);
        assert_eq!(front.value(text, "status"), Some("Todo"));
        assert_eq!(set(text, "status", "Done"), text.replace("Todo", "Done"));
    }

    #[test]
    fn a_new_value_keeps_quotes_spaces_comments_and_line_endings() {
        assert_eq!(
            set("---\nstatus:   'Todo'\r\nx: 1\n---\n", "status", "Done"),
            "---\nstatus:   'Done'\r\nx: 1\n---\n"
        );
        assert_eq!(set("---\nstatus: Todo # now\n---\n", "status", "Done"), "---\nstatus: Done # now\n---\n");
        assert_eq!(set("---\nstatus:\n---\n", "status", "Done"), "---\nstatus: Done\n---\n");
        assert_eq!(set("---\nx: 1\n---\n# A\n", "status", "Done"), "---\nx: 1\nstatus: Done\n---\n# A\n");
        assert_eq!(set("# A\n", "status", "Done"), "---\nstatus: Done\n---\n\n# A\n");
        assert_eq!(
            set("\u{feff}---\nstatus: Todo\n---\n", "status", "Done"),
            "\u{feff}---\nstatus: Done\n---\n"
        );
    }
}
