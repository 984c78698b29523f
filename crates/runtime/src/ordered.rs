//! The one text of a value: its keys in the order of the alphabet, whoever filled them in and in whichever order.
//!
//! Maps of JSON keep the order of insertion in this build, since the client of the Agent Client Protocol needs it. So
//! whatever is hashed, kept or shown as the text of a value goes through here, or through `contract::to_yaml`.

use serde_json::Value;

/// The text in one line.
pub fn line(value: &Value) -> String {
    ordered(value).to_string()
}

/// The text for people to read.
pub fn page(value: &Value) -> String {
    format!("{:#}", ordered(value))
}

fn ordered(value: &Value) -> Value {
    let mut value = value.clone();
    value.sort_all_objects();
    value
}

/// The same value, filled in from the other end.
#[cfg(test)]
pub(crate) fn reversed(value: &Value) -> Value {
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
        fn equal_values_have_equal_texts_whatever_the_order_of_insertion(value in value()) {
            let other = reversed(&value);
            prop_assert_eq!(&value, &other);
            prop_assert_eq!(line(&value), line(&other));
            prop_assert_eq!(page(&value), page(&other));
        }
    }

    #[test]
    fn this_build_keeps_the_order_of_insertion_so_that_the_order_has_to_be_made() {
        let value: Value = serde_json::from_str(r#"{"b":{"d":1,"c":2},"a":3}"#).expect("JSON");
        assert_eq!(value.to_string(), r#"{"b":{"d":1,"c":2},"a":3}"#);
        assert_eq!(line(&value), r#"{"a":3,"b":{"c":2,"d":1}}"#);
    }
}
