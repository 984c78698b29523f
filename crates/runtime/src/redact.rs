//! Takes secrets out of texts before they reach a prompt, an artifact or the ledger (EP-30).
//!
//! Two sources: the values of secret environment variables, and shapes that keys are known by (`shapes.rs`). What is
//! taken out is named, never shown, and its length is not kept.

mod put_back;
mod shapes;

pub use put_back::PutBack;

use regex::Regex;
use serde_json::{Map, Value};
use shapes::{Shape, known_shapes};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// What the user configures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Variables whose values are secret, whatever their names look like.
    pub secret_variables: Vec<String>,
    /// More shapes, by name; of a pattern with a group, the first group is taken out.
    pub patterns: Vec<(String, String)>,
}

/// Why secrets cannot be taken out as configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedactError {
    #[error("the secret pattern `{name}` is no regular expression: {why}; correct it in the configuration")]
    Pattern { name: String, why: String },
    #[error("the secret pattern `{name}` matches the empty text: make it match what is secret only")]
    Empty { name: String },
    #[error(
        "the value of the secret variable `{name}` has fewer than {least} characters, so that hiding it would \
         garble every text: set a longer value or take it off the list"
    )]
    Short { name: String, least: usize },
}

/// Below this, a value is too common to be taken for a secret by its variable's name alone.
const GUESSED_LENGTH: usize = 8;
/// Below this, hiding a value would hide half of every text.
const LEAST_LENGTH: usize = 4;
/// A line of a secret with several lines counts as secret by itself from here on.
const LINE_LENGTH: usize = 16;

/// Takes secrets out of texts.
#[derive(Clone, Debug)]
pub struct Redactor {
    values: Vec<Secret>,
    /// Those that the user configured.
    shapes: Vec<Shape>,
}

#[derive(Clone)]
struct Secret {
    value: String,
    marker: String,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.marker)
    }
}

/// A part of a text that is to be replaced.
struct Span<'m> {
    start: usize,
    end: usize,
    marker: &'m str,
}

impl Redactor {
    /// A redactor for this environment. Fails on a pattern that cannot be used; nothing is silently left out.
    pub fn new(
        environment: impl IntoIterator<Item = (String, String)>,
        rules: &Rules,
    ) -> Result<Redactor, RedactError> {
        let mut secrets: Vec<(String, String)> = Vec::new();
        for (name, value) in environment {
            let is_configured = rules.secret_variables.contains(&name);
            let length = value.trim().chars().count();
            if is_configured && length > 0 && length < LEAST_LENGTH {
                return Err(RedactError::Short { name, least: LEAST_LENGTH });
            }
            let is_guessed = length >= GUESSED_LENGTH && looks_secret(&name) && !is_path(&value);
            if (is_configured && length > 0) || is_guessed {
                secrets.extend(forms(&value).into_iter().map(|form| (name.clone(), form)));
            }
        }
        let mut shapes = Vec::new();
        for (name, pattern) in &rules.patterns {
            let regex = Regex::new(pattern).map_err(|error| RedactError::Pattern {
                name: name.clone(),
                why: one_line(&error.to_string()),
            })?;
            if regex.is_match("") {
                return Err(RedactError::Empty { name: name.clone() });
            }
            shapes.push(Shape::given(name, regex));
        }
        let plain: Vec<String> = secrets.iter().map(|(_, value)| value.clone()).collect();
        let values = secrets
            .into_iter()
            .enumerate()
            .map(|(at, (name, value))| Secret { marker: marker(&name, at, &plain), value })
            .collect();
        Ok(Redactor { values, shapes })
    }

    /// The text with every secret replaced by `[secret: NAME]`.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let spans = self.spans(text);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(without(text, 0..text.len(), &spans))
    }

    /// The same for bytes, of which some may be no text.
    pub fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return match self.redact(text) {
                Cow::Borrowed(_) => Cow::Borrowed(bytes),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            };
        }
        let mut out = Vec::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            out.extend_from_slice(self.redact(chunk.valid()).as_bytes());
            out.extend_from_slice(chunk.invalid());
        }
        Cow::Owned(out)
    }

    /// The same for every text and key of a document.
    pub fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.redact(text) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(entries) => {
                // Of keys that become one the last in order counts.
                entries.sort_keys();
                let redacted = std::mem::take(entries).into_iter().map(|(key, mut entry)| {
                    self.redact_value(&mut entry);
                    (self.redact(&key).into_owned(), entry)
                });
                *entries = redacted.collect::<Map<String, Value>>();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// What the first secret in a document would be replaced by.
    pub fn first_in(&self, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => self.spans(text).first().map(|span| span.marker.to_string()),
            Value::Array(items) => items.iter().find_map(|item| self.first_in(item)),
            Value::Object(entries) => entries.iter().find_map(|(key, entry)| {
                self.spans(key).first().map(|span| span.marker.to_string()).or_else(|| self.first_in(entry))
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    /// What is to be replaced, in order and without overlap. Spans that overlap become one, so that no rest of a
    /// secret stays beside another.
    fn spans(&self, text: &str) -> Vec<Span<'_>> {
        let mut spans: Vec<Span<'_>> = Vec::new();
        for secret in &self.values {
            let mut from = 0;
            while let Some(start) = text[from..].find(&secret.value).map(|at| at + from) {
                spans.push(Span { start, end: start + secret.value.len(), marker: &secret.marker });
                from = start + text[start..].chars().next().map_or(1, char::len_utf8);
            }
        }
        for shape in known_shapes().iter().chain(&self.shapes) {
            spans.extend(shape.find(text).map(|(start, end)| Span { start, end, marker: &shape.marker }));
        }
        spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        let mut merged: Vec<Span<'_>> = Vec::new();
        for span in spans {
            match merged.last_mut() {
                Some(last) if span.start < last.end => last.end = last.end.max(span.end),
                Some(_) | None => merged.push(span),
            }
        }
        merged
    }
}

/// A part of a text with its spans replaced.
fn without(text: &str, part: Range<usize>, spans: &[Span<'_>]) -> String {
    let mut out = String::with_capacity(part.len());
    let mut at = part.start;
    for span in spans {
        out.push_str(&text[at..span.start]);
        out.push_str(span.marker);
        at = span.end;
    }
    out.push_str(&text[at..part.end]);
    out
}

/// Tells whether a variable of this name holds a secret.
fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let describes =
        ["PATH", "FILE", "DIR", "NAME", "TYPE", "LIMIT", "MAX", "BUDGET", "COUNT", "TTL", "TIMEOUT", "SOCK"];
    if words.iter().any(|word| describes.contains(word)) {
        return false;
    }
    let stems =
        ["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "CREDENTIAL", "APIKEY", "PRIVATEKEY", "ACCESSKEY"];
    stems.iter().any(|stem| name.contains(stem))
        || words.iter().any(|word| matches!(*word, "KEY" | "PAT" | "PASS") || word.ends_with("TOKEN"))
}

/// A variable may name a file that holds the secret; the name of that file is none.
fn is_path(value: &str) -> bool {
    let path = Path::new(value.trim());
    path.is_absolute() && path.exists()
}

/// The ways in which a value may stand in a text: as it is, inside JSON, in an address, in base64, and line by line.
fn forms(value: &str) -> Vec<String> {
    let value = value.trim();
    let mut forms = vec![value.to_string()];
    let json = Value::from(value).to_string();
    forms.push(json.trim_matches('"').to_string());
    forms.push(percent_encoded(value));
    if value.len() >= GUESSED_LENGTH {
        forms.push(base64_head(value.as_bytes()));
    }
    forms.extend(value.lines().map(str::trim).filter(|line| line.len() >= LINE_LENGTH).map(str::to_string));
    forms.retain(|form| form.chars().count() >= LEAST_LENGTH);
    forms.sort();
    forms.dedup();
    forms
}

fn percent_encoded(value: &str) -> String {
    let mut out = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The base64 text of the whole groups of three bytes: what follows may differ with what stands after the value.
fn base64_head(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks_exact(3) {
        let bits = (u32::from(group[0]) << 16) | (u32::from(group[1]) << 8) | u32::from(group[2]);
        for shift in [18, 12, 6, 0] {
            out.push(char::from(DIGITS[((bits >> shift) & 63) as usize]));
        }
    }
    out
}

/// A marker that holds no secret itself, even when a secret is as harmless as its variable's name.
fn marker(name: &str, at: usize, secrets: &[String]) -> String {
    let candidates = [format!("[secret: {name}]"), format!("[secret: {at}]"), "[hidden]".to_string()];
    let is_safe = |candidate: &String| !secrets.iter().any(|secret| candidate.contains(secret.as_str()));
    candidates.into_iter().find(is_safe).unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
