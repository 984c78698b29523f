//! The metadata of a ticket: lines such as `- **Priority**: high`, the number of design revisions, and failed approaches.

use super::Ticket;
use std::ops::Range;

const REVISION_COUNT: &str = "Design Revision Count";
const APPROACHES: &str = "Previous Design Approaches";

/// A failed approach, as the ticket lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastApproach {
    pub text: String,
    /// Decision ids, for example `DD-0079-001`.
    pub decisions: Vec<String>,
}

/// A field whose value is not a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub line: usize,
    pub field: &'static str,
    pub found: String,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: `{}` is `{}`, which is not a number", self.line, self.field, self.found)
    }
}

impl std::error::Error for Unreadable {}

/// One line of metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    key: String,
    /// The number of spaces before the bullet.
    indent: usize,
    /// The value, trimmed.
    value: Range<usize>,
    /// The line of the field, and the indented lines below it.
    lines: Range<usize>,
}

impl Ticket {
    /// The value of a metadata field.
    pub fn field(&self, key: &str) -> Option<&str> {
        self.find(key).map(|field| &self.text()[field.value])
    }

    /// How often the design was revised; 0 if the field is missing or empty.
    pub fn revisions(&self) -> Result<u16, Unreadable> {
        let Some(field) = self.find(REVISION_COUNT) else { return Ok(0) };
        let value = &self.text()[field.value.clone()];
        let digits = count_digits(value);
        if value.is_empty() {
            return Ok(0);
        }
        value[..digits].parse().map_err(|_| Unreadable {
            line: self.page.line_number(field.value.start),
            field: REVISION_COUNT,
            found: value.chars().take(40).collect(),
        })
    }

    /// Sets the number of revisions; a note after the number stays.
    pub fn set_revisions(&mut self, count: u16) {
        let Some(field) = self.find(REVISION_COUNT) else {
            return self.insert_field(&format!("- **{REVISION_COUNT}**: {count}"));
        };
        let value = &self.text()[field.value.clone()];
        let number = field.value.start..field.value.start + count_digits(value);
        let before = if self.text()[..number.start].ends_with([':', '*']) { " " } else { "" };
        self.page.splice(number, &format!("{before}{count}"));
    }

    /// The failed approaches, in the order of the list.
    pub fn approaches(&self) -> Vec<PastApproach> {
        let Some(field) = self.find(APPROACHES) else { return Vec::new() };
        let inline = inline_list(&self.text()[field.value.clone()]);
        let listed = self.approach_lines(&field).into_iter().map(|lines| {
            let text = &self.text()[lines];
            parse_approach(without_bullet(text).unwrap_or(text))
        });
        inline.into_iter().map(|text| parse_approach(&text)).chain(listed).collect()
    }

    /// Appends an approach to the list.
    pub fn add_approach(&mut self, failed: &PastApproach) {
        if self.find(APPROACHES).is_none() {
            self.insert_field(&format!("- **{APPROACHES}**:"));
        }
        let Some(field) = self.find(APPROACHES) else { return };
        let value = &self.text()[field.value.clone()];
        let empty_list =
            value.find(']').filter(|end| value.starts_with('[') && value[1..*end].trim().is_empty());
        let mut end = self.page.end_of_writing(field.lines.clone());
        if let Some(closing) = empty_list {
            let brackets = field.value.start..field.value.start + closing + 1;
            let has_blank = self.text()[brackets.end..].starts_with(' ');
            end -= brackets.len() + usize::from(has_blank);
            self.page.splice(brackets.start..brackets.end + usize::from(has_blank), "");
        }
        let before = if self.text()[..end].ends_with('\n') { "" } else { "\n" };
        let after = if before.is_empty() { "\n" } else { "" };
        let line = format!("{before}{}  - {}{after}", " ".repeat(field.indent), list_item(failed));
        self.page.splice(end..end, &line);
    }

    /// Removes the approach at this position; false if there is none.
    pub fn remove_approach(&mut self, at: usize) -> bool {
        let Some(field) = self.find(APPROACHES) else { return false };
        let inline = inline_list(&self.text()[field.value.clone()]);
        if at < inline.len() {
            let kept = inline.iter().enumerate().filter(|(other, _)| *other != at);
            let kept: Vec<&str> = kept.map(|(_, text)| text.as_str()).collect();
            let value = &self.text()[field.value.clone()];
            let end = value.rfind(']').map_or(value.len(), |at| at + 1);
            let list = field.value.start..field.value.start + end;
            self.page.splice(list, &format!("[{}]", kept.join("; ")));
            return true;
        }
        let Some(lines) = self.approach_lines(&field).into_iter().nth(at - inline.len()) else {
            return false;
        };
        self.page.splice(lines, "");
        true
    }

    /// The lines of each listed approach.
    fn approach_lines(&self, field: &Field) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for line in self.page.lines(field.lines.clone()).skip(1) {
            let text = &self.text()[line.clone()];
            if without_bullet(text).is_some() {
                found.push(line);
            } else if let Some(last) = found.last_mut().filter(|_| !text.trim().is_empty()) {
                last.end = line.end;
            }
        }
        found
    }

    fn find(&self, key: &str) -> Option<Field> {
        let section = self.section(&["Metadata", "Meta data", "Meta"]);
        let body = section.map(|section| self.direct_body(&section));
        let inside = body.and_then(|body| self.fields(body).into_iter().find(|field| field.has_key(key)));
        inside.or_else(|| self.fields(0..self.text().len()).into_iter().find(|field| field.has_key(key)))
    }

    fn fields(&self, within: Range<usize>) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::new();
        let mut is_fenced = false;
        for line in self.page.lines(within) {
            let text = &self.text()[line.clone()];
            if text.trim_start().starts_with("```") || text.trim_start().starts_with("~~~") {
                is_fenced = !is_fenced;
            }
            let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
            let is_nested = fields.last().is_some_and(|field| {
                let between = &self.text()[field.lines.end..line.start];
                indent > field.indent && between.trim().is_empty() && !text.trim().is_empty()
            });
            if is_nested && let Some(field) = fields.last_mut() {
                field.lines.end = line.end;
            } else if !is_fenced && let Some((key, value)) = parse_field(text) {
                let value = line.start + value.start..line.start + value.end;
                fields.push(Field { key, indent, value, lines: line });
            }
        }
        fields
    }

    /// Inserts a field after the last one of the metadata.
    fn insert_field(&mut self, line: &str) {
        let Some(section) = self.section(&["Metadata", "Meta data", "Meta"]) else {
            let before = self.status_section().map_or(self.text().len(), |section| section.body.end);
            return self.insert_section(before, self.level(), "Metadata", line);
        };
        let body = self.direct_body(&section);
        let last = self.fields(body.clone()).pop();
        match last {
            Some(last) => {
                let end = self.page.end_of_writing(last.lines.clone());
                let line = format!("{}{line}", " ".repeat(last.indent));
                let is_listed = without_bullet(&self.text()[last.lines.clone()]).is_some();
                if !is_listed {
                    // After a table or a paragraph a list needs a blank line.
                    self.insert_block(0..end, line.trim_start());
                } else if self.text()[..end].ends_with('\n') {
                    self.page.splice(end..end, &format!("{line}\n"));
                } else {
                    self.page.splice(end..end, &format!("\n{line}"));
                }
            }
            None => {
                let end = self.page.end_of_writing(body.clone()).max(body.start);
                self.insert_block(0..end, line);
            }
        }
    }
}

impl Field {
    fn has_key(&self, key: &str) -> bool {
        self.key.eq_ignore_ascii_case(key)
    }
}

/// The key and the value of a line such as `- **Key**: value`, `* Key: value`, `**Key**: value` or `| Key | value |`.
fn parse_field(line: &str) -> Option<(String, Range<usize>)> {
    if let Some(row) = line.trim().strip_prefix('|').and_then(|row| row.strip_suffix('|')) {
        let (key, value) = row.split_once('|').filter(|(_, value)| !value.contains('|'))?;
        let until = line.trim_end().len() - 1 - (value.len() - value.trim_end().len());
        let key = key.trim().trim_matches(['*', '_']).trim();
        return Some((key.to_string(), until - value.trim().len()..until));
    }
    let bold = || Some(line.trim_start()).filter(|line| line.starts_with("**") || line.starts_with("__"));
    let rest = without_bullet(line).or_else(bold)?;
    let colon = rest.find(':')?;
    let key = rest[..colon].trim().trim_matches(['*', '_']).trim();
    let is_allowed = |letter: char| letter.is_alphanumeric() || " -/&_()".contains(letter);
    if key.is_empty() || !key.chars().all(is_allowed) {
        return None;
    }
    let after = &rest[colon + 1..];
    let value = after.strip_prefix("**").or_else(|| after.strip_prefix("__")).unwrap_or(after);
    let from = line.len() - value.trim_start().len();
    let until = line.trim_end().len();
    Some((key.to_string(), from.min(until)..until))
}

/// The text after the bullet of a list item.
fn without_bullet(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let numbered = || {
        let digits = count_digits(line);
        let rest = line[digits..].strip_prefix(['.', ')'])?;
        (digits > 0).then_some(rest)
    };
    let rest = line.strip_prefix(['-', '*', '+']).or_else(numbered)?;
    rest.strip_prefix([' ', '\t'])
}

fn count_digits(text: &str) -> usize {
    text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len()
}

/// The entries of `[one; two]` or `["one", "two"]`.
fn inline_list(value: &str) -> Vec<String> {
    let Some(inside) = value.strip_prefix('[').and_then(|rest| rest.rsplit_once(']')).map(|(list, _)| list)
    else {
        return Vec::new();
    };
    let parts: Vec<&str> = match inside.contains('"') {
        true => inside.split('"').skip(1).step_by(2).collect(),
        false => inside.split(';').collect(),
    };
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).map(str::to_string).collect()
}

/// Reads an approach from its line: the text, and in brackets at the end the decisions that it was based on.
fn parse_approach(line: &str) -> PastApproach {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let bracket = line.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    if let Some((text, inside)) = bracket {
        let ids: Vec<String> = inside.split(',').map(|id| id.trim().to_string()).collect();
        if ids.iter().all(|id| is_decision(id)) {
            return PastApproach { text: text.trim().to_string(), decisions: ids };
        }
    }
    PastApproach { text: line, decisions: Vec::new() }
}

fn is_decision(id: &str) -> bool {
    let is_plain = id.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    is_plain && id.contains('-') && id.ends_with(|letter: char| letter.is_ascii_digit())
}

fn list_item(failed: &PastApproach) -> String {
    let text = failed.text.split_whitespace().collect::<Vec<_>>().join(" ");
    if failed.decisions.is_empty() { text } else { format!("{text} [{}]", failed.decisions.join(", ")) }
}
