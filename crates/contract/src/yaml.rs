//! Writes values as YAML, with keys in a fixed order that suits readers.

use super::order::rank;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;

/// The YAML text of a value. Equal values give equal text.
pub fn to_yaml(value: &Value) -> String {
    let options = serde_saphyr::ser_options! {
        folded_wrap_chars: usize::MAX,
        compact_list_indent: true,
    };
    // A JSON value has only string keys and finite numbers, so this cannot fail; JSON is a safe fallback.
    serde_saphyr::to_string_with_options(&Ordered(value), options).unwrap_or_else(|_| format!("{value:#}\n"))
}

struct Ordered<'v>(&'v Value);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(entries) => {
                let mut keys: Vec<&String> = entries.keys().collect();
                keys.sort_by_key(|key| (rank(key), key.as_str()));
                let mut map = serializer.serialize_map(Some(keys.len()))?;
                for key in keys {
                    if let Some(value) = entries.get(key) {
                        map.serialize_entry(key, &Ordered(value))?;
                    }
                }
                map.end()
            }
            Value::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&Ordered(item))?;
                }
                list.end()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.0.serialize(serializer)
            }
        }
    }
}
