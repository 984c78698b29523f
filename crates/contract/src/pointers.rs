//! Pointers into artifacts, such as `design#payload.decisions[id='D-8']`. An agent gets only the sections that its task
//! points to.

use super::yaml;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// Artifacts by name.
pub type Documents = BTreeMap<String, Value>;

/// One pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The artifact's name as written.
    pub artifact: String,
    pub parts: Vec<PointerPart>,
}

/// One step into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointerPart {
    Key(String),
    Index(usize),
    /// The list entry whose key has this value.
    Where {
        key: String,
        value: String,
    },
}

/// Why a pointer does not resolve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    #[error("`#` is missing between artifact and path")]
    NoPath,
    #[error("the artifact name is missing")]
    NoArtifact,
    #[error("the path must have the form `payload.list[id='X'].field`, but continues with `{0}`")]
    Path(String),
    #[error("unknown artifact `{name}`: {known}")]
    UnknownArtifact { name: String, known: String },
    #[error("`{at}` does not exist")]
    Nothing { at: String },
    #[error("`{at}` matches {times} entries")]
    Ambiguous { at: String, times: usize },
}

impl Pointer {
    pub fn parse(text: &str) -> Result<Pointer, PointerError> {
        let text = text.trim().trim_matches('`');
        let (artifact, path) = text.split_once('#').ok_or(PointerError::NoPath)?;
        let artifact = artifact.trim().trim_matches(['"', '\'', '`']).trim();
        if artifact.is_empty() {
            return Err(PointerError::NoArtifact);
        }
        let mut rest = path.trim().strip_prefix('.').unwrap_or(path.trim());
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let (part, after) = next_part(rest, parts.is_empty())?;
            parts.push(part);
            rest = after;
        }
        if parts.is_empty() {
            return Err(PointerError::Path(String::new()));
        }
        Ok(Pointer { artifact: artifact.to_string(), parts })
    }

    /// Returns the section that the pointer addresses.
    pub fn resolve<'d>(&self, documents: &'d Documents) -> Result<&'d Value, PointerError> {
        let mut at = self.document(documents)?;
        for (depth, part) in self.parts.iter().enumerate() {
            let path_so_far = || {
                Pointer { artifact: self.artifact.clone(), parts: self.parts[..=depth].to_vec() }.to_string()
            };
            at = match part {
                PointerPart::Key(key) => at.get(key),
                PointerPart::Index(index) => at.get(index),
                PointerPart::Where { key, value } => {
                    let items = at.as_array().into_iter().flatten();
                    let matching: Vec<&Value> =
                        items.filter(|item| item.get(key).is_some_and(|it| equals_text(it, value))).collect();
                    match matching.as_slice() {
                        [] => None,
                        [only] => Some(*only),
                        many => return Err(PointerError::Ambiguous { at: path_so_far(), times: many.len() }),
                    }
                }
            }
            .filter(|value| !value.is_null())
            .ok_or_else(|| PointerError::Nothing { at: path_so_far() })?;
        }
        Ok(at)
    }

    fn document<'d>(&self, documents: &'d Documents) -> Result<&'d Value, PointerError> {
        let name = artifact_name(&self.artifact);
        let found = documents.iter().find(|(known, _)| artifact_name(known) == name);
        found.map(|(_, value)| value).ok_or_else(|| PointerError::UnknownArtifact {
            name: self.artifact.clone(),
            known: match documents.keys().map(String::as_str).collect::<Vec<_>>() {
                names if names.is_empty() => "no artifact exists yet".to_string(),
                names => format!("use one of {}", names.join(", ")),
            },
        })
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#", self.artifact)?;
        for (at, part) in self.parts.iter().enumerate() {
            match part {
                PointerPart::Key(key) if at == 0 => f.write_str(key)?,
                PointerPart::Key(key) => write!(f, ".{key}")?,
                PointerPart::Index(index) => write!(f, "[{index}]")?,
                PointerPart::Where { key, value } => write!(f, "[{key}='{value}']")?,
            }
        }
        Ok(())
    }
}

/// The sections that the pointers address, keyed by pointer. Reports every pointer that does not resolve.
pub fn extract(pointers: &[String], documents: &Documents) -> Result<Value, Vec<(String, PointerError)>> {
    let mut sections = Map::new();
    let mut errors = Vec::new();
    for text in pointers {
        let section = Pointer::parse(text).and_then(|pointer| {
            let value = pointer.resolve(documents)?.clone();
            Ok((pointer.to_string(), value))
        });
        match section {
            Ok((pointer, value)) => {
                sections.insert(pointer, value);
            }
            Err(error) => errors.push((text.clone(), error)),
        }
    }
    if errors.is_empty() { Ok(Value::Object(sections)) } else { Err(errors) }
}

/// The sections as YAML, for a prompt.
pub fn extract_yaml(
    pointers: &[String],
    documents: &Documents,
) -> Result<String, Vec<(String, PointerError)>> {
    extract(pointers, documents).map(|sections| yaml::to_yaml(&sections))
}

/// Normalizes an artifact name: `design-output.yaml`, `artifacts/design.yaml` and `design` are the same artifact.
pub fn artifact_name(text: &str) -> String {
    let file = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let stem = ["yaml", "yml", "json", "md"]
        .iter()
        .find_map(|extension| file.strip_suffix(extension)?.strip_suffix('.'));
    let stem = stem.unwrap_or(file).to_lowercase().replace('_', "-");
    stem.strip_suffix("-output").map(str::to_string).unwrap_or(stem)
}

fn equals_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(it) => it == text,
        Value::Number(it) => it.to_string() == text,
        Value::Bool(it) => it.to_string() == text,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

fn next_part(rest: &str, is_first: bool) -> Result<(PointerPart, &str), PointerError> {
    let invalid = || PointerError::Path(rest.to_string());
    if let Some(inner) = rest.strip_prefix('[') {
        if is_first {
            return Err(invalid());
        }
        return parse_bracket(inner).ok_or_else(invalid);
    }
    let body = if is_first { rest } else { rest.strip_prefix('.').ok_or_else(invalid)? };
    let end = body.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(body.len());
    if end == 0 {
        return Err(invalid());
    }
    Ok((PointerPart::Key(body[..end].to_string()), &body[end..]))
}

fn parse_bracket(inner: &str) -> Option<(PointerPart, &str)> {
    let digits = inner.find(|c: char| !c.is_ascii_digit()).unwrap_or(inner.len());
    if digits > 0 {
        let after = inner[digits..].strip_prefix(']')?;
        return Some((PointerPart::Index(inner[..digits].parse().ok()?), after));
    }
    let (key, rest) = inner.split_once('=')?;
    let rest = rest.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (value, rest) = rest[1..].split_once(quote)?;
    let after = rest.trim_start().strip_prefix(']')?;
    let key = key.trim();
    (!key.is_empty() && !value.is_empty())
        .then(|| (PointerPart::Where { key: key.to_string(), value: value.to_string() }, after))
}
