//! What a scripted file holds: text, or bytes in base64.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

/// Bytes as they stand in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Text(String),
    Bytes(Vec<u8>),
}

impl Content {
    /// Takes bytes as text where a script can show them as such.
    pub fn of(bytes: &[u8]) -> Content {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.chars().all(is_plain) => Content::Text(text.to_owned()),
            Ok(_) | Err(_) => Content::Bytes(bytes.to_owned()),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Content::Text(text) => text.as_bytes(),
            Content::Bytes(bytes) => bytes,
        }
    }

    /// Turns text into bytes, for text that does not come through YAML unchanged.
    #[must_use]
    pub fn encoded(self) -> Content {
        match self {
            Content::Text(text) => Content::Bytes(text.into_bytes()),
            Content::Bytes(bytes) => Content::Bytes(bytes),
        }
    }
}

/// Tells whether YAML keeps a character as it is: no other control characters, no other line ends, no marks of order.
fn is_plain(c: char) -> bool {
    matches!(c, '\n' | '\t')
        || !(c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'))
}

/// A file and what it holds: `{path, text}` or `{path, base64}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct FileContent {
    pub path: String,
    pub content: Content,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl TryFrom<Fields> for FileContent {
    type Error = String;

    fn try_from(fields: Fields) -> Result<FileContent, String> {
        let content = match (fields.text, fields.base64) {
            (Some(text), None) => Content::Text(text),
            (None, Some(base64)) => Content::Bytes(decoded(&base64)?),
            (Some(_), Some(_)) => return Err("give `text` or `base64`, not both".to_owned()),
            (None, None) => return Err("give what the file holds as `text` or `base64`".to_owned()),
        };
        Ok(FileContent { path: fields.path, content })
    }
}

impl From<FileContent> for Fields {
    fn from(file: FileContent) -> Fields {
        let (text, base64) = match file.content {
            Content::Text(text) => (Some(text), None),
            Content::Bytes(bytes) => (None, Some(encoded(&bytes))),
        };
        Fields { path: file.path, text, base64 }
    }
}

pub(super) fn encoded(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

pub(super) fn decoded(text: &str) -> Result<Vec<u8>, String> {
    let compact: String = text.split_ascii_whitespace().collect();
    BASE64_STANDARD.decode(compact).map_err(|error| format!("not base64: {error}"))
}
