//! Reads the front matter of a foreign file as leniently as its tool does.

use crate::diagnostic::{Diagnostic, tidy};
use crate::front::front_matter;
use crate::source::{SourceText, Spanned};
use crate::yaml::{self, YamlKey, YamlNode, YamlValue};

/// The parsed parts of a foreign file.
#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    pub entries: Vec<(YamlKey, YamlNode)>,
    /// The description, if it is not valid YAML and had to be read line by line.
    pub about: Option<String>,
    pub body: String,
}

impl Front {
    /// Reads a file. Without front matter, the whole file is the body.
    pub fn read(source: &SourceText) -> Result<Front, Vec<Diagnostic>> {
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
        // Descriptions are often unquoted although they contain colons, and the tools accept them.
        let Some((about, front)) = without_description(&front) else {
            return Err(tidy(problems));
        };
        let mut problems_left = Vec::new();
        match yaml::parse(&front, &mut problems_left).filter(|_| problems_left.is_empty()) {
            Some(root) => Ok(Front { entries: entries(root), about: Some(about), body }),
            None => Err(tidy(problems)),
        }
    }

    pub fn entry(&self, key: &str) -> Option<&(YamlKey, YamlNode)> {
        self.entries.iter().find(|(known, _)| known.name == key)
    }
}

fn entries(root: YamlNode) -> Vec<(YamlKey, YamlNode)> {
    match root.value {
        YamlValue::Map(entries) => entries,
        YamlValue::Empty | YamlValue::Text(_) | YamlValue::List(_) => Vec::new(),
    }
}

/// Takes the description out of the front matter, line by line. In the returned front matter, quoted blanks replace it,
/// so positions stay the same.
fn without_description(front: &SourceText) -> Option<(String, SourceText)> {
    const KEY: &str = "\ndescription:";
    let start = front.text.find(KEY)? + KEY.len();
    let is_key = |line: &str| line.starts_with(|c: char| c.is_ascii_alphabetic()) && line.contains(':');
    let mut end = start;
    for (index, line) in front.text[start..].split_inclusive('\n').enumerate() {
        if index > 0 && is_key(line) {
            break;
        }
        end += line.len();
    }
    let value = front.text[start..end].trim_end();
    let text = value.trim().to_string();
    let blank: String = value.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    // Continuation lines of a quoted string must be indented, as these blanks are.
    let quoted = match blank.len() {
        0..3 => return None,
        length => format!(" \"{}\"", &blank[2..length - 1]),
    };
    let rest = &front.text[start + value.len()..];
    Some((text, SourceText::new(front.name.clone(), format!("{}{quoted}{rest}", &front.text[..start]))))
}

/// The trimmed string of a node; `None` if the node is not a string.
pub(super) fn trimmed(node: &YamlNode) -> Option<String> {
    match &node.value {
        YamlValue::Text(text) => Some(text.trim().to_string()),
        YamlValue::Empty | YamlValue::List(_) | YamlValue::Map(_) => None,
    }
}

/// The words of a list or of a comma-separated string. Commas in parentheses belong to a word.
pub(super) fn words(node: &YamlNode) -> Vec<Spanned<String>> {
    let texts: Vec<(&str, &YamlNode)> = match &node.value {
        YamlValue::Text(text) => split_words(text).into_iter().map(|word| (word, node)).collect(),
        YamlValue::List(items) => items
            .iter()
            .filter_map(|item| {
                if let YamlValue::Text(text) = &item.value { Some((text.as_str(), item)) } else { None }
            })
            .collect(),
        YamlValue::Empty | YamlValue::Map(_) => Vec::new(),
    };
    let words = texts.into_iter().map(|(word, node)| Spanned::new(word.trim().to_string(), node.span));
    words.filter(|word| !word.value.is_empty()).collect()
}

fn split_words(text: &str) -> Vec<&str> {
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
