//! The usage that a scripted dispatch reports.

use remand_notation::amount;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Tokens and money. An absent value is unknown, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptedUsage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<ScriptedTokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
}

/// A token count, in total or by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ScriptedTokens {
    Sum(u64),
    Kinds(ScriptedTokenKinds),
}

/// Token counts by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptedTokenKinds {
    /// Input tokens that were not read from a cache.
    pub input: u64,
    pub output: u64,
    /// Input tokens that were read from a cache.
    pub cached: u64,
}

impl ScriptedTokens {
    pub fn total(self) -> u64 {
        match self {
            ScriptedTokens::Sum(sum) => sum,
            ScriptedTokens::Kinds(kinds) => {
                kinds.input.saturating_add(kinds.output).saturating_add(kinds.cached)
            }
        }
    }

    /// The counts by kind, if the script distinguishes them.
    pub fn kinds(self) -> Option<ScriptedTokenKinds> {
        match self {
            ScriptedTokens::Sum(_) => None,
            ScriptedTokens::Kinds(kinds) => Some(kinds),
        }
    }
}

impl<'de> Deserialize<'de> for ScriptedTokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ScriptedTokens, D::Error> {
        deserializer.deserialize_any(TokensVisitor)
    }
}

struct TokensVisitor;

impl<'de> Visitor<'de> for TokensVisitor {
    type Value = ScriptedTokens;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a token count, or a table with `input`, `output` and `cached`")
    }

    fn visit_u64<E: Error>(self, sum: u64) -> Result<ScriptedTokens, E> {
        Ok(ScriptedTokens::Sum(sum))
    }

    fn visit_i64<E: Error>(self, sum: i64) -> Result<ScriptedTokens, E> {
        u64::try_from(sum)
            .map(ScriptedTokens::Sum)
            .map_err(|_| E::custom(format!("`{sum}` is not a token count")))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ScriptedTokens, A::Error> {
        ScriptedTokenKinds::deserialize(MapAccessDeserializer::new(map)).map(ScriptedTokens::Kinds)
    }
}

/// An amount in micro-units of the currency. Scripts write it as a decimal number such as `0.012`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(pub u64);

impl std::str::FromStr for Money {
    type Err = String;

    fn from_str(text: &str) -> Result<Money, String> {
        amount::money(text).map(Money).map_err(|why| format!("{why}; write a decimal number such as 0.012"))
    }
}

impl std::fmt::Display for Money {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = amount::money_text(self.0);
        f.write_str(text.strip_suffix(".0").unwrap_or(&text))
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_string())
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Money, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_to_the_micro_unit() {
        for (text, micros) in
            [("0.012", 12_000), ("3", 3_000_000), ("0.000001", 1), ("12.5", 12_500_000), ("0", 0)]
        {
            assert_eq!(text.parse(), Ok(Money(micros)));
            assert_eq!(Money(micros).to_string(), text);
        }
        for text in ["", ".5", "-1", "1e3", "0.0000001", "1,5", "99999999999999999999"] {
            assert!(text.parse::<Money>().is_err(), "{text}");
        }
    }
}
