//! The content of a scripted file: text, or bytes in base64.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

/// The content of a file in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptedContent {
    Text(String),
    Bytes(Vec<u8>),
}

impl ScriptedContent {
    /// Text if YAML preserves it, otherwise bytes.
    pub fn from_bytes(bytes: &[u8]) -> ScriptedContent {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.chars().all(is_plain) => ScriptedContent::Text(text.to_owned()),
            Ok(_) | Err(_) => ScriptedContent::Bytes(bytes.to_owned()),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            ScriptedContent::Text(text) => text.as_bytes(),
            ScriptedContent::Bytes(bytes) => bytes,
        }
    }

    /// Converts text to bytes, for text that YAML does not preserve.
    #[must_use]
    pub fn into_bytes(self) -> ScriptedContent {
        match self {
            ScriptedContent::Text(text) => ScriptedContent::Bytes(text.into_bytes()),
            ScriptedContent::Bytes(bytes) => ScriptedContent::Bytes(bytes),
        }
    }
}

/// Whether YAML preserves a character. YAML changes byte order marks, line separators and most control characters.
fn is_plain(c: char) -> bool {
    matches!(c, '\n' | '\t')
        || !(c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'))
}

/// A file and its content: `{path, text}` or `{path, base64}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct FileContent {
    pub path: String,
    pub content: ScriptedContent,
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
            (Some(text), None) => ScriptedContent::Text(text),
            (None, Some(base64)) => ScriptedContent::Bytes(decode_base64(&base64)?),
            (Some(_), Some(_)) => return Err("give `text` or `base64`, not both".to_owned()),
            (None, None) => return Err("give the content of the file as `text` or `base64`".to_owned()),
        };
        Ok(FileContent { path: fields.path, content })
    }
}

impl From<FileContent> for Fields {
    fn from(file: FileContent) -> Fields {
        let (text, base64) = match file.content {
            ScriptedContent::Text(text) => (Some(text), None),
            ScriptedContent::Bytes(bytes) => (None, Some(encode_base64(&bytes))),
        };
        Fields { path: file.path, text, base64 }
    }
}

pub(super) fn encode_base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

pub(super) fn decode_base64(text: &str) -> Result<Vec<u8>, String> {
    let compact: String = text.split_ascii_whitespace().collect();
    BASE64_STANDARD.decode(compact).map_err(|error| format!("not base64: {error}"))
}
