//! The id of an issue, such as `ABC-12`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const MAX_PREFIX_LENGTH: usize = 10;
const MAX_DIGITS: usize = 9;

/// Ordered as people count: `ABC-2` before `ABC-10`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IssueKey {
    prefix: String,
    number: u32,
}

/// The text is not an issue id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an issue id; expected something like `ABC-12`")]
pub struct InvalidIssueKey(pub String);

impl IssueKey {
    /// `None` if the prefix is not made of capitals and digits, or the number is 0.
    pub fn new(prefix: &str, number: u32) -> Option<IssueKey> {
        format!("{prefix}-{number}").parse().ok()
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// The name of the issue's file in the tracker's folder.
    pub fn file(&self) -> String {
        format!("{self}.md")
    }

    /// The id in the name of an issue's file.
    pub fn of_file(name: &str) -> Option<IssueKey> {
        name.strip_suffix(".md")?.parse().ok()
    }

    /// The id at the start of a string, and its length.
    pub(super) fn parse_start(text: &str) -> Option<(IssueKey, usize)> {
        let is_id_character = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
        let end = text.find(|c| !is_id_character(c)).unwrap_or(text.len());
        let is_longer_word = text[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let id = text[..end].parse().ok()?;
        (!is_longer_word).then_some((id, end))
    }
}

impl FromStr for IssueKey {
    type Err = InvalidIssueKey;

    fn from_str(text: &str) -> Result<IssueKey, InvalidIssueKey> {
        let invalid = || InvalidIssueKey(text.to_string());
        let (prefix, number) = text.split_once('-').ok_or_else(invalid)?;
        let is_prefix = prefix.len() <= MAX_PREFIX_LENGTH
            && prefix.starts_with(|c: char| c.is_ascii_uppercase())
            && prefix.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let is_number = number.len() <= MAX_DIGITS
            && !number.starts_with('0')
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit());
        if !is_prefix || !is_number {
            return Err(invalid());
        }
        Ok(IssueKey { prefix: prefix.to_string(), number: number.parse().map_err(|_| invalid())? })
    }
}

impl TryFrom<String> for IssueKey {
    type Error = InvalidIssueKey;

    fn try_from(text: String) -> Result<IssueKey, InvalidIssueKey> {
        text.parse()
    }
}

impl From<IssueKey> for String {
    fn from(id: IssueKey) -> String {
        id.to_string()
    }
}

impl fmt::Display for IssueKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.prefix, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_capitals_and_a_number() {
        for good in ["ABC-12", "A-1", "X2Y-999999999"] {
            assert_eq!(good.parse::<IssueKey>().map(|id| id.to_string()), Ok(good.to_string()));
        }
        for bad in
            ["abc-1", "ABC-0", "ABC-01", "ABC-", "-1", "2B-1", "ABC1", "ABC-1a", "ABC-1234567890", "A-B-1"]
        {
            assert!(bad.parse::<IssueKey>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ids_are_ordered_as_people_count() {
        let mut ids: Vec<IssueKey> = ["B-1", "A-10", "A-2"].iter().filter_map(|id| id.parse().ok()).collect();
        ids.sort();
        assert_eq!(ids.iter().map(IssueKey::to_string).collect::<Vec<_>>(), ["A-2", "A-10", "B-1"]);
    }

    #[test]
    fn a_leading_id_is_a_whole_word() {
        let start = |text: &str| IssueKey::parse_start(text).map(|(id, length)| (id.to_string(), length));
        assert_eq!(start("ABC-12: a title"), Some(("ABC-12".to_string(), 6)));
        assert_eq!(start("ABC-12](ABC-12.md)"), Some(("ABC-12".to_string(), 6)));
        assert_eq!(start("ABC-12th"), None);
        assert_eq!(start("Handle UTF-8"), None);
    }
}
