//! Removes secrets from text before it reaches a prompt, an artifact or the ledger.
//!
//! Secrets are the values of secret environment variables, and strings that look like keys (`shapes.rs`). A marker with
//! the secret's name replaces each secret and does not reveal its length.

mod put_back;
mod shapes;

pub use put_back::RestoredText;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use serde_json::{Map, Value};
use shapes::{SecretShape, known_shapes};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// The user's rules about secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedactionRules {
    /// Variables with secret values, whatever their names are.
    pub secret_variables: Vec<String>,
    /// Additional shapes, by name. If a pattern has a group, only the first group is removed.
    pub patterns: Vec<(String, String)>,
}

/// Why a rule cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedactError {
    #[error(
        "the secret pattern `{name}` is not a regular expression: {why}; correct it in the configuration"
    )]
    Pattern { name: String, why: String },
    #[error("the secret pattern `{name}` matches the empty string: make it match only the secret")]
    Empty { name: String },
    #[error(
        "the value of the secret variable `{name}` has fewer than {minimum} characters, and hiding it would garble \
         all text: set a longer value or remove the variable from the list"
    )]
    Short { name: String, minimum: usize },
}

/// Minimum length of a value that counts as secret only because of its variable's name.
const MIN_GUESSED_LENGTH: usize = 8;
/// Minimum length of any secret: hiding shorter values would garble all text.
const MIN_LENGTH: usize = 4;
/// Minimum length at which one line of a longer secret counts as a secret.
const MIN_LINE_LENGTH: usize = 16;

/// Removes secrets from text.
#[derive(Clone, Debug)]
pub struct Redactor {
    values: Vec<Secret>,
    /// The shapes that the user configured.
    shapes: Vec<SecretShape>,
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

/// A part of a string to replace.
struct Span<'m> {
    start: usize,
    end: usize,
    marker: &'m str,
}

impl Redactor {
    /// A redactor for this environment. An unusable pattern is an error, so no rule is silently dropped.
    pub fn new(
        environment: impl IntoIterator<Item = (String, String)>,
        rules: &RedactionRules,
    ) -> Result<Redactor, RedactError> {
        let mut secrets: Vec<(String, String)> = Vec::new();
        for (name, value) in environment {
            let is_configured = rules.secret_variables.contains(&name);
            let length = value.trim().chars().count();
            if is_configured && length > 0 && length < MIN_LENGTH {
                return Err(RedactError::Short { name, minimum: MIN_LENGTH });
            }
            let is_guessed = length >= MIN_GUESSED_LENGTH && looks_secret(&name) && !is_path(&value);
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
            shapes.push(SecretShape::configured(name, regex));
        }
        let plain: Vec<String> = secrets.iter().map(|(_, value)| value.clone()).collect();
        let values = secrets
            .into_iter()
            .enumerate()
            .map(|(index, (name, value))| Secret { marker: marker(&name, index, &plain), value })
            .collect();
        Ok(Redactor { values, shapes })
    }

    /// The text with every secret replaced by `[secret: NAME]`.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let spans = self.spans(text);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(replace_spans(text, 0..text.len(), &spans))
    }

    /// Redacts bytes, which need not be valid UTF-8.
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

    /// Redacts every string and key of a document.
    pub fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.redact(text) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(entries) => {
                // If two keys become equal, the last one in sorted order wins.
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

    /// The marker of the first secret in a document.
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

    /// The parts to replace, in order. Overlapping spans are merged, so no part of a secret remains.
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

/// A part of a string with its spans replaced.
fn replace_spans(text: &str, part: Range<usize>, spans: &[Span<'_>]) -> String {
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

/// Whether a variable with this name probably contains a secret.
fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let harmless_words =
        ["PATH", "FILE", "DIR", "NAME", "TYPE", "LIMIT", "MAX", "BUDGET", "COUNT", "TTL", "TIMEOUT", "SOCK"];
    if words.iter().any(|word| harmless_words.contains(word)) {
        return false;
    }
    let stems =
        ["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "CREDENTIAL", "APIKEY", "PRIVATEKEY", "ACCESSKEY"];
    stems.iter().any(|stem| name.contains(stem))
        || words.iter().any(|word| matches!(*word, "KEY" | "PAT" | "PASS") || word.ends_with("TOKEN"))
}

/// Whether a value is an existing path. The path of a file with a secret is not itself a secret.
fn is_path(value: &str) -> bool {
    let path = Path::new(value.trim());
    path.is_absolute() && path.exists()
}

/// The forms of a value in text: literal, escaped for JSON, percent-encoded, in base64, and line by line.
fn forms(value: &str) -> Vec<String> {
    let value = value.trim();
    let mut forms = vec![value.to_string()];
    let json = Value::from(value).to_string();
    forms.push(json.trim_matches('"').to_string());
    forms.push(percent_encoded(value));
    if value.len() >= MIN_GUESSED_LENGTH {
        forms.push(base64_head(value.as_bytes()));
    }
    forms.extend(
        value.lines().map(str::trim).filter(|line| line.len() >= MIN_LINE_LENGTH).map(str::to_string),
    );
    forms.retain(|form| form.chars().count() >= MIN_LENGTH);
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

/// The base64 text of the complete groups of three bytes. The digits of an incomplete group depend on the bytes after the
/// value.
fn base64_head(bytes: &[u8]) -> String {
    STANDARD.encode(&bytes[..bytes.len() - bytes.len() % 3])
}

/// A marker that contains no secret itself, even if a secret is part of its variable's name.
fn marker(name: &str, index: usize, secrets: &[String]) -> String {
    let candidates = [format!("[secret: {name}]"), format!("[secret: {index}]"), "[hidden]".to_string()];
    let is_safe = |candidate: &String| !secrets.iter().any(|secret| candidate.contains(secret.as_str()));
    candidates.into_iter().find(is_safe).unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
