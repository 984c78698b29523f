//! Addresses of pages: their parts, their query, and text that is safe in them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Everything but letters, digits and what run ids, commands and file names consist of.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as one part of an address.
pub fn part(text: &str) -> String {
    utf8_percent_encode(text, PART).to_string()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The parts of a path, decoded.
pub fn parts(path: &str) -> Vec<String> {
    path.split('/').filter(|part| !part.is_empty()).map(decoded).collect()
}

/// The names and values after the question mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    pub fn parse(text: &str) -> Query {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(&value.replace('+', " ")))
        });
        Query(pairs.collect())
    }

    /// The value of a name, if it is there and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, value)| known == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// The query with one value replaced, as it follows a path.
    pub fn with(&self, name: &str, value: &str) -> String {
        let kept = self.0.iter().filter(|(known, value)| known != name && !value.is_empty());
        let mut pairs: Vec<String> =
            kept.map(|(name, value)| format!("{}={}", part(name), part(value))).collect();
        if !value.is_empty() {
            pairs.push(format!("{}={}", part(name), part(value)));
        }
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives_an_address() {
        for text in ["task 1/a", "ä?#&=%", "..", "code[task-1]", "plan@2"] {
            assert_eq!(parts(&format!("/x/{}", part(text))), ["x", text]);
            assert_eq!(Query::parse(&format!("q={}", part(text))).get("q"), Some(text));
        }
    }

    #[test]
    fn one_value_of_a_query_can_be_replaced_or_left_out() {
        let query = Query::parse("at=3&q=two+words&empty=");
        assert_eq!(
            (query.get("q"), query.get("empty"), query.number("at")),
            (Some("two words"), None, Some(3))
        );
        assert_eq!(query.with("at", "4"), "?q=two%20words&at=4");
        assert_eq!(Query::parse("at=3").with("at", ""), "");
    }
}
