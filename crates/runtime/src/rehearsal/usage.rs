//! What a scripted dispatch claims to have used.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Tokens and money; what is left out is unknown, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
}

/// A number of tokens, as one sum or by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Tokens {
    Sum(u64),
    Kinds(Kinds),
}

/// Tokens by kind; together they are the sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Kinds {
    /// Read by the model, and not from a cache.
    pub input: u64,
    pub output: u64,
    /// Read from a cache.
    pub cached: u64,
}

impl Tokens {
    pub fn total(self) -> u64 {
        match self {
            Tokens::Sum(sum) => sum,
            Tokens::Kinds(kinds) => kinds.input.saturating_add(kinds.output).saturating_add(kinds.cached),
        }
    }

    /// The kinds, where they are told apart.
    pub fn kinds(self) -> Option<Kinds> {
        match self {
            Tokens::Sum(_) => None,
            Tokens::Kinds(kinds) => Some(kinds),
        }
    }
}

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tokens, D::Error> {
        deserializer.deserialize_any(Read)
    }
}

struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = Tokens;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number of tokens, or a table of `input`, `output` and `cached`")
    }

    fn visit_u64<E: Error>(self, sum: u64) -> Result<Tokens, E> {
        Ok(Tokens::Sum(sum))
    }

    fn visit_i64<E: Error>(self, sum: i64) -> Result<Tokens, E> {
        u64::try_from(sum).map(Tokens::Sum).map_err(|_| E::custom(format!("`{sum}` is no number of tokens")))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Tokens, A::Error> {
        Kinds::deserialize(MapAccessDeserializer::new(map)).map(Tokens::Kinds)
    }
}

/// An amount in micro-units of the currency; scripts write it as a decimal number such as `0.012`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(pub u64);

impl std::str::FromStr for Money {
    type Err = String;

    fn from_str(text: &str) -> Result<Money, String> {
        let wrong =
            || format!("`{text}` is no amount; write a decimal number with at most 6 places, such as 0.012");
        let (units, places) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if units.is_empty() || places.len() > 6 || !digits(units) || !digits(places) {
            return Err(wrong());
        }
        let micros = format!("{units}{places:0<6}").parse().map_err(|_| wrong())?;
        Ok(Money(micros))
    }
}

impl std::fmt::Display for Money {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let places = format!("{:06}", self.0 % 1_000_000);
        let places = places.trim_end_matches('0');
        match places.is_empty() {
            true => write!(f, "{}", self.0 / 1_000_000),
            false => write!(f, "{}.{places}", self.0 / 1_000_000),
        }
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
