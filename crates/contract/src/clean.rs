//! Removes control characters from every string of a document.

use super::problem::ContractProblem;
use remand_notation::clean;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Cleans every string and key of a document. Reports a problem if cleaning makes two keys equal.
pub(super) fn clean_value(value: Value) -> Result<Value, ContractProblem> {
    Ok(match value {
        Value::String(text) => match clean(&text) {
            Cow::Borrowed(_) => Value::String(text),
            Cow::Owned(cleaned) => Value::String(cleaned),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(clean_value).collect::<Result<_, _>>()?),
        Value::Object(entries) => {
            let mut cleaned = Map::new();
            for (key, entry) in entries {
                let key = clean(&key).into_owned();
                let entry = clean_value(entry)?;
                if cleaned.contains_key(&key) {
                    return Err(ContractProblem::new(
                        key,
                        "each key once",
                        "two keys that differ only in control characters",
                    ));
                }
                cleaned.insert(key, entry);
            }
            Value::Object(cleaned)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    })
}
