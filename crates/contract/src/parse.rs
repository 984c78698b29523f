//! Parses text as one YAML or JSON document, with size limits and without duplicate keys.

use super::clean::clean_value;
use super::limits::ResultLimits;
use super::problem::{ContractProblem, shorten};
use remand_notation::clean;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::fmt;

/// The syntax in which a result is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultSyntax {
    Json,
    /// YAML or JSON.
    Either,
}

/// Parses a stored document, such as an artifact.
pub fn parse(text: &str) -> Result<Value, ContractProblem> {
    parse_within(text, ResultSyntax::Either, &ResultLimits::default())
}

/// Parses the text of a result.
pub(super) fn parse_within(
    text: &str,
    syntax: ResultSyntax,
    limits: &ResultLimits,
) -> Result<Value, ContractProblem> {
    if text.len() > limits.bytes {
        let found = format!("{} bytes", text.len());
        return Err(ContractProblem::new("", format!("at most {} bytes", limits.bytes), found));
    }
    let text = clean(text);
    let value = match syntax {
        ResultSyntax::Json => json(&text, limits)?,
        ResultSyntax::Either if text.trim_start().starts_with('{') => {
            json(&text, limits).or_else(|problem| yaml(&text, limits).map_err(|_| problem))?
        }
        ResultSyntax::Either => yaml(&text, limits)?,
    };
    let mut value = clean_value(value)?;
    // The order of keys in a document must not influence how it is read.
    value.sort_all_objects();
    match value {
        Value::Object(_) => Ok(value),
        other => Err(ContractProblem::new(
            "",
            "a mapping with `completion` and `payload`",
            super::problem::describe_value(&other),
        )),
    }
}

/// Decodes UTF-8, or reports the first invalid byte.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, ContractProblem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        ContractProblem::new("", "UTF-8 text", format!("an invalid byte at offset {at} (line {line})"))
    })
}

fn json(text: &str, limits: &ResultLimits) -> Result<Value, ContractProblem> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let progress = Progress::new(limits);
    let value = Strict { depth: limits.depth, progress: &progress }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| syntax_problem("JSON", &error.to_string(), &progress))
}

fn yaml(text: &str, limits: &ResultLimits) -> Result<Value, ContractProblem> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: limits.depth,
            flow_nesting_limit: limits.depth,
            max_nodes: limits.nodes,
            max_aliases: 100,
            max_anchors: 100,
            max_documents: 1,
            max_total_scalar_bytes: limits.bytes,
        },
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::Error,
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 10_000,
            max_replay_stack_depth: 8,
        },
        strict_booleans: true,
        with_snippet: false,
    };
    let progress = Progress::new(limits);
    let value = serde_saphyr::with_deserializer_from_str_with_options(text, options, |deserializer| {
        Strict { depth: limits.depth, progress: &progress }.deserialize(deserializer)
    });
    value.map_err(|error| syntax_problem("YAML", &error.without_snippet().to_string(), &progress))
}

/// Describes an error of the parser. The parser's message determines the hint.
fn syntax_problem(language: &str, why: &str, progress: &Progress) -> ContractProblem {
    let lower = why.to_lowercase();
    let hint = if lower.contains("multiple documents") {
        Some("write only one document: remove the `---` between the documents")
    } else if progress.has_duplicate_key.get() || lower.contains("duplicate") {
        Some("write each key once")
    } else if lower.contains("alias") || lower.contains("anchor") {
        Some("quote strings that begin with `*` or `&`, and do not use anchors or aliases")
    } else if language == "YAML"
        && (lower.contains("mapping") || lower.contains("simple key") || lower.contains("scalar"))
    {
        Some("quote strings that contain `: `, `#` or quotes, or write them as a block after `|`")
    } else {
        None
    };
    // The parser's message ends with advice for programmers.
    let why = why.split("; set ").next().unwrap_or(why).split(", set ").next().unwrap_or(why);
    let problem = ContractProblem::new("", format!("one {language} document"), shorten(why));
    match hint {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    }
}

/// Builds a value. Rejects duplicate keys, and documents that are too deep or too large.
#[derive(Clone, Copy)]
struct Strict<'p> {
    depth: usize,
    progress: &'p Progress,
}

/// The state of one parse.
struct Progress {
    nodes_left: Cell<usize>,
    has_duplicate_key: Cell<bool>,
}

impl Progress {
    fn new(limits: &ResultLimits) -> Progress {
        Progress { nodes_left: Cell::new(limits.nodes), has_duplicate_key: Cell::new(false) }
    }
}

impl Strict<'_> {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        let depth =
            self.depth.checked_sub(1).ok_or_else(|| E::custom("the document is nested too deeply"))?;
        Ok(Strict { depth, ..self })
    }

    fn count<E: serde::de::Error>(self) -> Result<(), E> {
        let left = self
            .progress
            .nodes_left
            .get()
            .checked_sub(1)
            .ok_or_else(|| E::custom("the document has too many entries"))?;
        self.progress.nodes_left.set(left);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, it: bool) -> Result<Value, E> {
        Ok(Value::Bool(it))
    }

    fn visit_i64<E>(self, it: i64) -> Result<Value, E> {
        Ok(Value::Number(it.into()))
    }

    fn visit_u64<E>(self, it: u64) -> Result<Value, E> {
        Ok(Value::Number(it.into()))
    }

    fn visit_i128<E>(self, it: i128) -> Result<Value, E> {
        Ok(Value::String(it.to_string()))
    }

    fn visit_u128<E>(self, it: u128) -> Result<Value, E> {
        Ok(Value::String(it.to_string()))
    }

    fn visit_f64<E: serde::de::Error>(self, it: f64) -> Result<Value, E> {
        let number = Number::from_f64(it).ok_or_else(|| E::custom("a number is not finite"))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, it: &str) -> Result<Value, E> {
        Ok(Value::String(it.to_string()))
    }

    fn visit_string<E>(self, it: String) -> Result<Value, E> {
        Ok(Value::String(it))
    }

    fn visit_bytes<E: serde::de::Error>(self, _: &[u8]) -> Result<Value, E> {
        Err(E::custom("a binary value instead of text"))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            self.count()?;
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.count()?;
            if map.contains_key(&key) {
                self.progress.has_duplicate_key.set(true);
                return Err(A::Error::custom(format!("duplicate key `{key}`")));
            }
            map.insert(key, entries.next_value_seed(inner)?);
        }
        Ok(Value::Object(map))
    }
}
