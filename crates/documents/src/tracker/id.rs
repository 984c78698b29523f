//! The id of an issue, such as `ABC-12`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The longest prefix and the longest number that are taken for an id.
const PREFIX: usize = 10;
const DIGITS: usize = 9;

/// Ordered as people count: `ABC-2` before `ABC-10`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IssueId {
    prefix: String,
    number: u32,
}

/// Why a text is no id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id of an issue; one looks like `ABC-12`")]
pub struct NoId(pub String);

impl IssueId {
    /// None where the prefix is not made of capitals and digits, or the number is 0.
    pub fn new(prefix: &str, number: u32) -> Option<IssueId> {
        format!("{prefix}-{number}").parse().ok()
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// The name of the file that holds the issue, in the tracker's folder.
    pub fn file(&self) -> String {
        format!("{self}.md")
    }

    /// The issue that a file of the tracker's folder holds by its name.
    pub fn of_file(name: &str) -> Option<IssueId> {
        name.strip_suffix(".md")?.parse().ok()
    }

    /// The id that a text starts with, and how long it is.
    pub(super) fn leading(text: &str) -> Option<(IssueId, usize)> {
        let is_of_id = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
        let end = text.find(|c| !is_of_id(c)).unwrap_or(text.len());
        let goes_on = text[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let id = text[..end].parse().ok()?;
        (!goes_on).then_some((id, end))
    }
}

impl FromStr for IssueId {
    type Err = NoId;

    fn from_str(text: &str) -> Result<IssueId, NoId> {
        let no = || NoId(text.to_string());
        let (prefix, number) = text.split_once('-').ok_or_else(no)?;
        let is_prefix = prefix.len() <= PREFIX
            && prefix.starts_with(|c: char| c.is_ascii_uppercase())
            && prefix.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let is_number = number.len() <= DIGITS
            && !number.starts_with('0')
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit());
        if !is_prefix || !is_number {
            return Err(no());
        }
        Ok(IssueId { prefix: prefix.to_string(), number: number.parse().map_err(|_| no())? })
    }
}

impl TryFrom<String> for IssueId {
    type Error = NoId;

    fn try_from(text: String) -> Result<IssueId, NoId> {
        text.parse()
    }
}

impl From<IssueId> for String {
    fn from(id: IssueId) -> String {
        id.to_string()
    }
}

impl fmt::Display for IssueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.prefix, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_capitals_and_a_number_and_nothing_else() {
        for good in ["ABC-12", "A-1", "X2Y-999999999"] {
            assert_eq!(good.parse::<IssueId>().map(|id| id.to_string()), Ok(good.to_string()));
        }
        for bad in
            ["abc-1", "ABC-0", "ABC-01", "ABC-", "-1", "2B-1", "ABC1", "ABC-1a", "ABC-1234567890", "A-B-1"]
        {
            assert!(bad.parse::<IssueId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ids_are_ordered_as_people_count() {
        let mut ids: Vec<IssueId> = ["B-1", "A-10", "A-2"].iter().filter_map(|id| id.parse().ok()).collect();
        ids.sort();
        assert_eq!(ids.iter().map(IssueId::to_string).collect::<Vec<_>>(), ["A-2", "A-10", "B-1"]);
    }

    #[test]
    fn a_leading_id_ends_where_the_word_ends() {
        let led = |text: &str| IssueId::leading(text).map(|(id, length)| (id.to_string(), length));
        assert_eq!(led("ABC-12: a title"), Some(("ABC-12".to_string(), 6)));
        assert_eq!(led("ABC-12](ABC-12.md)"), Some(("ABC-12".to_string(), 6)));
        assert_eq!(led("ABC-12th"), None);
        assert_eq!(led("Handle UTF-8"), None);
    }
}
