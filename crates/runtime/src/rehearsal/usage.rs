//! What a scripted dispatch claims to have used.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Tokens and money; what is left out is unknown, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
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
