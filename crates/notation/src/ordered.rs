//! The canonical text of a JSON value: keys sorted, independent of insertion order.
//!
//! `serde_json` keeps insertion order in this build, because the Agent Client Protocol client enables `preserve_order`.
//! So the keys of a JSON value must be sorted before it is hashed, stored or shown.

use serde_json::Value;

/// Writes the value on one line.
pub fn line(value: &Value) -> String {
    ordered(value).to_string()
}

/// Writes the value indented, for people to read.
pub fn page(value: &Value) -> String {
    format!("{:#}", ordered(value))
}

fn ordered(value: &Value) -> Value {
    let mut value = value.clone();
    value.sort_all_objects();
    value
}

/// Returns the same value with its keys inserted in reverse order.
#[cfg(any(test, feature = "testing"))]
pub fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            entries.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect()
        }
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            "[a-z]{0,3}".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,2}", inner, 0..5)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn equal_values_have_equal_texts_in_any_insertion_order(value in value()) {
            let other = reversed(&value);
            prop_assert_eq!(&value, &other);
            prop_assert_eq!(line(&value), line(&other));
            prop_assert_eq!(page(&value), page(&other));
        }
    }

    #[test]
    fn serde_json_keeps_insertion_order_here_so_the_keys_must_be_sorted() {
        let value: Value = serde_json::from_str(r#"{"b":{"d":1,"c":2},"a":3}"#).expect("JSON");
        assert_eq!(value.to_string(), r#"{"b":{"d":1,"c":2},"a":3}"#);
        assert_eq!(line(&value), r#"{"a":3,"b":{"c":2,"d":1}}"#);
    }
}
