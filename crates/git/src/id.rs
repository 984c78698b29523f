//! Ids of git objects: commits, and exact states of a work tree.

use super::GitError;
use remand_kernel::change::Digest;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The id of a commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommitId(String);

/// The id of the exact content of a work tree.
///
/// Its text is `<tree>`, or `<tree>+<raw>` if files have bytes that the repository's filters (line endings, encodings,
/// large-file pointers) would not reproduce. `raw` is a tree of those bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TreeId {
    tree: String,
    raw: Option<String>,
}

impl CommitId {
    /// The hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TreeId {
    /// A state that the repository's filters reproduce exactly.
    pub(super) fn plain(tree: &str) -> Result<TreeId, GitError> {
        Ok(TreeId { tree: digits(tree)?, raw: None })
    }

    /// The same state with the raw bytes of some of its files.
    pub(super) fn with_raw(self, raw: Option<String>) -> TreeId {
        TreeId { tree: self.tree, raw }
    }

    /// The tree as it would be committed.
    pub fn tree(&self) -> &str {
        &self.tree
    }

    /// The tree of raw bytes, if there is one.
    pub(super) fn raw(&self) -> Option<&str> {
        self.raw.as_deref()
    }

    /// The first eight bytes of the tree, never zero.
    pub fn digest(&self) -> Digest {
        let head = self.tree.get(..16).unwrap_or(&self.tree);
        Digest(u64::from_str_radix(head, 16).unwrap_or(1).max(1))
    }
}

impl FromStr for CommitId {
    type Err = GitError;

    fn from_str(text: &str) -> Result<CommitId, GitError> {
        digits(text).map(CommitId)
    }
}

impl FromStr for TreeId {
    type Err = GitError;

    fn from_str(text: &str) -> Result<TreeId, GitError> {
        match text.split_once('+') {
            Some((tree, raw)) => Ok(TreeId { tree: digits(tree)?, raw: Some(digits(raw)?) }),
            None => TreeId::plain(text),
        }
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tree)?;
        match &self.raw {
            Some(raw) => write!(f, "+{raw}"),
            None => Ok(()),
        }
    }
}

impl TryFrom<String> for CommitId {
    type Error = GitError;

    fn try_from(text: String) -> Result<CommitId, GitError> {
        text.parse()
    }
}

impl TryFrom<String> for TreeId {
    type Error = GitError;

    fn try_from(text: String) -> Result<TreeId, GitError> {
        text.parse()
    }
}

impl From<CommitId> for String {
    fn from(id: CommitId) -> String {
        id.0
    }
}

impl From<TreeId> for String {
    fn from(id: TreeId) -> String {
        id.to_string()
    }
}

/// Checks the hexadecimal digits of an object id: 40 for SHA-1, 64 for SHA-256.
fn digits(text: &str) -> Result<String, GitError> {
    let is_valid =
        matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_valid { Ok(text.to_string()) } else { Err(GitError::NotAnId { text: text.to_string() }) }
}
