//! The front matter of a foreign file, read with the leniency that its tool has.

use crate::diagnostic::{Diagnostic, tidy};
use crate::front::front_matter;
use crate::source::{At, Source};
use crate::yaml::{self, Key, Node, Value};

/// A foreign file taken apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    pub entries: Vec<(Key, Node)>,
    /// The description where it had to be read by the line.
    pub about: Option<String>,
    pub body: String,
}

impl Front {
    /// Reads a file; without front matter all of it is the body.
    pub fn read(source: &Source) -> Result<Front, Vec<Diagnostic>> {
        let Some((front, body)) = front_matter(source) else {
            return Ok(Front { body: source.text.clone(), ..Front::default() });
        };
        let body = source.text[body..].to_string();
        if front.text.trim().is_empty() {
            return Ok(Front { body, ..Front::default() });
        }
        let mut problems = Vec::new();
        if let Some(root) = yaml::parse(&front, &mut problems).filter(|_| problems.is_empty()) {
            return Ok(Front { entries: entries(root), about: None, body });
        }
        // Descriptions are written without quotes, colons and all, and their tools take them.
        let Some((about, front)) = without_description(&front) else {
            return Err(tidy(problems));
        };
        let mut left = Vec::new();
        match yaml::parse(&front, &mut left).filter(|_| left.is_empty()) {
            Some(root) => Ok(Front { entries: entries(root), about: Some(about), body }),
            None => Err(tidy(problems)),
        }
    }

    pub fn entry(&self, key: &str) -> Option<&(Key, Node)> {
        self.entries.iter().find(|(known, _)| known.name == key)
    }
}

fn entries(root: Node) -> Vec<(Key, Node)> {
    match root.value {
        Value::Map(entries) => entries,
        Value::Empty | Value::Text(_) | Value::List(_) => Vec::new(),
    }
}

/// The description by the line, and the front matter with quoted blanks in its place, so that places stay.
fn without_description(front: &Source) -> Option<(String, Source)> {
    const KEY: &str = "\ndescription:";
    let start = front.text.find(KEY)? + KEY.len();
    let is_key = |line: &str| line.starts_with(|c: char| c.is_ascii_alphabetic()) && line.contains(':');
    let mut end = start;
    for (at, line) in front.text[start..].split_inclusive('\n').enumerate() {
        if at > 0 && is_key(line) {
            break;
        }
        end += line.len();
    }
    let value = front.text[start..end].trim_end();
    let text = value.trim().to_string();
    let blank: String = value.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    // Continued lines of a quoted text are indented, as these blanks are.
    let quoted = match blank.len() {
        0..3 => return None,
        length => format!(" \"{}\"", &blank[2..length - 1]),
    };
    let rest = &front.text[start + value.len()..];
    Some((text, Source::new(front.name.clone(), format!("{}{quoted}{rest}", &front.text[..start]))))
}

/// A text in one line.
pub(super) fn line(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.trim().to_string()),
        Value::Empty | Value::List(_) | Value::Map(_) => None,
    }
}

/// A list of words, or a text with commas between them; commas in brackets are part of a word.
pub(super) fn words(node: &Node) -> Vec<At<String>> {
    let texts: Vec<(&str, &Node)> = match &node.value {
        Value::Text(text) => split(text).into_iter().map(|word| (word, node)).collect(),
        Value::List(items) => items
            .iter()
            .filter_map(
                |item| if let Value::Text(text) = &item.value { Some((text.as_str(), item)) } else { None },
            )
            .collect(),
        Value::Empty | Value::Map(_) => Vec::new(),
    };
    let words = texts.into_iter().map(|(word, node)| At::new(word.trim().to_string(), node.span));
    words.filter(|word| !word.it.is_empty()).collect()
}

fn split(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}
